"""The machine's whole OS archive, opened once for all the differential tests."""

from collections.abc import Iterator

import pytest
from differential import Archive, open_archive


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """The archive as gpuprov and as apt read it."""
    with open_archive(tmp_path_factory.mktemp("archive")) as found:
        yield found
