"""What the rooms above know of the cloud, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from gpuprov.cloud.files import LocalFiles, StateFiles
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.resource import ResourceChange
from gpuprov.spec.cloud_state import PASSPHRASE

Document = Mapping[str, object]
"""The stack document: plain JSON with every decision made; `stacks/aws` turns it into resources."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StackPlace:
    """Which stack, and where its state and secrets are."""

    name: str
    """`train` for the spec's hosts, `train-image-POOL` for a builder."""
    folder: Path
    """`.gpuprov/cloud` beside the spec: state, backups, engine output, passphrase (mode 0600), known_hosts.

    Where the state is in a bucket, its backups are there too."""
    environment: Mapping[str, str]
    """What the engine and its plugin get besides this process's own environment: AWS_* of the account."""
    region: str
    bucket: StateFiles | None = None
    """Where the state is kept when it is not in the folder."""
    secrets: str = PASSPHRASE
    """What locks the secrets in the state, as the spec writes it."""

    @property
    def files(self) -> StateFiles:
        """The files of the state."""
        return self.bucket or LocalFiles(self.folder)


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeHost:
    """An instance of the stack, as the engine's outputs name it."""

    name: str
    pool: str
    instance_id: str
    type: str
    image: str
    zone: str
    private_address: str
    public_address: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What the stack holds now."""

    hosts: tuple[MadeHost, ...] = ()
    buckets: Mapping[str, str] = field(default_factory=dict)
    """Storage name -> bucket name."""
    volumes: Mapping[str, str] = field(default_factory=dict)
    """`STORAGE/HOST` -> volume id."""
    shares: Mapping[str, str] = field(default_factory=dict)
    """Storage name -> the DNS name of its file system."""
    resources: int = 0
    """Resources in the state, without the provider and the stack itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied:
    """How an update ended."""

    made: Made
    changed: tuple[ResourceChange, ...]
    unchanged: int
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors translated, with what was made before them in `made`."""


_ASKED_FOR: Final = ("Client.UserInitiated", "User initiated")
"""How EC2 begins the reason of a state that a call of its API brought about: of StopInstances, for one. A shutdown from
inside the system and one by AWS read otherwise (EC2 API Reference, StateReason, read 2026-11-30)."""


class InstanceState(StrEnum):
    """EC2's names of an instance's states."""

    PENDING = "pending"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    SHUTTING_DOWN = "shutting-down"
    TERMINATED = "terminated"


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceHealth:
    """What EC2 says about an instance."""

    id: str
    state: InstanceState
    checks: str
    """ok | initializing | impaired | insufficient-data | not-applicable (the worse of system and instance check)."""
    reason: str = ""
    private_address: str = ""
    public_address: str = ""
    """Another one after each stop and start, without the stack's state knowing; empty while there is none."""
    launched: str = ""
    """UTC time, ISO, of its last start."""

    @property
    def switched_off(self) -> bool:
        """Whether it is off because somebody asked AWS for that, as `gpuprov stop` does; not by itself, nor by AWS."""
        return self.state in {InstanceState.STOPPED, InstanceState.STOPPING} and self.reason.startswith(_ASKED_FOR)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """Capacity that the account has reserved in one zone: a capacity reservation, or a capacity block."""

    id: str
    type: str
    zone: str
    state: str
    """EC2's word: active | scheduled | pending | expired | ..."""
    total: int
    free: int
    kind: str = "default"
    """default | capacity-block."""
    platform: str = "Linux/UNIX"
    tenancy: str = "default"
    begins: str = ""
    """UTC time, ISO; empty where AWS gives none."""
    ends: str = ""
    """UTC time, ISO; empty for one without an end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """One machine image of ours."""

    id: str
    name: str
    pool: str
    os: str
    arch: str
    region: str
    baked: str
    """Digest of the pool's baked part."""
    base: str
    """The base image's id."""
    made: str
    """UTC time, ISO."""
    snapshots: tuple[str, ...] = ()
    checked: bool = False
    """Whether an instance booted from it was probed and held the baked part."""
