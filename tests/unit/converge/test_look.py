"""The package module without a play: the same parameters, the same answers, and nothing of Ansible on the way."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from host_builders import make_want

from gpuprov.converge import look as module
from gpuprov.converge.locate import find_playbooks
from gpuprov.converge.look import archive, look, module_files, parameters
from gpuprov.converge.types import HostOutcome, HostStatus, Keeping
from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import ignore_progress
from gpuprov.plan.removal import Removal
from gpuprov.transport.protocol import Outcome

WANT = make_want()
HOST = Host(name="node-1", pool="train", target="onprem", connection=Connection(host="node-1", address="node-1"))
PLAYBOOKS = find_playbooks()
TOOLS = {
    "dpkg": 'case "$*" in *print-arch*) echo amd64 ;; *) exit 1 ;; esac',
    "dpkg-query": "printf 'tree\\tamd64\\t1\\tinstall\\tinstalled\\tok\\n'",
}


def test_the_module_gets_what_the_role_gives_it() -> None:
    given = parameters(WANT, Removal(take_over=("x",)), Keeping(run="", want=WANT))
    (task,) = yaml.safe_load((PLAYBOOKS / "roles" / "gpuprov_packages" / "tasks" / "main.yml").read_text())
    role = task["gpuprov_packages"]
    assert {name for name in role if name not in given} == {"lock_timeout", "timeout"}
    assert set(given) <= set(role)
    for name, value in role.items():
        assert value == (True if name == "allow_downgrades" else f"{{{{ gpuprov_packages_{name} }}}}")
    assert given["take_over"] == ["x"]
    assert given["rollback"]["want"] == WANT.digest


def run_archive(folder: Path, given: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Run the archive with a dpkg that answers from a text, and no apt at all."""
    programs = folder / "programs"
    programs.mkdir()
    for name, text in TOOLS.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    place = folder / "look"
    place.write_bytes(archive(module_files(PLAYBOOKS), given))
    # -I: neither the user's packages nor this environment's Ansible may help.
    return subprocess.run(
        [sys.executable, "-I", str(place)], capture_output=True, text=True, check=False, env={"PATH": str(programs)}
    )


def test_the_archive_is_whole_and_runs_without_ansible(tmp_path: Path) -> None:
    row = {"name": "tree", "version": "1", "arch": "", "sha256": ""}
    done = run_archive(tmp_path, {"install": [row], "hold": ["tree"]})
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert (found["judged_only"], found["changed"], found["packages"]) == (True, True, [])


def test_a_program_that_is_not_there_is_a_failure_with_its_name(tmp_path: Path) -> None:
    row = {"name": "tree", "version": "2", "arch": "", "sha256": ""}
    done = run_archive(tmp_path, {"install": [row], "sources": [], "lists_refresh": False})
    assert done.returncode == 1
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert found["failed"] is True
    assert "apt-get cannot be run" in found["msg"]


class Answering:
    """A transport that gives one answer."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.asked: list[tuple[str, bytes, bool]] = []
        self.closed = False

    def run(self, command: str, *, stdin: bytes = b"", timeout: float, root: bool = False) -> Outcome:
        assert timeout > 0
        self.asked.append((command, stdin, root))
        return self.outcome

    def close(self) -> None:
        self.closed = True


def asked(patch: pytest.MonkeyPatch, stdout: str, stderr: str = "", status: int = 0) -> HostOutcome:
    answer = Outcome(status=status, stdout=stdout.encode(), stderr=stderr.encode(), seconds=1)
    transport = Answering(answer)
    patch.setattr(module, "connect", lambda _connection: transport)
    (found,) = look([(HOST, WANT, Removal(), None)], playbooks=PLAYBOOKS, limit=2, report=ignore_progress).values()
    ((command, stdin, root),) = transport.asked
    assert root
    assert transport.closed
    assert "/usr/bin/python3" in command
    assert stdin.startswith(b"PK")
    return found


def test_an_answer_is_told_as_a_play_would_tell_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result = {"judged_only": True, "download": 5, "growth": 6, "others": [{"name": "a", "from": "1", "to": "2"}]}
    found = asked(monkeypatch, f"noise\n{json.dumps(result)}\n")
    assert found.status is HostStatus.OK
    assert found.others == ("a 1 -> 2",)
    assert found.foresight is not None
    assert found.foresight.download == 5


@pytest.mark.parametrize(
    ("stdout", "stderr", "status", "code"),
    [
        ('{"failed": true, "msg": "m", "gpuprov": {"reason": "plan", "removed": ["x"]}}', "", 1, "GP-PLAN-002"),
        ('{"failed": true, "msg": "m", "gpuprov": {"reason": "space", "text": "t"}}', "", 1, "GP-CONV-003"),
        ("", "sh: 5: /usr/bin/python3: not found", 127, "GP-CONV-001"),
        ("", "Traceback\nOSError: [Errno 28] No space left on device", 1, "GP-CONV-003"),
        ("not json", "", 0, "GP-CONV-001"),
        ("", "", 1, "GP-CONV-001"),
    ],
)  # fmt: skip
def test_what_went_wrong_is_told_as_a_play_would_tell_it(
    stdout: str, stderr: str, status: int, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = asked(monkeypatch, stdout, stderr, status)
    assert [diagnostic.code for diagnostic in found.diagnostics] == [code]
    assert found.removed == (("x",) if code == "GP-PLAN-002" else ())
    assert found.status is HostStatus.FAILED
    assert "Traceback" not in found.diagnostics[0].detail
