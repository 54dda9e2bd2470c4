"""A stack's state on disk: what it holds, what was cut off, who holds it, its backups."""

import gzip
import json
import os
import re
import shlex
import shutil
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from gpuprov.cloud.types import Made, MadeHost, StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.store.files import make_folder, sync_folder, write_text

PROJECT: Final = "gpuprov-aws"
STACK_TYPE: Final = "pulumi:pulumi:Stack"
PROVIDER_PREFIX: Final = "pulumi:providers:"
INSTANCE: Final = "aws:ec2/instance:Instance"
VOLUME: Final = "aws:ebs/volume:Volume"
BUCKET: Final = "aws:s3/bucket:Bucket"
HOLDING: Final = frozenset({INSTANCE, VOLUME, BUCKET})
"""Types whose deletion loses data: an instance has its root volume."""

_KEPT: Final = 10
"""So many backups of ours, and so many files of the engine's own history, which it never prunes, are kept."""
_FORMAT: Final = 3
_SLACK: Final = 5.0
"""Seconds: the lock has whole seconds, and a machine's boot time moves when its clock is set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StateResource:
    """One resource as the state knows it."""

    address: str
    """Logical name, such as `instance.train-a`."""
    urn: str
    type: str
    id: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    leaving: bool = False
    """Whether it was replaced: only its deletion is still to be done, or it is gone and the new one is missing yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pending:
    """An operation that an earlier run began, and of which the state does not know how it ended."""

    address: str
    urn: str
    type: str
    operation: str
    """creating | updating | deleting | reading | importing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LockHolder:
    """Who holds a stack's state, by the engine's own lock file."""

    pid: int
    user: str
    host: str
    since: str
    """UTC time, ISO."""
    path: Path
    alive: bool | None
    """Whether that process still runs; None for another machine's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StackState:
    """A stack as its files tell, without asking the engine or AWS."""

    exists: bool
    """Whether it holds a resource or an operation that was cut off."""
    made: Made = field(default_factory=Made)
    pending: tuple[Pending, ...] = ()
    locked_by: LockHolder | None = None
    resources: Mapping[str, StateResource] = field(default_factory=dict)
    """By address, without the stack, the provider and what only waits for its deletion."""
    unfinished: bool = False
    """Whether the last update failed or was cut off: the account may hold what the state does not know."""


def state_file(place: StackPlace) -> Path:
    """The file in which the engine's file backend keeps the stack."""
    return place.folder / "state" / ".pulumi" / "stacks" / PROJECT / f"{place.name}.json"


def read_deployment(place: StackPlace) -> Mapping[str, Any] | None:
    """Read the stack's last checkpoint; None when there is no such stack.

    Raises:
        GpuprovError: GP-CLOUD-013 when it cannot be read, naming the newest whole backup.
    """
    path = state_file(place)
    packed = path.with_suffix(".json.gz")
    try:
        if packed.is_file() and not path.is_file():
            text = gzip.decompress(packed.read_bytes()).decode()
        else:
            text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise GpuprovError(_broken(place, str(error))) from error
    try:
        return parse_checkpoint(text)
    except ValueError as error:
        raise GpuprovError(_broken(place, str(error))) from error


