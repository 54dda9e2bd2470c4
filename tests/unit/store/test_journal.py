import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.store import journal as room
from gpuprov.store.journal import list_runs, open_journal, read_run

RUN = """
import os, signal, sys, pathlib
from gpuprov.store.journal import open_journal
with open_journal(pathlib.Path(sys.argv[1]), "up") as journal:
    with journal.step("converge node-1"):
        journal.write("note", "converge node-1", text="transaction started")
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_is_told_step_by_step(tmp_path: Path) -> None:
    with open_journal(tmp_path, "up") as journal:
        with journal.step("converge node-1", batch=1) as result:
            result["tasks"] = 12
        journal.keep("wants/node-1.json", "{}\n")
        name = journal.name
    assert list_runs(tmp_path) == (name,)
    run = read_run(tmp_path, name)
    assert [(entry.event, entry.step) for entry in run.entries] == [
        ("begin", "run"),
        ("begin", "converge node-1"),
        ("end", "converge node-1"),
        ("end", "run"),
    ]
    assert run.entries[2].fields == {"ok": True, "tasks": 12}
    assert run.entries[1].fields == {"batch": 1}
    assert (run.ended, run.open_steps, run.torn) == (True, (), 0)
    assert (run.folder / "wants" / "node-1.json").read_text() == "{}\n"


def test_a_step_that_fails_is_told_with_its_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="first"), open_journal(tmp_path, "up") as journal, journal.step("probe"):
        raise ValueError("first\nsecond")
    run = read_run(tmp_path, list_runs(tmp_path)[0])
    assert [entry.fields.get("ok") for entry in run.entries if entry.event == "end"] == [False, False]
    assert run.entries[-2].fields["error"] == "first"
    assert run.ended


def test_a_killed_run_shows_where_it_was(tmp_path: Path) -> None:
    process = subprocess.run([sys.executable, "-c", RUN, str(tmp_path)], check=False)
    assert process.returncode == -signal.SIGKILL
    run = read_run(tmp_path, list_runs(tmp_path)[0])
    assert not run.ended
    assert run.open_steps == ("run", "converge node-1")
    assert run.entries[-1].fields == {"text": "transaction started"}


def test_a_torn_last_line_does_not_hide_the_rest(tmp_path: Path) -> None:
    with open_journal(tmp_path, "up") as journal:
        folder = journal.folder
    with (folder / room.JOURNAL).open("a") as file:
        file.write('{"at": "2026-11-30T0')
    run = read_run(tmp_path, folder.name)
    assert run.ended
    assert run.torn == 1


def test_runs_are_listed_oldest_first_and_strangers_are_no_runs(tmp_path: Path) -> None:
    assert list_runs(tmp_path) == ()
    for name in ("20261130T100000Z-aa", "20261129T100000Z-bb"):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / room.JOURNAL).write_text("")
    (tmp_path / "runs" / "notes").mkdir()
    assert list_runs(tmp_path) == ("20261129T100000Z-bb", "20261130T100000Z-aa")


def test_no_room_for_the_journal_stops_the_run_before_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    def run() -> None:
        with open_journal(tmp_path, "up") as journal:
            monkeypatch.setattr(room.os, "fsync", full)
            with journal.step("converge node-1"):
                ran.append("converge")

    with pytest.raises(GpuprovError) as error:
        run()
    assert error.value.diagnostics[0].code == "GP-DOC-007"
    assert ran == []


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GpuprovError) as error:
        read_run(tmp_path, "none")
    assert error.value.diagnostics[0].code == "GP-DOC-001"
