import json
from pathlib import Path

import pytest

from gpuprov.lab import removal
from gpuprov.lab.state import Leftovers
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with things of the labs abc and abcd, and of nobody."""
    netns, root = tmp_path / "netns", tmp_path / "labs"
    for place in (netns, root / "abc", root / "abcd", root / ".hidden"):
        place.mkdir(parents=True)
    for name in ("gpl-abc-router", "gpl-abcd-router", "other"):
        (netns / name).touch()
    monkeypatch.setattr(removal, "NETNS_FOLDER", netns)
    monkeypatch.setattr(removal, "ROOT", root)
    monkeypatch.setattr("gpuprov.lab.names.ROOT", root)
    monkeypatch.setattr(removal, "_links", lambda: ("eth0", "gpl-abc-host", "gpl-abcd-host", "gpl-zz9-host"))
    monkeypatch.setattr(removal, "_tables", lambda: ("gpl_abc", "gpl_abcd"))
    monkeypatch.setattr(removal, "mounts", lambda: ("/", f"{root}/abc/nodes/n/root", f"{root}/abcd/nodes/n/root"))
    monkeypatch.setattr(
        removal,
        "run",
        lambda _: json.dumps(
            {
                "loopdevices": [{"name": "/dev/loop0", "back-file": f"{root}/abc/cloud/volumes/vol-1 (deleted)"}]
                + [
                    {"name": f"/dev/loop{n}", "back-file": file}
                    for n, file in enumerate((f"{root}/abcd/x", None), start=1)
                ]
            }
        ),
    )
    monkeypatch.setattr(removal.cgroup, "existing", lambda _: ("gpl-abc", "gpl-abcd"))
    monkeypatch.setattr(removal.cgroup, "processes", lambda name: (7,) if name == "gpl-abc" else ())
    monkeypatch.setattr(removal, "_NSPAWN_FOLDERS", ())
    return root


def test_exactly_the_own_things_are_found(machine: Path) -> None:
    assert removal.find("abc") == Leftovers(
        id="abc",
        namespaces=("gpl-abc-router",),
        links=("gpl-abc-host",),
        mounts=(f"{machine}/abc/nodes/n/root",),
        loops=("/dev/loop0",),
        cgroups=("gpl-abc",),
        tables=("gpl_abc",),
        processes=(7,),
        folders=(f"{machine}/abc",),
    )


def test_every_lab_of_which_anything_is_there_is_listed(machine: Path) -> None:
    assert removal.find_all() == ("abc", "abcd", "zz9")


def test_what_comes_again_and_again_is_an_error(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[Leftovers] = []
    monkeypatch.setattr(removal, "_remove_found", lambda found, _: rounds.append(found))
    with pytest.raises(GpuprovError, match="is not gone"):
        removal.remove("abc", ignore_progress)
    assert len(rounds) == 3


def test_what_came_late_is_removed_in_a_second_round(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [Leftovers(id="abc", processes=(1,)), Leftovers(id="abc", namespaces=("late",)), Leftovers(id="abc")]
    monkeypatch.setattr(removal, "find", lambda _: seen.pop(0))
    removed: list[Leftovers] = []
    monkeypatch.setattr(removal, "_remove_found", lambda found, _: removed.append(found))
    assert removal.remove("abc", ignore_progress).processes == (1,)
    assert [found.namespaces for found in removed] == [(), ("late",)]
