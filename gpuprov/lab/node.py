"""One node: how it is started, how it is entered without ssh, how its power is cut."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from gpuprov.lab import cgroup
from gpuprov.lab.command import failure
from gpuprov.lab.description import LabDescription, NodeDescription
from gpuprov.lab.names import NETNS_FOLDER, LabNames
from gpuprov.model.diagnostic import GpuprovError

DEVICES = "devices.json"
"""The file in a node's folder that names its block devices: device of the machine -> its name in the node."""
REBOOT_STATUS = 133
"""What systemd-nspawn ends with when the node asked for a reboot (tried 2026-11-30)."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CHILD = ("sh", "-c", '"$@"; exit $?', "sh")
"""Makes the program a child, and thereby a process of the node. nsenter can do so itself, but stops when its child is
stopped: systemd's shutdown stops all processes for a moment, nsenter would never go on, and the node waits for it."""
_INIT_CGROUP = "payload/init.scope"
"""Where, in a node's cgroup, nspawn and systemd put the node's init."""
_POLL = 0.05
_DEATH_SECONDS = 15.0
"""How long a node's supervisor may be missing: its own start takes a moment."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """What a program inside a node did."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """The way into one node of a lab.

    Attributes:
        lab: the lab's description.
        description: the node's own.
        folder: where the person's files are (ssh_config).
    """

    lab: LabDescription
    description: NodeDescription
    folder: Path

    @property
    def names(self) -> LabNames:
        """The names of the lab's things."""
        return LabNames(self.lab.id)

    @property
    def console(self) -> Path:
        """The file with everything that the node's console showed, over all its boots."""
        return self.names.node_folder(self.description.name) / "console.log"

    def leader(self) -> int | None:
        """Return the process id of the node's init on this machine; None when the node is off."""
        return leader_of(self.names, self.description.name)

    def exec(self, argv: Sequence[str], *, timeout: float = 60, stdin: str = "") -> Execution:
        """Run a program as root inside the node, by its namespaces, without ssh.

        Args:
            argv: program and arguments.
            timeout: seconds.
            stdin: text for its standard input.

        Raises:
            GpuprovError: the node is off, or the program took too long.
        """
        leader = self.leader()
        if leader is None:
            raise self._failure("the node is off")
        # Root and working folder too: entering the mount namespace alone would keep the machine's.
        enter = ["nsenter", "-t", str(leader), "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "--no-fork"]
        clock = ["-T"] if Path("/proc/self/ns/time").exists() else []
        clean = ["env", "-i", f"PATH={_PATH}", "HOME=/root", "LC_ALL=C.UTF-8"]
        try:
            done = subprocess.run(
                [*enter, *clock, "--", *clean, *_CHILD, *argv],
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self._failure(f"{argv[0]} did not end within {timeout:.0f} s") from error
        return Execution(status=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def boot_id(self) -> str:
        """Return the id of the node's present boot.

        Raises:
            GpuprovError: the node is off, or just going down or coming up.
        """
        done = self.exec(["cat", "/proc/sys/kernel/random/boot_id"])
        if done.status or not done.stdout.strip():
            raise self._failure("the node is between two boots", detail=done.stderr)
        return done.stdout.strip()

    def wait_boot(self, before: str, *, timeout: float = 120) -> None:
        """Wait until the node runs another boot than this one, and lets a person in.

        Args:
            before: the id of the boot that must be over.
            timeout: seconds.

        Raises:
            GpuprovError: it does not come in time.
        """
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self._present_boot() not in (None, before):
                self.wait_ssh(timeout=deadline - time.monotonic())
                return
            time.sleep(_POLL)
        raise self._failure(f"no new boot within {timeout:.0f} s", detail=self._console_end())

    def _present_boot(self) -> str | None:
        """The id of the present boot; None between two boots."""
        try:
            return self.boot_id()
        except GpuprovError:
            return None

    def power_off(self) -> None:
        """Cut the power: every process of the node ends at once, nothing is written any more."""
        cgroup.kill(self.names.node_cgroup(self.description.name))
        deadline = time.monotonic() + 10
        while self.supervisor() is not None:
            if time.monotonic() > deadline:
                raise self._failure("the node's supervisor does not end")
            time.sleep(_POLL)

    def start(self) -> None:
        """Switch the power on; nothing happens when the node runs already."""
        if self.supervisor() is not None:
            return
        name = self.description.name
        start_service(
            [sys.executable, "-m", "gpuprov.lab.supervise", self.lab.id, name],
            log=self.names.node_folder(name) / "supervisor.log",
        )

    def supervisor(self) -> int | None:
        """Return the process id of the node's supervisor; None when it has ended."""
        wanted = ["gpuprov.lab.supervise", self.lab.id, self.description.name]
        for process in cgroup.members(self.names.supervisors_cgroup):
            if command_line(process)[-3:] == wanted:
                return process
        return None

    def ssh_answers(self) -> bool:
        """Whether something greets as sshd on the node's port 22."""
        try:
            with socket.create_connection((self.description.address, 22), timeout=1) as link:
                return link.recv(4) == b"SSH-"
        except OSError:
            return False

    def wait_ssh(self, *, timeout: float = 120) -> None:
        """Wait until a login over ssh works, with the node's known key.

        Args:
            timeout: seconds.

        Raises:
            GpuprovError: it does not in time; the detail has ssh's last words and the console's end.
        """
        alive = time.monotonic()
        deadline = alive + timeout
        said = "the node does not admit users, or port 22 does not answer"
        login = ["ssh", "-F", str(self.folder / "ssh_config"), "-o", "ConnectTimeout=5", self.description.name, "true"]
        while time.monotonic() < deadline:
            if self.supervisor() is not None:
                alive = time.monotonic()
            elif time.monotonic() > alive + _DEATH_SECONDS:
                raise self._failure("the node ended while it booted", detail=self._console_end())
            if self._admits_users() and self.ssh_answers():
                done = subprocess.run(
                    login, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False
                )
                if done.returncode == 0:
                    return
                said = done.stderr.strip()
            time.sleep(_POLL)
        raise self._failure(f"no login over ssh within {timeout:.0f} s", detail=f"{said}\n{self._console_end()}")

    def _admits_users(self) -> bool:
        """Whether the node's boot has come so far that a login is not turned away."""
        leader = self.leader()
        return leader is not None and not Path(f"/proc/{leader}/root/run/nologin").exists()

    def _console_end(self) -> str:
        """The last lines of the console."""
        if not self.console.exists():
            return "the console is empty"
        return "\n".join(self.console.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])

    def _failure(self, summary: str, *, detail: str = "") -> GpuprovError:
        """An error about this node."""
        return failure(summary, detail=detail, address=f"lab {self.lab.id} node {self.description.name}")


def leader_of(names: LabNames, name: str) -> int | None:
    """Return the process id of a node's init on this machine; None when the node is off."""
    for process in cgroup.members(f"{names.node_cgroup(name)}/{_INIT_CGROUP}"):
        if _process_ids_inside(process)[1:] == [1]:
            return process
    return None


def launch_argv(
    names: LabNames, name: str, *, uptime: int | None, devices: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Return the command that boots a node and ends with it.

    Args:
        names: the lab's names.
        name: the node's.
        uptime: the machine's uptime in seconds, so that the node's clock of this boot starts at zero; None where the
            kernel has no time namespaces.
        devices: block devices of the machine -> their names in the node.
    """
    folder = names.node_folder(name)
    clock = (
        []
        if uptime is None
        else ["unshare", "--time", "--fork", "--boottime", str(-uptime), "--monotonic", str(-uptime)]
    )
    return [
        *clock,
        "systemd-nspawn",
        "--quiet",
        "--boot",
        f"--directory={folder / 'root'}",
        f"--machine={names.machine(name)}",
        f"--hostname={name}",
        f"--network-namespace-path={NETNS_FOLDER / names.node_namespace(name)}",
        # Kept by itself only with nspawn's own private network; Docker and ip need it in ours.
        "--capability=CAP_NET_ADMIN",
        "--register=no",
        "--keep-unit",
        "--resolv-conf=off",
        "--timezone=off",
        "--link-journal=no",
        "--console=read-only",
        "--system-call-filter=@keyring bpf",
        f"--bind={folder / 'docker'}:/var/lib/docker",
        # The machine's own name too: /proc/mounts and UUID= go by it.
        *(f"--bind={own}{other}" for own, inside in devices.items() for other in ("", f":{inside}")),
    ]


def start_service(argv: Sequence[str], *, log: Path) -> None:
    """Start a process of the lab that outlives this one and is no child of it; it joins the lab's cgroup itself."""
    with log.open("ab") as output:
        subprocess.run(
            ["setsid", "--fork", *argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=_service_environment(),
            check=True,
        )


def answers(address: str, port: int) -> bool:
    """Whether something listens at an address."""
    try:
        with socket.create_connection((address, port), timeout=1):
            return True
    except OSError:
        return False


def command_line(process: int) -> list[str]:
    """Return a process's arguments; none when it has gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return []


def _service_environment() -> dict[str, str]:
    """The environment of the lab's processes: where Python finds gpuprov, and nothing of the person's session."""
    found = str(Path(__file__).resolve().parents[2])
    return {"PATH": os.environ.get("PATH", _PATH), "PYTHONPATH": found, "LC_ALL": "C.UTF-8"}


def _process_ids_inside(process: int) -> list[int]:
    """The process's ids in each process namespace, the machine's first; empty when it has gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return [int(number) for line in lines if line.startswith("NSpid:") for number in line.split()[1:]]