def parse_checkpoint(text: str) -> Mapping[str, Any]:
    """Give the deployment of a checkpoint of the file backend; ValueError says what is wrong with the text."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg.lower()}") from error
    if not isinstance(value, dict) or not isinstance(value.get("checkpoint"), dict):
        raise ValueError("it is no checkpoint of the Pulumi engine: the key `checkpoint` is missing")  # noqa: TRY004
    if value.get("version") != _FORMAT:
        raise ValueError(f"its format is version {value.get('version')}, and this release knows version {_FORMAT}")
    latest = value["checkpoint"].get("latest") or {}
    resources = latest.get("resources") or []
    if not all(isinstance(row, dict) and row.get("urn") for row in resources):
        raise ValueError("a resource in it has no URN")
    providers = {row["urn"] for row in resources if str(row.get("type", "")).startswith(PROVIDER_PREFIX)}
    for row in resources:
        provider = str(row.get("provider", "")).rpartition("::")[0]
        if provider and provider not in providers:
            raise ValueError(f"the provider of {address_of(row['urn'])} is not in it: {provider}")
    return dict(latest)


def read_state(place: StackPlace, *, unfinished: bool = False) -> StackState:
    """Read everything that the files tell about a stack.

    Args:
        place: which stack.
        unfinished: whether a mark of an update that did not end well is there.

    Raises:
        GpuprovError: GP-CLOUD-013 when the state is broken.
    """
    return state_of(read_deployment(place), locked_by=read_lock(place), unfinished=unfinished)


def state_of(
    deployment: Mapping[str, Any] | None, *, locked_by: LockHolder | None = None, unfinished: bool = False
) -> StackState:
    """Turn a deployment of the engine into a StackState."""
    if deployment is None:
        return StackState(exists=False, locked_by=locked_by, unfinished=unfinished)
    rows = [row for row in map(_resource, deployment.get("resources") or []) if _ours(row.type)]
    resources = {row.address: row for row in rows if not row.leaving}
    pending = tuple(_pending(row) for row in deployment.get("pending_operations") or [])
    return StackState(
        exists=bool(rows or pending),
        made=made_of(tuple(resources.values())),
        pending=pending,
        locked_by=locked_by,
        resources=resources,
        unfinished=unfinished,
    )


def made_of(resources: Sequence[StateResource]) -> Made:
    """What the stack's resources are to the rooms above: hosts, buckets and volumes by the spec's own names."""
    return Made(
        hosts=tuple(sorted((_host(row) for row in resources if row.type == INSTANCE), key=lambda host: host.name)),
        buckets={_name(row): str(row.outputs.get("bucket") or row.id) for row in resources if row.type == BUCKET},
        volumes={_name(row): row.id for row in resources if row.type == VOLUME},
        resources=len(resources),
    )


def address_of(urn: str) -> str:
    """The logical name in a URN, which may itself hold colons."""
    return urn.split("::", 3)[-1]


def read_lock(place: StackPlace) -> LockHolder | None:
    """Who holds the stack, by the newest lock file; one whose process is gone is told by `alive`."""
    folder = place.folder / "state" / ".pulumi" / "locks" / "organization" / PROJECT / place.name
    found: LockHolder | None = None
    for path in sorted(folder.glob("*.json")):
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            holder = LockHolder(
                pid=int(value["pid"]),
                user=str(value["username"]),
                host=str(value["hostname"]),
                since=str(value["timestamp"]),
                path=path,
                alive=None,
            )
        except FileNotFoundError:  # let go between listing and reading
            continue
        except (ValueError, TypeError, KeyError):
            # Written just now, or cut off by a full disk: nobody knows whose it is.
            holder = LockHolder(pid=0, user="", host="", since="", path=path, alive=None)
        if holder.host == socket.gethostname():
            holder = LockHolder(
                pid=holder.pid,
                user=holder.user,
                host=holder.host,
                since=holder.since,
                path=path,
                alive=_alive(holder.pid, holder.since),
            )
        if found is None or found.alive is False:
            found = holder
    return found


def drop_stale_locks(place: StackPlace) -> tuple[LockHolder, ...]:
    """Delete the lock files of engines of this machine that are gone, and say whose they were."""
    dropped: list[LockHolder] = []
    while (holder := read_lock(place)) is not None and holder.alive is False:
        holder.path.unlink(missing_ok=True)
        dropped.append(holder)
    return tuple(dropped)


def back_up(place: StackPlace) -> Path | None:
    """Keep a copy of the state before it is written; None when there is no state yet."""
    path = state_file(place)
    if not path.is_file():
        return None
    folder = place.folder / "backups" / place.name
    make_folder(folder)
    now = time.time_ns()  # read once: the newest copy must have the last name
    when = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1_000_000_000)) + f".{now % 1_000_000_000:09d}Z"
    copy = folder / f"{when}.json"
    write_text(copy, path.read_text(encoding="utf-8"), mode=0o600)
    _prune(folder, _KEPT)
    return copy


def prune_history(place: StackPlace) -> None:
    """Keep the newest files of the engine's own history and backups: it adds to them with every update, for ever."""
    own = place.folder / "state" / ".pulumi"
    _prune(own / "backups" / PROJECT / place.name, _KEPT)
    # An update leaves two files there: what it was, and the checkpoint.
    _prune(own / "history" / PROJECT / place.name, 2 * _KEPT)


