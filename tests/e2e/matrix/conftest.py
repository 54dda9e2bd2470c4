"""The racks of the fault matrix: one a file of tests, used by all its faults one after the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuprov.lab import lab as labs
from tests.e2e.conftest import say
from tests.e2e.matrix.rack import Rack


@pytest.fixture(scope="module")
def rack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """A host that was brought up; every test leaves it as its documents say."""
    lab_id = f"mx{Path(request.node.path).stem.removeprefix('test_').replace('_', '')[:4]}"
    made = Rack(lab_id, tmp_path_factory.mktemp(lab_id))
    yield made
    labs.down(lab_id, say)
