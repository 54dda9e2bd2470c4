"""The adapter around an ansible-playbook of the test's own: what is where while it runs, and when it starts no play."""

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from host_builders import make_want

from gpuprov.converge.runner import converge
from gpuprov.converge.types import ConvergeResult, HostStatus, RunDocuments
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Become, Connection, Host
from gpuprov.model.progress import ignore_progress
from gpuprov.plan.removal import Removal

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ConvergeResult]:
    """Converge one host with an ansible-playbook of the test."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "memory"))
    monkeypatch.setenv("GPUPROV_BECOME_PASSWORD", "s3cr3t-1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t-2")
    (tmp_path / "memory").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    playbooks = tmp_path / "playbooks"
    playbooks.mkdir()
    connection = Connection(host="n1", address="192.0.2.1", password="s3cr3t-3", become=Become(password="s3cr3t-4"))

    def converge_one(script: str, **arguments: Any) -> ConvergeResult:
        program = tmp_path / "bin" / "ansible-playbook"
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        hosts = [Host(name=name, pool="train", target="onprem", connection=connection) for name in ("n1", "n2")]
        given = {"check": False, "report": ignore_progress, **arguments}
        return converge(
            [(host, make_want(), Removal()) for host in hosts],
            playbooks=playbooks,
            folder=tmp_path / "runs" / "1",
            documents=RunDocuments(spec="", lock=""),
            **given,
        )

    return converge_one


def holding(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and b"s3cr3t" in path.read_bytes()]


@pytest.mark.parametrize(("script", "said"), [("exit 0", ""), ("echo 'No module named jinja2'; exit 1", "jinja2")])
def test_a_play_that_does_not_start_is_an_error_with_what_ansible_printed(
    run: Callable[..., ConvergeResult], tmp_path: Path, script: str, said: str
) -> None:
    with pytest.raises(GpuprovError) as caught:
        run(script)
    (found,) = caught.value.diagnostics
    assert found.code == "GP-CONV-001"
    assert said in found.detail
    assert holding(tmp_path) == []
    assert list((tmp_path / "memory").iterdir()) == []


def test_an_interruption_before_the_first_task_is_an_interruption(run: Callable[..., ConvergeResult]) -> None:
    cancel = threading.Event()
    cancel.set()
    start = time.monotonic()
    found = run("sleep 60", cancel=cancel).hosts["n1"]
    assert time.monotonic() - start < 20
    assert (found.status, [d.code for d in found.diagnostics]) == (HostStatus.CANCELLED, ["GP-RUN-003"])


def test_while_ansible_runs_secrets_are_in_memory_and_nowhere_else(
    run: Callable[..., ConvergeResult], tmp_path: Path
) -> None:
    # What a kill at this moment would leave behind.
    left = tmp_path / "left"
    script = (
        f"cp -rpP {tmp_path}/runs {tmp_path}/memory {left}; find {tmp_path}/memory -printf '%m %P\\n' >{left}/modes"
    )
    left.mkdir()
    with pytest.raises(GpuprovError):
        run(script)
    assert holding(left / "runs") == []
    kept = {Path(path).name for path in holding(left / "memory")}
    assert kept == {"passwords.yml", "command"}
    rows = [line.split() for line in (left / "modes").read_text().splitlines()]
    modes = {row[1]: row[0] for row in rows if len(row) == 2}
    folders = {mode for path, mode in modes.items() if "/" not in path}
    assert folders == {"700"}
    assert {mode for path, mode in modes.items() if path.endswith(("passwords.yml", "command"))} == {"600"}


def test_folders_of_a_run_are_for_this_user_only(run: Callable[..., ConvergeResult], tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with pytest.raises(GpuprovError):
            run("exit 1")
    finally:
        os.umask(before)
    (private,) = (tmp_path / "runs" / "1").iterdir()
    assert private.stat().st_mode & 0o777 == 0o700
    assert (private / "inventory.yml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("forks", "said"), [(8, "forks 2,"), (1, "forks 1,"), (0, "forks 1,")])
def test_no_text_of_a_host_is_asked_for_and_forks_are_the_caller_s(
    run: Callable[..., ConvergeResult], forks: int, said: str
) -> None:
    with pytest.raises(GpuprovError) as caught:
        run('echo "forks $ANSIBLE_FORKS, words $*"; exit 1', check=True, forks=forks)
    detail = caught.value.diagnostics[0].detail
    assert said in detail
    assert "--check" in detail
    assert "--diff" not in detail
