"""What the account does with the real half of an instance: a node, or nothing where nodes are switched off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gpuprov.lab.aws.images import Layers
from gpuprov.lab.aws.metadata_file import InstanceMetadata
from gpuprov.lab.description import GpuDescription


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """All that an instance is started with, and tells about itself by its metadata."""

    layers: Layers
    """What its disk stands on."""
    gpu: GpuDescription | None
    metadata: InstanceMetadata
    """What its metadata service answers; its addresses too."""


class Machine(Protocol):
    """The real half of an instance."""

    @property
    def watched(self) -> bool:
        """Whether it can end or boot again by itself, so that somebody has to look."""
        ...

    @property
    def folder(self) -> Path:
        """The folder with its disk: `upper` and `docker`."""
        ...

    def make(self, launch: Launch) -> None:
        """Make its link and its disk; it is off."""
        ...

    def describe(self, launch: Launch) -> None:
        """Let its metadata service answer this from now on, and give it this public address."""
        ...

    def plug(self, devices: Mapping[str, str]) -> None:
        """Say which devices of the machine it has from its next boot on: device -> name inside."""
        ...

    def start(self) -> None:
        """Switch it on; returns when its init runs."""
        ...

    def stop(self) -> None:
        """Shut it down in order; cut its power when it takes too long."""
        ...

    def cut(self) -> None:
        """Cut its power."""
        ...

    def reboot(self) -> None:
        """Have it boot again, in order; returns when that has begun."""
        ...

    def boot(self) -> int | None:
        """Return what is another number for each boot; None while it is off or between two boots."""
        ...

    def powered(self) -> bool:
        """Whether it is on, or between two boots."""
        ...

    def ready(self) -> bool:
        """Whether its system has come so far that a login is admitted."""
        ...

    def run(self, argv: Sequence[str]) -> None:
        """Run a command inside, as root, without a login."""
        ...

    def console(self) -> bytes:
        """Return all that its console showed, over all its boots."""
        ...

    def remove(self) -> None:
        """Remove disk, link and metadata; it must be off."""
        ...


class NoMachine:
    """An instance that exists in the API only, for tests with hundreds of them."""

    watched = False
    folder = Path("/nonexistent")

    def __init__(self) -> None:
        self._on = False

    def make(self, launch: Launch) -> None:
        """Nothing to make."""

    def describe(self, launch: Launch) -> None:
        """Nobody asks."""

    def plug(self, devices: Mapping[str, str]) -> None:
        """Nobody mounts."""

    def start(self) -> None:
        """It is on at once."""
        self._on = True

    def stop(self) -> None:
        """It is off at once."""
        self._on = False

    def cut(self) -> None:
        """It is off at once."""
        self._on = False

    def reboot(self) -> None:
        """Nothing boots."""

    def boot(self) -> int | None:
        """One boot for ever."""
        return 1 if self._on else None

    def powered(self) -> bool:
        """As it was switched."""
        return self._on

    def ready(self) -> bool:
        """It is ready when it is on."""
        return self._on

    def run(self, argv: Sequence[str]) -> None:
        """Nothing runs."""

    def console(self) -> bytes:
        """It has none."""
        return b""

    def remove(self) -> None:
        """Nothing to remove."""
