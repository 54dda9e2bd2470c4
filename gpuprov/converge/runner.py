"""Runs the play: the only file that knows ansible_runner."""

import os
import shlex
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import ansible_runner

from gpuprov.converge.events import Kind, is_end, parse_event
from gpuprov.converge.inventory import inventory, secrets, to_yaml
from gpuprov.converge.kept import kept_variables
from gpuprov.converge.outcome import Tally
from gpuprov.converge.short_folder import short_folder
from gpuprov.converge.types import ConvergeResult, Keeping, RunDocuments
from gpuprov.converge.uv import uv_program
from gpuprov.converge.variables import RECORD, document_variables, host_variables
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Host
from gpuprov.model.progress import Progress, Report
from gpuprov.plan.removal import Removal
from gpuprov.store.settings import apt_lock_timeout
from gpuprov.want.types import HostWant

_GRACE: Final = 3600.0
"""Seconds that a running task gets after Ctrl-C: as long as the package step waits for its transaction.

Whoever will not wait presses it again: the transaction then goes on by itself on the host."""
_TAIL: Final = 20


def converge(
    hosts: Sequence[tuple[Host, HostWant, Removal]],
    *,
    playbooks: Path,
    folder: Path,
    check: bool,
    documents: RunDocuments,
    report: Report,
    cancel: threading.Event | None = None,
    forks: int = 32,
    keeping: Mapping[str, Keeping] | None = None,
) -> ConvergeResult:
    """Run the play on hosts and say what it did on each.

    Args:
        hosts: at least one, each with its want and what is taken away.
        playbooks: folder that holds site.yml.
        folder: the run's folder; a new one is made in it, readable for this user only.
        check: look only; every task says truthfully what it would change.
        documents: kept on every host.
        report: where progress goes.
        cancel: set to stop after the running task.
        forks: at most so many hosts at once.
        keeping: host name -> what it keeps for a rollback, or goes back to; any other host keeps nothing.

    Raises:
        GpuprovError: the play did not start at all.
    """
    private = _new_folder(folder)
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    members = [host for host, _, _ in hosts]
    variables = {host.name: host_variables(want, removal, when=when) for host, want, removal in hosts}
    for name, kept in (keeping or {}).items():
        variables[name] |= kept_variables(kept, documents, RECORD)
    shared = document_variables(documents) | {"gpuprov_packages_lock_timeout": apt_lock_timeout()}
    if any(want.pool.frameworks for _, want, _ in hosts):
        shared["gpuprov_frameworks_uv"] = uv_program()
    _write(private / "inventory.yml", to_yaml(inventory(members, variables, shared)) + "\n")
    log = private / "artifacts" / "play" / "stdout"
    watch = _Watch(tallies={host.name: Tally(host.name, log) for host in members}, report=report, cancel=cancel)
    with short_folder() as short:
        words = ["-i", str(private / "inventory.yml")]
        passwords = secrets(members)
        if passwords is not None:
            file = short / "passwords.yml"
            watch.secrets.append(file)
            _write(file, to_yaml(passwords) + "\n")
            words += ["-i", str(file)]
        # No --diff: it would bring the text of the host's own files into the run's folder.
        words += ["--check"] if check else []
        environment = _environment(playbooks, short, max(1, min(len(members), forks)))
        status = _run(private, playbooks, short, words, environment, watch)
    tail = _tail(log)
    if not watch.events and not watch.interrupted:
        raise GpuprovError(_not_started(status, tail))
    outcomes = {
        name: tally.outcome(ended=watch.ended, cancelled=watch.interrupted, tail=tail)
        for name, tally in watch.tallies.items()
    }
    return ConvergeResult(hosts=outcomes, log=log)


@dataclass(kw_only=True, slots=True)
class _Watch:
    """Sees every event, passes progress on, and says when the play may be stopped."""

    tallies: Mapping[str, Tally]
    report: Report
    cancel: threading.Event | None
    secrets: list[Path] = field(default_factory=list)
    """Files that nobody needs once the play has begun."""
    events: int = 0
    ended: bool = False
    stopped: bool = False
    _since: float = field(default=0.0)

    def take(self, event: Mapping[str, Any]) -> bool:
        """Take one event; always true: it is kept in the run's folder."""
        if event.get("event") in {"playbook_on_play_start", "playbook_on_stats"}:
            self.forget_secrets()  # The inventory has been read by now.
        self.ended = self.ended or is_end(event)
        found = parse_event(event)
        if found is None or found.host not in self.tallies:
            return True
        self.events += 1
        self.tallies[found.host].take(found)
        text = found.task if found.kind is Kind.STARTED else f"{found.task}: {found.kind}"
        if found.kind is not Kind.SKIPPED and not found.on_controller:
            self.report(Progress(phase="converge", subject=found.host, text=text))
        return True

    @property
    def interrupted(self) -> bool:
        """Whether the play was asked to stop before it had ended."""
        return not self.ended and (self.stopped or (self.cancel is not None and self.cancel.is_set()))

    def forget_secrets(self) -> None:
        """Delete the files with secrets."""
        for file in self.secrets:
            file.unlink(missing_ok=True)

    def stop_now(self) -> bool:
        """Whether Ansible is to be ended: asked to, and no task runs or its grace is over."""
        if self.cancel is None or not self.cancel.is_set() or self.ended:
            return False
        self._since = self._since or time.monotonic()
        idle = not any(tally.in_flight for tally in self.tallies.values())
        self.stopped = idle or time.monotonic() - self._since > _GRACE
        return self.stopped


