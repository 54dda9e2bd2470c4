"""An instance's real half as a node: its link, its disk, its metadata, its power."""

import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gpuprov.lab.aws import metadata_file, network, nodes
from gpuprov.lab.aws.images import Layers
from gpuprov.lab.aws.machine import Launch
from gpuprov.lab.aws.metadata_file import InstanceMetadata
from gpuprov.lab.command import failure, run
from gpuprov.lab.description import LabDescription
from gpuprov.lab.names import LabNames
from gpuprov.lab.vendor.hardware import hardware_files
from gpuprov.model.diagnostic import GpuprovError

_MACHINE_ID = "etc/machine-id"
_BOOT_SECONDS = 120.0
_SHUTDOWN_SECONDS = 60.0
_POLL = 0.05
_REMOVALS = 5
_ASK_SECONDS = 5.0
_POWER_OFF = signal.SIGRTMIN + 4
_REBOOT = signal.SIGRTMIN + 5
"""What systemd as an init takes as these requests, bus or no bus (systemd(1), "Signals")."""
_SSH = ":0016"
"""Port 22 as /proc/net/tcp writes it."""
_LISTEN = "0A"


class NodeMachine:
    """An instance that is a real system.

    Args:
        lab: the lab.
        instance_id: the instance.
        folder: where the person's files are.
    """

    watched = True

    def __init__(self, lab: LabDescription, instance_id: str, folder: Path) -> None:
        self._lab = lab
        self._id = instance_id
        self._node = nodes.cloud_node(lab, instance_id, folder)
        self._metadata: InstanceMetadata | None = None

    @property
    def folder(self) -> Path:
        """The folder with its disk."""
        return LabNames(self._lab.id).node_folder(self._id)

    def make(self, launch: Launch) -> None:
        """Make link, metadata and disk."""
        told = launch.metadata
        network.make_instance_link(self._lab, told.vpc_id, self._id, told.private_address, told.public_address)
        self._tell(told)
        files = {**hardware_files(launch.gpu), **kept_machine_id(launch.layers)}
        nodes.make_instance_disk(self._lab, self._id, launch.layers.disk, files)
        if launch.layers.docker is not None:
            place = self.folder / "docker"
            shutil.rmtree(place, ignore_errors=True)
            run(["cp", "--archive", str(launch.layers.docker), str(place)], timeout=600)

    def describe(self, launch: Launch) -> None:
        """Write its metadata again, and change its public address where that is another."""
        self._tell(launch.metadata)
        network.set_public_address(self._lab, self._id, launch.metadata.public_address)

    def plug(self, devices: Mapping[str, str]) -> None:
        """Write down its devices for the next boot."""
        nodes.set_devices(self._lab, self._id, devices)

    def start(self) -> None:
        """Switch it on and wait until its init runs.

        Raises:
            GpuprovError: it does not come.
        """
        self._node.start()
        deadline = time.monotonic() + _BOOT_SECONDS
        while self._node.leader() is None:
            if time.monotonic() > deadline:
                raise failure(
                    f"the instance {self._id} does not boot", detail=self.console()[-2000:].decode(errors="replace")
                )
            time.sleep(_POLL)

    def stop(self) -> None:
        """Shut it down in order; after a minute its power is cut."""
        self._ask_until(_POWER_OFF, lambda: self._node.supervisor() is None)
        self.cut()

    def cut(self) -> None:
        """Cut its power."""
        self._node.power_off()

    def reboot(self) -> None:
        """Have it boot again; one that does not within a minute is switched off and on."""
        before = self._node.leader()
        self._ask_until(_REBOOT, lambda: self._node.leader() != before)
        if self._node.leader() == before:
            self.cut()
            self.start()

    def boot(self) -> int | None:
        """The process id of its init on this machine."""
        return self._node.leader()

    def powered(self) -> bool:
        """Whether somebody would boot it again."""
        return self._node.supervisor() is not None

    def ready(self) -> bool:
        """Whether it admits logins and its sshd listens; seen from the machine, past its security groups."""
        leader = self._node.leader()
        if leader is None or Path(f"/proc/{leader}/root/run/nologin").exists():
            return False
        return any(listens(Path(f"/proc/{leader}/net/{table}")) for table in ("tcp", "tcp6"))

    def run(self, argv: Sequence[str]) -> None:
        """Run a command inside.

        Raises:
            GpuprovError: it is off, or the command failed.
        """
        done = self._node.exec(argv)
        if done.status:
            raise failure(f"{argv[0]} inside {self._id} ended with status {done.status}", detail=done.stderr)

    def console(self) -> bytes:
        """All of its console."""
        return self._node.console.read_bytes() if self._node.console.exists() else b""

    def remove(self) -> None:
        """Remove disk, metadata and link.

        Raises:
            GpuprovError: something resists for seconds; a disk can be busy for a moment after a power cut.
        """
        for last in range(_REMOVALS, 0, -1):
            try:
                nodes.remove_instance(self._lab, self._id)
                break
            except GpuprovError:
                if last == 1:
                    raise
                time.sleep(1)
        if self._metadata is not None:
            metadata_file.remove_metadata(self._lab, self._metadata)
        network.remove_instance_link(self._lab, self._id)

    def _tell(self, metadata: InstanceMetadata) -> None:
        """Write what its metadata service answers."""
        metadata_file.write_metadata(self._lab, metadata)
        self._metadata = metadata

    def _ask_until(self, request: int, done: Callable[[], bool]) -> None:
        """Ask its systemd for something, again and again: early in a boot it does not listen yet."""
        deadline = time.monotonic() + _SHUTDOWN_SECONDS
        asked = 0.0
        while not done() and time.monotonic() < deadline:
            leader = self._node.leader()
            if leader is not None and time.monotonic() > asked + _ASK_SECONDS:
                asked = time.monotonic()
                with suppress(ProcessLookupError):
                    os.kill(leader, request)
            time.sleep(_POLL)


def listens(table: Path) -> bool:
    """Whether a table of sockets (/proc/PID/net/tcp) has one that listens on port 22."""
    try:
        rows = [line.split() for line in table.read_text(encoding="ascii").splitlines()[1:]]
    except OSError:
        return False
    return any(row[1].endswith(_SSH) and row[3] == _LISTEN for row in rows)


def kept_machine_id(layers: Layers) -> dict[str, tuple[bytes, int]]:
    """Return the machine id that an image of the lab carries, as EC2 keeps it on the disk; nothing for a base image.

    Where the image's disk has none (a whiteout, or an empty file), it is empty, and the system makes its own at boot.
    """
    for layer in layers.disk[:-1]:
        place = layer / _MACHINE_ID
        if not place.exists() and not place.is_symlink():
            continue
        content = place.read_bytes() if stat.S_ISREG(place.lstat().st_mode) else b""
        return {f"/{_MACHINE_ID}": (content, 0o444)}
    return {}
