"""The base systems: one debootstrap per OS release, cached, from which every node's disk is an overlay."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpuprov.lab.archive import Archive, read_archive
from gpuprov.lab.command import failure
from gpuprov.model.progress import Progress, Report

RECIPE = 1
"""Raise it when a base must be built anew for a reason that the recipe's other parts do not show."""
PACKAGES = (
    "ca-certificates",
    "curl",
    "dbus",
    "iproute2",
    "iputils-ping",
    "kmod",
    "libpam-systemd",
    "netbase",
    "openssh-server",
    "pciutils",
    "procps",
    "python3",
    "python3-apt",
    "sudo",
    "systemd",
    "systemd-sysv",
)
"""What a server installation has and minbase has not."""
_ISOLATED = ("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child")
"""A namespace of its own for each step: when this process is killed, the step and its mounts are gone with it."""
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}


def cache_folder() -> Path:
    """Return where bases are kept."""
    own = os.environ.get("XDG_CACHE_HOME")
    return (Path(own) if own else Path.home() / ".cache") / "gpuprov" / "lab"


def ensure_base(node_os: str, report: Report) -> Path:
    """Return the base of an OS, building it when the cache does not hold it.

    Args:
        node_os: the OS id, for example "debian-12".
        report: where progress goes; a build takes one to three minutes.

    Raises:
        GpuprovError: it cannot be built; nothing half built is left under the base's name.
    """
    archive = read_archive(node_os)
    place = cache_folder() / f"base-{node_os}-{recipe_digest(archive)}"
    if place.is_dir():
        return place
    with exclusive_build(place):
        if not place.is_dir():
            _build(archive, place, report)
    return place


def recipe_digest(archive: Archive) -> str:
    """Return the short digest of all that decides what is in a base."""
    recipe = [RECIPE, archive.os, archive.codename, archive.suites, archive.options, PACKAGES]
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:12]


def _build(archive: Archive, place: Path, report: Report) -> None:
    """Build a base beside its place and rename it when it is whole."""
    building = place.with_name(f".{place.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    include = f"--include={','.join(PACKAGES)}"
    bootstrap = ["debootstrap", "--variant=minbase", include, archive.codename, str(building), archive.main_uri]
    step = BuildStep(archive=archive, report=report)
    step.run([*_ISOLATED, "--mount-proc", *bootstrap])
    _write(building / "etc/apt/sources.list.d/debian.sources", archive.sources())
    _write(building / "etc/apt/apt.conf.d/90lab", archive.configuration() + 'Acquire::Languages "none";\n')
    (building / "etc/apt/sources.list").unlink(missing_ok=True)
    shutil.copy("/etc/resolv.conf", building / "etc/resolv.conf")
    inside = chroot_argv(building)
    step.run([*inside, "apt-get", "update"])
    step.run([*inside, "apt-get", "--yes", "dist-upgrade"])
    step.run([*inside, "apt-get", "clean"])
    remove_identity(building)
    building.rename(place)


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildStep:
    """Runs the steps of a build."""

    archive: Archive
    report: Report

    def run(self, argv: Sequence[str]) -> None:
        """Run one step and report each of its lines.

        Raises:
            GpuprovError: it failed; the detail holds its last lines.
        """
        tail: deque[str] = deque(maxlen=15)
        with subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=_ENVIRONMENT,
        ) as process:
            for line in process.stdout or ():
                tail.append(line.rstrip())
                self.report(Progress(phase="base", subject=self.archive.os, text=line.strip()))
        if process.returncode:
            raise failure(
                f"the base system {self.archive.os} cannot be built: {argv[-1]} ended with status {process.returncode}",
                detail="\n".join(tail),
                hint="check that apt-get update and apt-get download work on this machine",
            )


def chroot_argv(root: Path) -> list[str]:
    """Return what a program inside a base that is being built is started with."""
    return [*_ISOLATED, f"--mount-proc={root}/proc", "chroot", str(root)]


def remove_identity(root: Path) -> None:
    """Remove what must differ from node to node, or is the machine's own."""
    for key in root.glob("etc/ssh/ssh_host_*"):
        key.unlink()
    for name in ("etc/machine-id", "var/lib/dbus/machine-id", "etc/hostname", "etc/resolv.conf"):
        (root / name).unlink(missing_ok=True)


def _write(place: Path, text: str) -> None:
    """Write one file of the base."""
    place.write_text(text, encoding="utf-8")
    place.chmod(0o644)


@contextmanager
def exclusive_build(place: Path) -> Iterator[None]:
    """Hold a base's lock, so that two labs do not build the same one; the kernel lets go when the process ends."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
