from pathlib import Path

import pytest
from state_files import state_file

from gpuprov.cloud.copies import back_up, prune_history
from gpuprov.cloud.state_names import PROJECT
from gpuprov.cloud.types import StackPlace


@pytest.fixture
def place(tmp_path: Path) -> StackPlace:
    return StackPlace(name="train", folder=tmp_path / "cloud", environment={}, region="us-east-1")


def test_backups_are_whole_private_and_few(place: StackPlace) -> None:
    assert back_up(place) is None
    path = state_file(place)
    path.parent.mkdir(parents=True)
    path.write_text("what it holds")
    copies = [back_up(place) for _ in range(13)]
    left = sorted((place.folder / "backups" / "train").iterdir())
    assert [f"backups/train/{one.name}" for one in left] == copies[-10:]
    assert left[-1].read_text() == path.read_text()
    assert left[-1].stat().st_mode & 0o777 == 0o600


def test_the_engines_own_history_is_kept_short(place: StackPlace) -> None:
    own = place.folder / "state" / ".pulumi"
    for folder, files in ((own / "backups", 10), (own / "history", 20)):
        there = folder / PROJECT / "train"
        there.mkdir(parents=True)
        for number in range(8):
            (there / f"train-{number:03}.json").touch()
        prune_history(place)
        assert len(list(there.iterdir())) == 8
        for number in range(30):
            (there / f"train-{number:03}.json").touch()
        prune_history(place)
        assert [path.name for path in sorted(there.iterdir())] == [
            f"train-{number:03}.json" for number in range(30 - files, 30)
        ]
