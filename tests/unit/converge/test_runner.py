"""The adapter with a play of the test's own on this machine: real Ansible, no ssh."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from host_builders import make_want

from gpuprov.converge.outcome import Tally
from gpuprov.converge.runner import _Watch, converge
from gpuprov.converge.types import ConvergeResult, HostStatus, RunDocuments
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Become, Connection, Host
from gpuprov.model.progress import Progress, ignore_progress
from gpuprov.plan.removal import Removal

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]  # Ansible needs seconds to start, on a busy machine many
SECRET = "s3cret {{ x }} 'quoted'"
PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - name: Say where it runs
      ansible.builtin.copy:
        dest: {out}/{{{{ inventory_hostname }}}}.json
        mode: "0600"
        content: "{{{{ {{'check': ansible_check_mode, 'password': ansible_become_password | default('none'), 'document':
          gpuprov_record_documents[0].text, 'strategy': lookup('config', 'DEFAULT_STRATEGY'),
          'lock_timeout': gpuprov_packages_lock_timeout}} | to_json }}}}"
      check_mode: false
      no_log: true
"""


def host(name: str, password: str | None = None) -> Host:
    become = Become(enabled=False, password=password)
    return Host(
        name=name,
        pool="train",
        target="onprem",
        connection=Connection(host=name, address="localhost", kind="local", become=become, python="/usr/bin/python3"),
    )


@dataclass
class Run:
    """A folder with a play, and one run of it."""

    folder: Path
    told: list[Progress] = field(default_factory=list)

    def __call__(self, text: str, *hosts: Host, check: bool = False) -> ConvergeResult:
        playbooks = self.folder / "playbooks"
        playbooks.mkdir(exist_ok=True)
        (playbooks / "site.yml").write_text(text, encoding="utf-8")
        return converge(
            [(one, make_want(), Removal()) for one in hosts],
            playbooks=playbooks,
            folder=self.folder / "run",
            check=check,
            documents=RunDocuments(spec="a: {{ no template }}\n", lock="{}\n"),
            report=self.told.append,
        )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def seen(tmp_path: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8")))


def test_each_host_has_its_outcome_and_no_secret_stays(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the user's own Ansible is set to must not reach the play.
    monkeypatch.setenv("ANSIBLE_STRATEGY", "free")
    monkeypatch.setenv("ANSIBLE_BECOME_PASSWORD_FILE", "/nowhere")
    monkeypatch.setenv("GPUPROV_BECOME_PASSWORD", "s3cret of the environment")
    # What the user set for gpuprov must.
    monkeypatch.setenv("GPUPROV_APT_LOCK_TIMEOUT", "7")
    result = run(PLAY.format(out=tmp_path), host("one", SECRET), host("two"), check=True)
    assert {name: (o.status, o.tasks) for name, o in result.hosts.items()} == {
        "one": (HostStatus.OK, 1),
        "two": (HostStatus.OK, 1),
    }
    assert seen(tmp_path, "one") == {
        "check": True, "password": SECRET, "document": "a: {{ no template }}\n", "strategy": "linear",
        "lock_timeout": 7,
    }  # fmt: skip
    assert seen(tmp_path, "two")["password"] == "none"
    assert {progress.subject for progress in run.told} == {"one", "two"}
    private = tmp_path / "run" / "ansible-1"
    assert private.stat().st_mode & 0o777 == 0o700
    written = {path for path in (tmp_path / "run").rglob("*") if path.is_file()}
    assert [path for path in written if "s3cret" in path.read_text(encoding="utf-8", errors="replace")] == []
    assert result.log in written


def test_a_play_that_cannot_start_is_an_error_and_the_next_has_a_folder_of_its_own(run: Run, tmp_path: Path) -> None:
    for number in (1, 2):
        with pytest.raises(GpuprovError) as caught:
            run("- hosts: all\n  tasks: [{no_such_module_of_ansible: {}}]\n", host("one"))
        assert caught.value.diagnostics[0].code == "GP-CONV-001"
        assert "no_such_module_of_ansible" in caught.value.diagnostics[0].detail
        assert (tmp_path / "run" / f"ansible-{number}").is_dir()


def event(name: str, task: str = "t") -> dict[str, Any]:
    return {"event": name, "event_data": {"host": "one", "task": task, "task_action": "x", "res": {}}}


@pytest.fixture
def watch() -> Callable[[threading.Event | None], _Watch]:
    def make(cancel: threading.Event | None) -> _Watch:
        return _Watch(tallies={"one": Tally("one", Path("log"))}, report=ignore_progress, cancel=cancel)

    return make


def test_a_running_task_is_let_end(watch: Callable[[threading.Event | None], _Watch]) -> None:
    cancel = threading.Event()
    found = watch(cancel)
    found.take(event("runner_on_start"))
    assert found.stop_now() is False
    cancel.set()
    assert found.stop_now() is False
    found.take(event("runner_on_ok"))
    assert found.stop_now() is True
    assert found.stopped


def test_a_task_that_does_not_end_has_its_grace(
    watch: Callable[[threading.Event | None], _Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    cancel = threading.Event()
    cancel.set()
    found = watch(cancel)
    found.take(event("runner_on_start"))
    assert found.stop_now() is False
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 3000)  # a kernel module that is built takes its minutes
    assert found.stop_now() is False
    later = now + 2 * 3600
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert found.stop_now() is True


def test_a_play_that_has_ended_is_not_stopped(watch: Callable[[threading.Event | None], _Watch]) -> None:
    cancel = threading.Event()
    cancel.set()
    found = watch(cancel)
    found.take({"event": "playbook_on_stats"})
    assert found.stop_now() is False
    assert watch(None).stop_now() is False


def test_passwords_are_deleted_as_soon_as_the_inventory_was_read(
    watch: Callable[[threading.Event | None], _Watch], tmp_path: Path
) -> None:
    found = watch(None)
    file = tmp_path / "passwords.yml"
    file.write_text("x")
    found.secrets.append(file)
    found.take({"event": "playbook_on_start"})
    assert file.exists()
    found.take({"event": "playbook_on_play_start"})
    assert not file.exists()
