"""Hosts of a cloud: the stack's instances with their connections, and waiting until they can be trusted and reached."""

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from gpuprov.catalog.find import image as image_row
from gpuprov.cloud.console import find_host_keys, last_lines
from gpuprov.cloud.types import InstanceHealth, InstanceState, Made, MadeHost
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import Progress, Report
from gpuprov.provision.cloud_storage import storage_of
from gpuprov.provision.host_keys import KNOWN_HOSTS, Record, accept, address_of, locate, read_record, update_record
from gpuprov.provision.login_keys import login_keys, private_key_file
from gpuprov.spec.cloud import CloudSpec
from gpuprov.spec.types import PoolSpec, Spec
from gpuprov.transport.knock import greets

__all__ = ["cloud_hosts", "login_keys", "wait_for_hosts"]

TARGET: Final = "cloud"
_PAUSE: Final = 2.0
"""Seconds between two looks: two API calls for all hosts, and one for each host whose key is not known yet."""
_IMPAIRED_SECONDS: Final = 30.0
"""A check may fail for a moment while an instance boots."""
_UNSEEN_SECONDS: Final = 120.0
"""EC2 is eventually consistent: a new instance may not be visible at once."""
_PORT_SECONDS: Final = 3.0
_WIDTH: Final = 16
_SHOWN_LINES: Final = 15
_CHECKED: Final = frozenset({"ok", "not-applicable"})
_ENDED: Final = frozenset({InstanceState.TERMINATED, InstanceState.SHUTTING_DOWN})
_OFF: Final = frozenset({InstanceState.STOPPED, InstanceState.STOPPING})


class Account(Protocol):
    """What waiting asks of `gpuprov.cloud.account.Account`."""

    def health(self, ids: Collection[str]) -> Mapping[str, InstanceHealth]:
        """State and checks of instances."""

    def console(self, instance_id: str) -> str:
        """Console output of one instance."""


def cloud_hosts(made: Made, spec: Spec, *, folder: Path) -> tuple[Host, ...]:
    """The stack's instances as hosts, in the stack's order.

    known_hosts is brought up to date with the addresses that the instances have now.

    Args:
        made: what the stack holds.
        spec: with a cloud target; says the login user and keys.
        folder: of the stack: the record of host keys, and known_hosts.

    Raises:
        GpuprovError: GP-DOC codes when the record of host keys is damaged.
    """
    record = read_record(folder)
    if locate(record, made.hosts) != record:
        update_record(folder, lambda now: locate(now, made.hosts))
    places = storage_of(made, (host.name for host in made.hosts))
    return tuple(replace(_host(host, spec, folder), storage=places[host.name]) for host in made.hosts)


def wait_for_hosts(
    account: Account,
    made: Made,
    *,
    folder: Path,
    report: Report,
    seconds: float,
    cancel: threading.Event | None = None,
    jump: Connection | None = None,
) -> tuple[Diagnostic, ...]:
    """Wait until every instance runs, passes its checks, is trusted by its host key, and answers on its ssh port.

    A host key comes from the console output, which AWS's API vouches for, and is kept for the instance's life.

    Args:
        account: where to ask.
        made: the instances.
        folder: of the stack: host keys are recorded there at once.
        report: where progress goes.
        seconds: how long, for all together.
        cancel: set to stop waiting; what is missing is then told as if the time had passed.
        jump: the host to go through, as `jump_of` gives it; None where the instances are reached from here.

    Returns:
        One error for each host that did not come up (GP-CLOUD-016, GP-CLOUD-017), its name as address.

    Raises:
        GpuprovError: AWS does not answer or refuses; GP-SSH codes when the jump host itself cannot be used.
    """
    waiting = {host.name: _Wait(host=host) for host in made.hosts}
    failed: list[Diagnostic] = []
    started = time.monotonic()
    stop = cancel or threading.Event()
    while waiting:
        elapsed = time.monotonic() - started
        health = account.health([wait.host.instance_id for wait in waiting.values()])
        for wait in waiting.values():
            wait.look(health.get(wait.host.instance_id), elapsed)
        _verify(account, waiting.values(), made, folder)
        _knock(list(waiting.values()), jump)
        late = elapsed > seconds or stop.is_set()
        for wait in list(waiting.values()):
            if late and not wait.ready and wait.error is None:
                wait.error = _too_late(wait, account, elapsed)
            report(Progress(phase="wait", subject=wait.host.name, text=wait.text, finished=wait.ready))
            if wait.error is not None:
                failed.append(wait.error)
            if wait.ready or wait.error is not None:
                del waiting[wait.host.name]
        if waiting:
            stop.wait(_PAUSE)
    return tuple(failed)


@dataclass(kw_only=True, slots=True)
class _Wait:
    """How far one host has come."""

    host: MadeHost
    state: str = "not visible yet"
    checks: str = ""
    trusted: bool = False
    answers: bool = False
    impaired_since: float | None = None
    error: Diagnostic | None = field(default=None)

    @property
    def running(self) -> bool:
        return self.state == InstanceState.RUNNING

    @property
    def ready(self) -> bool:
        return self.running and self.checks in _CHECKED and self.trusted and self.answers and self.error is None

    @property
    def text(self) -> str:
        if not self.running:
            return self.state
        parts = [
            f"checks {self.checks}",
            "host key verified" if self.trusted else "no host key on the console yet",
            "ssh answers" if self.answers else "ssh does not answer yet",
        ]
        return ", ".join(parts)

    def look(self, health: InstanceHealth | None, elapsed: float) -> None:
        """Take in what EC2 says, and see whether waiting is of use."""
        if health is None:
            if elapsed > _UNSEEN_SECONDS or self.state != "not visible yet":
                self.error = _ended(self.host, "EC2 does not know it", "")
            return
        self.state, self.checks = str(health.state), health.checks
        if health.state in _ENDED:
            self.error = _ended(self.host, f"it is {health.state}", health.reason)
        elif health.state in _OFF:
            self.error = _off(self.host, health)
        if health.checks != "impaired":
            self.impaired_since = None
            return
        self.impaired_since = elapsed if self.impaired_since is None else self.impaired_since
        if elapsed - self.impaired_since >= _IMPAIRED_SECONDS:
            self.error = _impaired(self.host)


