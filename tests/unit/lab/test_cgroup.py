import threading
import time
from pathlib import Path

import pytest

from gpuprov.lab import cgroup
from gpuprov.model.diagnostic import GpuprovError


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Plain folders in the place of two hierarchies; the second is a cpuset of cgroup v1."""
    unified, cpuset = tmp_path / "unified", tmp_path / "cpuset"
    unified.mkdir()
    cpuset.mkdir()
    (cpuset / "cgroup.clone_children").write_text("0")
    (cpuset / "cpuset.cpus").write_text("0-1\n")
    (cpuset / "cpuset.mems").write_text("0\n")
    monkeypatch.setattr(cgroup, "hierarchies", lambda: (unified, cpuset))
    return unified, cpuset


def test_groups_are_made_in_every_hierarchy_and_removed_again(two: tuple[Path, Path]) -> None:
    cgroup.create("gpl-a/node-x")
    cgroup.create("gpl-a/node-x")
    assert all((place / "gpl-a/node-x").is_dir() for place in two)
    assert cgroup.existing("gpl-") == ("gpl-a",)
    cgroup.remove("gpl-a")
    cgroup.remove("gpl-a")
    assert cgroup.existing("gpl-") == ()


def test_a_new_cpuset_takes_over_its_parents(two: tuple[Path, Path]) -> None:
    group = two[1] / "gpl-a"
    group.mkdir()
    for name in ("cpuset.cpus", "cpuset.mems", "cgroup.clone_children"):
        (group / name).write_text("")
    cgroup.create("gpl-a")
    assert (group / "cpuset.cpus").read_text() == "0-1\n"
    assert (group / "cpuset.mems").read_text() == "0\n"


def test_processes_of_all_hierarchies_and_levels_are_seen(two: tuple[Path, Path]) -> None:
    cgroup.create("gpl-a/node-x")
    (two[0] / "gpl-a/cgroup.procs").write_text("7\n0\n")
    (two[0] / "gpl-a/node-x/cgroup.procs").write_text("9\n")
    (two[1] / "gpl-a/node-x/cgroup.procs").write_text("8\n9\n")
    assert cgroup.processes("gpl-a") == (7, 8, 9)
    assert cgroup.processes("gpl-a/node-x") == (8, 9)
    assert cgroup.members("gpl-a") == (7,)
    assert cgroup.processes("gpl-none") == cgroup.members("gpl-none") == ()


def test_killing_waits_until_the_processes_are_gone(two: tuple[Path, Path]) -> None:
    cgroup.create("gpl-a")
    switch, members = two[0] / "gpl-a/cgroup.kill", two[0] / "gpl-a/cgroup.procs"
    switch.write_text("")
    members.write_text("7\n")

    def kernel() -> None:
        while switch.read_text() != "1":
            time.sleep(0.01)
        members.write_text("")

    thread = threading.Thread(target=kernel)
    thread.start()
    cgroup.kill("gpl-a")
    thread.join()
    assert cgroup.processes("gpl-a") == ()


def test_what_cannot_be_killed_or_removed_is_an_error(two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "_KILL_SECONDS", 0.05)
    cgroup.create("gpl-a")
    (two[0] / "gpl-a/other").write_text("a folder with a file cannot be removed")
    with pytest.raises(GpuprovError, match="cannot be removed"):
        cgroup.remove("gpl-a")
    (two[0] / "gpl-a/cgroup.procs").write_text("7\n")
    with pytest.raises(GpuprovError, match="cannot be ended"):
        cgroup.kill("gpl-a")