def _run(
    private: Path, playbooks: Path, short: Path, words: Sequence[str], environment: Mapping[str, str], watch: _Watch
) -> str:
    """Run ansible-playbook to its end; returns the runner's status word."""
    runner = ansible_runner.interface.init_runner(
        private_data_dir=str(private),
        project_dir=str(playbooks),
        playbook=str(playbooks / "site.yml"),
        cmdline=shlex.join(words),
        ident="play",
        quiet=True,
        ignore_logging=True,
        suppress_env_files=True,
        settings={"pexpect_timeout": 0.5, "suppress_ansible_output": True},
        event_handler=watch.take,
        cancel_callback=watch.stop_now,
    )
    # The runner starts from the whole environment; settings of the user's own Ansible must not reach the play.
    inherited = {name: value for name, value in runner.config.env.items() if not _is_setting(name, os.environ)}
    runner.config.env = {**inherited, **environment}
    # It also writes that environment down, with whatever token the user keeps there: a kill may not leave it on a disk.
    written = private / "artifacts" / "play" / "command"
    written.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    written.symlink_to(short / "command")
    watch.secrets += [written, short / "command"]
    try:
        runner.run()
    finally:
        watch.forget_secrets()
    return str(runner.status)


def _is_setting(name: str, environment: Mapping[str, str]) -> bool:
    """Whether a variable is for Ansible or for gpuprov itself, such as the sudo password."""
    if name.startswith("GPUPROV_"):
        return True
    return name.startswith("ANSIBLE_") and name in environment and name != "ANSIBLE_CALLBACK_PLUGINS"


def _environment(playbooks: Path, short: Path, forks: int) -> dict[str, str]:
    """Everything that ansible.cfg could say, so that no file of the user's has a say."""
    return {
        # ansible-playbook of the same installation, also where nobody activated its environment.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "LC_ALL": "C.UTF-8",
        "LANGUAGE": "",
        "PYTHONUTF8": "1",
        "ANSIBLE_CONFIG": str(playbooks / "ansible.cfg"),
        "ANSIBLE_LIBRARY": str(playbooks / "plugins" / "modules"),
        "ANSIBLE_MODULE_UTILS": str(playbooks / "plugins" / "module_utils"),
        "ANSIBLE_ROLES_PATH": str(playbooks / "roles"),
        "ANSIBLE_HOME": str(short / "home"),
        "ANSIBLE_LOCAL_TEMP": str(short / "tmp"),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(short / "cp"),
        "ANSIBLE_SSH_ARGS": "-C -o ControlMaster=auto -o ControlPersist=30s",
        "ANSIBLE_PIPELINING": "True",
        "ANSIBLE_HOST_KEY_CHECKING": "True",
        "ANSIBLE_FORKS": str(forks),
        "ANSIBLE_GATHERING": "explicit",
        "ANSIBLE_CACHE_PLUGIN": "memory",
        "ANSIBLE_NOCOWS": "1",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_FORCE_COLOR": "0",
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_INVENTORY_ENABLED": "yaml",
        "ANSIBLE_DEPRECATION_WARNINGS": "False",
    }


def _new_folder(folder: Path) -> Path:
    """A folder for this play; a run has one for each batch."""
    for number in range(1, 10_000):
        private = folder / f"ansible-{number}"
        if not private.exists():
            private.mkdir(parents=True, mode=0o700)
            return private
    raise AssertionError("a run has no ten thousand batches")


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        stream.write(text)


def _tail(log: Path) -> str:
    if not log.exists():
        return ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join([line for line in lines if line.strip()][-_TAIL:])


def _not_started(status: str, tail: str) -> Diagnostic:
    return Diagnostic(
        code="GP-CONV-001",
        summary=f"Ansible did not start the play (status {status})",
        detail=tail,
        hint="`ansible-playbook --version` of this installation must work",
    )