def _verify(account: Account, waiting: Collection[_Wait], made: Made, folder: Path) -> None:
    """Read host keys off the consoles of running hosts; a host on record is looked at once more, for a changed key."""
    asked = [wait for wait in waiting if wait.running and not wait.trusted and wait.error is None]
    if not asked:
        return
    with ThreadPoolExecutor(max_workers=min(len(asked), _WIDTH)) as threads:
        consoles = list(threads.map(account.console, (wait.host.instance_id for wait in asked)))

    def take_in(record: Record) -> Record:
        record = locate(record, made.hosts)
        for wait, console in zip(asked, consoles, strict=True):
            try:
                keys = find_host_keys(console)
                record = accept(record, wait.host, keys) if keys else record
            except GpuprovError as error:
                wait.error = error.diagnostics[0]
            else:
                # EC2 keeps 64 KiB of output: that of a host which has run for long may hold its keys no more.
                wait.trusted = wait.host.instance_id in record
        return record

    update_record(folder, take_in)


def _knock(waiting: Sequence[_Wait], jump: Connection | None) -> None:
    asked = [wait for wait in waiting if wait.running and not wait.answers and wait.error is None]
    if not asked:
        return
    with ThreadPoolExecutor(max_workers=min(len(asked), _WIDTH)) as threads:
        answers = threads.map(lambda wait: greets(address_of(wait.host), jump=jump, seconds=_PORT_SECONDS), asked)
        for wait, answered in zip(asked, answers, strict=True):
            wait.answers = answered


def jump_of(cloud: CloudSpec, spec_path: Path) -> Connection | None:
    """The connection to the target's jump host; None where it has none.

    Its key is checked as a rack's host's is: against the file that the spec names, or the user's own known_hosts.

    Args:
        cloud: the target.
        spec_path: the spec, which its files are relative to.
    """
    jump = cloud.jump
    if jump is None:
        return None

    def file(name: str | None) -> str | None:
        # Absolute: Ansible runs in a folder of its own.
        return None if name is None else str((spec_path.parent / Path(name).expanduser()).absolute())

    known = file(jump.known_hosts)
    return Connection(
        host=f"{jump.host} (jump host of the cloud hosts)",
        address=jump.host,
        port=jump.port,
        user=jump.user,
        key_file=file(jump.key),
        known_hosts=() if known is None else (known,),
    )


def _host(host: MadeHost, spec: Spec, folder: Path) -> Host:
    cloud = spec.cloud
    if cloud is None:
        raise GpuprovError(Diagnostic(code="GP-SPEC-008", address="targets.cloud", summary="the spec has no cloud"))
    jump = jump_of(cloud, Path(spec.path))
    connection = Connection(
        host=host.name,
        address=address_of(host),
        user=cloud.user or _image_user(spec.pools.get(host.pool)),
        key_file=private_key_file(cloud, Path(spec.path)),
        known_hosts=(str((folder / KNOWN_HOSTS).absolute()),),
        jump=() if jump is None else (jump,),
    )
    return Host(name=host.name, pool=host.pool, target=TARGET, connection=connection)


def _image_user(pool: PoolSpec | None) -> str | None:
    """The login user of the OS vendor's images; None leaves it to the ssh client."""
    row = image_row(pool.os, "amd64") if pool is not None else None
    return row.user if row is not None else None


def _ended(host: MadeHost, what: str, reason: str) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-016",
        address=host.name,
        summary=f"the instance {host.instance_id} did not come up: {what}",
        detail=reason,
        hint=f"`gpuprov up --target cloud --replace {host.name}` makes another one",
    )


def _off(host: MadeHost, health: InstanceHealth) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-016",
        address=host.name,
        summary=f"the instance {host.instance_id} is {health.state}",
        detail=health.reason,
        hint=f"start it: `gpuprov start {host.name}`, then run the same command again",
    )


def _impaired(host: MadeHost) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-016",
        address=host.name,
        summary=f"the instance {host.instance_id} fails its status checks",
        detail="EC2 says `impaired`: the machine under it, or the system on it, does not answer",
        hint="stop and start it, which moves it to another machine, or make it anew with"
        f" `gpuprov up --target cloud --replace {host.name}`",
    )


def _too_late(wait: _Wait, account: Account, elapsed: float) -> Diagnostic:
    host, console = wait.host, ""
    if wait.running:
        console = account.console(host.instance_id)
    untrusted = wait.running and wait.checks in _CHECKED and wait.answers and not wait.trusted
    if untrusted:
        hint = (
            "the image must print its host keys on the console, as cloud-init does (ssh: emit_keys_to_console); an"
            " instance whose console output no longer holds them prints them again after it is replaced"
        )
    else:
        hint = (
            "check that its security group lets this machine in, or the jump host (targets.cloud.network.ssh_from), and"
            " that it has a way to be reached; then run the same command again"
        )
    return Diagnostic(
        code="GP-CLOUD-017" if untrusted else "GP-CLOUD-016",
        address=host.name,
        summary=f"the instance {host.instance_id} is not ready after {elapsed:.0f} s: {wait.text}",
        detail=f"address {address_of(host)}; last lines of its console:\n{last_lines(console, _SHOWN_LINES)}"
        if console
        else f"address {address_of(host)}; its console is empty",
        hint=hint,
    )
