import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.status import ExitStatus
from gpuprov.store.lock import hold_site, read_owner
from gpuprov.store.site import lock_path

HOLDER = """
import sys, pathlib
from gpuprov.store.lock import hold_site
with hold_site(pathlib.Path(sys.argv[1]), ["gpuprov", "up"]):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(site: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(site)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_second_run_is_refused_and_told_who_holds_the_site(tmp_path: Path) -> None:
    site = tmp_path / ".gpuprov"
    process = holder(site)
    try:
        owner = read_owner(site)
        assert owner is not None
        assert (owner.pid, owner.command) == (process.pid, "gpuprov up")
        with pytest.raises(GpuprovError) as error, hold_site(site, ["gpuprov", "up"]):
            pass
    finally:
        end(process)
    diagnostic = error.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.status) == ("GP-RUN-001", ExitStatus.REFUSED)
    assert f"process {process.pid}" in diagnostic.summary
    assert "command: gpuprov up" in diagnostic.detail
    assert "running for: " in diagnostic.detail


def test_a_killed_run_locks_nobody_out(tmp_path: Path) -> None:
    process = holder(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert json.loads(lock_path(tmp_path).read_text())["pid"] == process.pid
    assert read_owner(tmp_path) is None
    with hold_site(tmp_path, ["gpuprov", "up"]) as owner:
        assert owner.pid == os.getpid()
        assert json.loads(lock_path(tmp_path).read_text())["pid"] == os.getpid()


def test_a_stale_or_broken_lock_file_is_no_lock(tmp_path: Path) -> None:
    lock_path(tmp_path).write_text("}{ no json")
    assert read_owner(tmp_path) is None
    with hold_site(tmp_path, ["gpuprov", "up"]):
        pass
    with hold_site(tmp_path, ["gpuprov", "up"]):
        pass


def test_the_lock_is_not_inherited_by_programs(tmp_path: Path) -> None:
    with hold_site(tmp_path, ["gpuprov", "up"]):
        child = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, close_fds=False
        )
    try:
        with hold_site(tmp_path, ["gpuprov", "up"]):
            pass
    finally:
        child.kill()
        child.communicate()


def test_an_error_in_the_run_frees_the_site(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold_site(tmp_path, ["gpuprov", "up"]):
        raise ZeroDivisionError
    assert read_owner(tmp_path) is None


def test_nobody_holds_a_site_that_never_ran(tmp_path: Path) -> None:
    assert read_owner(tmp_path / ".gpuprov") is None


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".gpuprov").write_text("")
    with pytest.raises(GpuprovError) as error, hold_site(tmp_path / ".gpuprov", ["gpuprov"]):
        pass
    assert error.value.diagnostics[0].code == "GP-DOC-007"


def test_what_gpuprov_keeps_stays_out_of_a_repository(tmp_path: Path) -> None:
    own = tmp_path / "own" / ".gpuprov"
    with hold_site(own, ["gpuprov", "up"]):
        assert (own / ".gitignore").read_text() == "*\n"
    (own / ".gitignore").write_text("# mine\n")
    with hold_site(own, ["gpuprov", "up"]):
        assert (own / ".gitignore").read_text() == "# mine\n"
