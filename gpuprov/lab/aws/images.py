"""Machine images: the disk of an instance, kept as layers, and the vendor's base under them.

An image that was made here is a copy of the upper layer of its instance's disk, as it is: EC2 copies a disk and knows
nothing of what is on it. A layer goes when no image, no snapshot and no instance needs it any more.
"""

import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from gpuprov.lab.command import run
from gpuprov.model.diagnostic import GpuprovError

_COPY_SECONDS = 600.0
_COPY_TRIES = 3
"""A file can vanish while the disk of a running instance is copied; then once more."""
_BASE_GIB = 8
"""The size of the root volume of Debian's images (describe-images of owner 136693071363, seen 2026-11)."""
_NAME = re.compile(r"(?P<os>[a-z]+-[0-9.]+)-amd64-(?P<day>[0-9]{8})-(?P<build>[0-9]+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Layers:
    """What a disk stands on."""

    disk: tuple[Path, ...]
    """Lower layers of the root, the topmost first."""
    docker: Path | None = None
    """What was in /var/lib/docker, which is no part of the overlay."""


@dataclass(slots=True)
class ImageStore:
    """The images of a lab.

    Args:
        folder: where the layers of images made here are.
        base: returns the base system of an OS id, building it when it is not there.
    """

    folder: Path
    base: Callable[[str], Path]
    _layers: dict[str, Layers] = field(default_factory=dict)
    """Image id -> its layers."""
    _snapshots: dict[str, str] = field(default_factory=dict)
    """Snapshot id -> the image it was made with."""

    def add_base(self, image_id: str, os: str) -> None:
        """Know the vendor's image of an OS."""
        self._layers[image_id] = Layers(disk=(self.base(os),))

    def layers(self, image_id: str) -> Layers:
        """Return what an instance of an image stands on.

        Raises:
            KeyError: there is no such image.
        """
        return self._layers[image_id]

    def reserve(self, image_id: str, snapshot_id: str, under: Layers) -> None:
        """Know an image whose disk is still to be copied, so that nobody takes its folder for a leftover.

        Args:
            image_id: the image.
            snapshot_id: its snapshot in the account.
            under: what the disk of its instance stands on.
        """
        place = self.folder / image_id
        self._layers[image_id] = Layers(disk=(place / "upper", *under.disk), docker=place / "docker")
        self._snapshots[snapshot_id] = image_id

    def fill(self, image_id: str, node: Path) -> None:
        """Copy a disk into a reserved image.

        Args:
            image_id: the image.
            node: the folder of the node: `upper` and `docker` are copied.

        Raises:
            GpuprovError: it cannot be copied; nothing of it is left.
        """
        place = self.folder / image_id
        place.mkdir(parents=True)
        try:
            for part in ("upper", "docker"):
                _copy(node / part, place / part)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise

    def collect(self, *, images: Iterable[str], snapshots: Iterable[str], disks: Iterable[Layers]) -> tuple[str, ...]:
        """Remove the layers that nothing needs any more; returns the ids of the images they were of.

        Args:
            images: ids of the images that are registered.
            snapshots: ids of the snapshots that exist.
            disks: what the instances stand on.
        """
        existing = set(snapshots)
        kept = set(images) | {image for snapshot, image in self._snapshots.items() if snapshot in existing}
        self._snapshots = {s: image for s, image in self._snapshots.items() if s in existing}
        self._layers = {image: layers for image, layers in self._layers.items() if image in kept}
        needed = {layer for layers in (*self._layers.values(), *disks) for layer in (*layers.disk, layers.docker)}
        gone = []
        for place in sorted(self.folder.iterdir()) if self.folder.exists() else ():
            if place.name not in self._layers and not needed & {place / "upper", place / "docker"}:
                shutil.rmtree(place)
                gone.append(place.name)
        return tuple(gone)


def os_of(name: str) -> str:
    """Return the OS id in the name of a vendor's image.

    Raises:
        ValueError: the name is not of the form.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name!r} is no name of a base image: debian-12-amd64-YYYYMMDD-NNNN")
    return found["os"]


def next_name(name: str) -> str:
    """Return the name of the image that the vendor publishes a week after this one."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name!r} is no name of a base image: debian-12-amd64-YYYYMMDD-NNNN")
    day = datetime.strptime(found["day"], "%Y%m%d").replace(tzinfo=UTC).date() + timedelta(days=7)
    return f"{found['os']}-amd64-{day:%Y%m%d}-{int(found['build']) + 7}"


def published(name: str) -> datetime:
    """Return when an image of this name was published: noon of its day."""
    found = _NAME.fullmatch(name)
    day = date(2026, 1, 1) if found is None else datetime.strptime(found["day"], "%Y%m%d").replace(tzinfo=UTC).date()
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC).replace(tzinfo=None)


def register_base(backend: Any, *, image_id: str, name: str, owner: str) -> Any:
    """Write a vendor's image into the account's memory and return it."""
    from moto.ec2.models.amis import Ami  # noqa: PLC0415 (moto reads its settings when it is imported)

    image = Ami(
        backend,
        image_id,
        name=name,
        description=name.replace("-", " "),
        owner_id=owner,
        public=True,
        virtualization_type="hvm",
        architecture="x86_64",
        creation_date=published(name),
        image_location=f"{owner}/{name}",
        hypervisor="xen",
        root_device_type="ebs",
        root_device_name="/dev/xvda",
        region_name=f"{backend.region_name}a",
    )
    image.lab_root_gib = image.ebs_snapshot.volume.size = _BASE_GIB
    backend.amis[image_id] = image
    return image


def _copy(source: Path, target: Path) -> None:
    """Copy a folder with all that a file system knows of its files (owners, times, holes, overlayfs's marks)."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for last in range(1, _COPY_TRIES + 1):
        shutil.rmtree(target, ignore_errors=True)
        try:
            run(["cp", "--archive", "--sparse=auto", str(source), str(target)], timeout=_COPY_SECONDS)
        except GpuprovError:
            if last == _COPY_TRIES:
                raise
        else:
            return