def remove_files(place: StackPlace) -> None:
    """Delete what is left of a stack that holds nothing any more: history, backups, work folder."""
    own = place.folder / "state" / ".pulumi"
    for folder in (
        own / "backups" / PROJECT / place.name,
        own / "history" / PROJECT / place.name,
        place.folder / "work" / place.name,
    ):
        shutil.rmtree(folder, ignore_errors=True)


def _prune(folder: Path, keep: int) -> None:
    if not folder.is_dir():
        return
    for old in sorted(path for path in folder.iterdir() if path.is_file())[:-keep]:
        old.unlink(missing_ok=True)
    sync_folder(folder)


def _alive(pid: int, since: str) -> bool:
    """Whether the process that wrote a lock still runs: a later process may have got its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        return _began(pid) <= datetime.fromisoformat(since).timestamp() + _SLACK
    except (OSError, ValueError, IndexError):
        return Path(f"/proc/{pid}").exists()


def _began(pid: int) -> float:
    """When a process began, in seconds since the epoch: field 22 of proc(5)'s stat, in ticks since the boot."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    boot = re.search(r"^btime (\d+)", Path("/proc/stat").read_text(encoding="utf-8"), re.MULTILINE)
    return int(boot[1] if boot else 0) + int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _ours(type_token: str) -> bool:
    return type_token != STACK_TYPE and not type_token.startswith(PROVIDER_PREFIX)


def _resource(row: Mapping[str, Any]) -> StateResource:
    return StateResource(
        address=address_of(str(row["urn"])),
        urn=str(row["urn"]),
        type=str(row.get("type", "")),
        id=str(row.get("id", "")),
        inputs=row.get("inputs") or {},
        outputs=row.get("outputs") or {},
        leaving=row.get("delete") is True or row.get("pendingReplacement") is True,
    )


def _pending(row: Mapping[str, Any]) -> Pending:
    resource = row.get("resource") or {}
    return Pending(
        address=address_of(str(resource.get("urn", ""))),
        urn=str(resource.get("urn", "")),
        type=str(resource.get("type", "")),
        operation=str(row.get("type", "")),
    )


def _name(row: StateResource) -> str:
    """`scratch/train-a` of `volume.scratch/train-a`."""
    return row.address.partition(".")[2]


def _host(row: StateResource) -> MadeHost:
    def output(key: str) -> str:
        value = row.outputs.get(key)
        return value if isinstance(value, str) else ""

    tags = row.inputs.get("tags") or row.outputs.get("tags") or {}
    return MadeHost(
        name=_name(row),
        pool=str(tags.get("gpuprov:pool", "")),
        instance_id=row.id,
        type=output("instanceType"),
        image=output("ami"),
        zone=output("availabilityZone"),
        private_address=output("privateIp"),
        public_address=output("publicIp"),
    )


def _broken(place: StackPlace, why: str) -> Diagnostic:
    path = state_file(place)
    whole = newest_whole(place)
    return Diagnostic(
        code="GP-CLOUD-013",
        address=str(path),
        summary=f"the state of the stack {place.name} is broken: {why}",
        detail="nothing was changed; the resources in the account are as they were",
        hint=f"put the newest whole copy back, then run again: {shlex.join(('cp', str(whole), str(path)))}"
        if whole
        else "put a copy of your own back; without one, find the stack's resources by their tag gpuprov:spec",
    )


def newest_whole(place: StackPlace) -> Path | None:
    """The newest copy of the state that can be read: the engine's own, or ours."""
    path = state_file(place)
    copies = [path.with_name(path.name + ".bak"), *(place.folder / "backups" / place.name).glob("*.json")]
    copies += (place.folder / "state" / ".pulumi" / "backups" / PROJECT / place.name).glob("*.json")
    for copy in sorted((copy for copy in copies if copy.is_file()), key=lambda one: one.stat().st_mtime, reverse=True):
        try:
            parse_checkpoint(copy.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        return copy
    return None
