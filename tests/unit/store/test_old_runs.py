import os
from pathlib import Path

import pytest

from gpuprov.store import old_runs
from gpuprov.store.journal import list_runs, open_journal, read_run
from gpuprov.store.old_runs import KEEP, KEEP_OF_HOST, prune_runs


def a_run(site: Path, number: int, *hosts: str, journal: bool = True) -> str:
    folder = site / "runs" / f"20260101T{number:06d}Z-abcdef"
    (folder / "wants").mkdir(parents=True)
    if journal:
        (folder / "journal.jsonl").write_text("")
    for host in hosts:
        (folder / "wants" / f"{host}.json").write_text("{}")
    return folder.name


def test_the_newest_runs_stay(tmp_path: Path) -> None:
    names = [a_run(tmp_path, number) for number in range(KEEP + 3)]
    assert prune_runs(tmp_path, but=names[-1]) == ()
    assert list_runs(tmp_path) == tuple(names[3:])


def test_as_many_runs_of_each_host_stay_as_it_may_keep_itself(tmp_path: Path) -> None:
    rare = [a_run(tmp_path, number, "node-1") for number in range(KEEP_OF_HOST + 2)]
    busy = [a_run(tmp_path, 100 + number, "node-2") for number in range(KEEP + 5)]
    prune_runs(tmp_path, but=busy[-1])
    assert list_runs(tmp_path) == (*rare[2:], *busy[5:])


def test_what_a_killed_run_was_deleting_goes_as_well(tmp_path: Path) -> None:
    a_run(tmp_path, 0, journal=False)
    last = [a_run(tmp_path, 1 + number) for number in range(KEEP)][-1]
    prune_runs(tmp_path, but=last)
    assert len([*(tmp_path / "runs").iterdir()]) == KEEP


def test_a_run_deletes_old_ones_and_says_what_it_could_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_runs, "KEEP", 1)
    old = a_run(tmp_path, 0)

    def refuse(path: Path) -> None:
        raise PermissionError(13, os.strerror(13), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(old_runs.shutil, "rmtree", refuse)
        with open_journal(tmp_path, "up") as journal:
            pass
    (note,) = [entry for entry in read_run(tmp_path, journal.name).entries if entry.event == "note"]
    assert note.fields == {"text": f"the old run {old} cannot be deleted: Permission denied"}
    with open_journal(tmp_path, "up") as journal:
        pass
    assert list_runs(tmp_path) == (journal.name,)
