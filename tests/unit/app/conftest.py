"""The world of the use cases' tests."""

from pathlib import Path

import pytest
from app_world import World, make_world


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Two hosts in the spec, train-a and train-b, and nothing in the account."""
    return make_world(tmp_path, monkeypatch)
