"""A stack's state as its files tell it: what it holds, what was cut off, who holds it."""

import gzip
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from gpuprov.cloud.state_lock import LockHolder, read_lock
from gpuprov.cloud.state_names import engine_backups, own_backups, packed_name, state_name
from gpuprov.cloud.types import Made, MadeHost, StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

STACK_TYPE: Final = "pulumi:pulumi:Stack"
PROVIDER_PREFIX: Final = "pulumi:providers:"
INSTANCE: Final = "aws:ec2/instance:Instance"
VOLUME: Final = "aws:ebs/volume:Volume"
BUCKET: Final = "aws:s3/bucket:Bucket"
SHARE: Final = "aws:efs/fileSystem:FileSystem"
HOLDING: Final = frozenset({INSTANCE, VOLUME, BUCKET, SHARE})
"""Types whose deletion loses data: an instance has its root volume."""

_FORMAT: Final = 3


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
    created: str = ""
    """When the engine made it: UTC time, ISO."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pending:
    """An operation that an earlier run began, and of which the state does not know how it ended."""

    address: str
    urn: str
    type: str
    operation: str
    """creating | updating | deleting | reading | importing."""


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


def read_deployment(place: StackPlace) -> Mapping[str, Any] | None:
    """Read the stack's last checkpoint; None when there is no such stack.

    Raises:
        GpuprovError: GP-CLOUD-013 when it cannot be read, naming the newest whole backup.
    """
    try:
        data = place.files.read(state_name(place))
        if data is None:
            packed = place.files.read(packed_name(place))
            if packed is None:
                return None
            data = gzip.decompress(packed)
        return _parsed(data)
    except (OSError, EOFError, ValueError) as error:
        raise GpuprovError(_broken(place, str(error))) from error


@lru_cache(maxsize=2)
def _parsed(data: bytes) -> Mapping[str, Any]:
    """A checkpoint parsed once for each content: a run reads it some eight times, 0.1 s each for 500 instances."""
    return parse_checkpoint(data.decode())


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
        shares={_name(row): str(row.outputs.get("dnsName") or "") for row in resources if row.type == SHARE},
        resources=len(resources),
    )


def address_of(urn: str) -> str:
    """The logical name in a URN, which may itself hold colons."""
    return urn.split("::", 3)[-1]


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
        created=str(row.get("created") or ""),
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
    shown = place.files.shown(state_name(place))
    whole = newest_whole(place)
    return Diagnostic(
        code="GP-CLOUD-013",
        address=shown,
        summary=f"the state of the stack {place.name} is broken: {why}",
        detail="nothing was changed; the resources in the account are as they were",
        hint="put the newest whole copy back, then run again: "
        + shlex.join(("gpuprov", "state", "restore", whole.rpartition("/")[2]))
        if whole
        else "put a copy of your own back; without one, find the stack's resources by their tag gpuprov:spec",
    )


def newest_whole(place: StackPlace) -> str | None:
    """The name of the newest copy of the state that can be read: the engine's own, or ours."""
    files = place.files
    names = [f"{state_name(place)}.bak", *files.names(own_backups(place)), *files.names(engine_backups(place))]
    times = {name: when for name in names if (when := files.changed(name)) is not None}
    for name in sorted(times, key=lambda one: times[one], reverse=True):
        try:
            parse_checkpoint((files.read(name) or b"").decode())
        except (OSError, ValueError):
            continue
        return name
    return None
