from collections.abc import Iterator
from pathlib import Path

import pytest
from aws_plugin import Engine
from lab_account import REGION, Cloud, lab_account


@pytest.fixture(scope="module")
def plugin_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """The lab's AWS with machines of paper, for all tests of a file."""
    folder: Path = tmp_path_factory.mktemp("cloud")
    with lab_account(folder) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def engine(plugin_cloud: Cloud) -> Iterator[Engine]:
    """An engine that is attached to a plugin before that account."""
    attached = Engine(plugin_cloud.endpoint, REGION)
    yield attached
    attached.close()
