from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_account import Cloud, lab_account


@pytest.fixture
def paper_cloud(tmp_path: Path) -> Iterator[Cloud]:
    """The lab's AWS with machines and networks of paper."""
    with lab_account(tmp_path) as cloud:
        yield cloud
