"""The base images of cloud pools: which a spec needs, and which a new lock keeps of an earlier one."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gpuprov.lock.architecture import pool_architecture
from gpuprov.lock.make import ALL
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.spec.base_image import base_of
from gpuprov.spec.types import Spec

IMAGE: Final = "image"
"""The word of `lock --upgrade` for all base images; no package has this name in a lock of ours."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class ImageNeed:
    """One base image that a lock must hold."""

    os: str
    arch: str
    region: str
    origin: str = ""
    """Where the spec has it from, in words; empty for the OS vendor's own."""

    def __str__(self) -> str:
        """In words."""
        return f"{self.os} {self.arch} in {self.region}" + (f" ({self.origin})" if self.origin else "")


def image_needs(spec: Spec) -> tuple[ImageNeed, ...]:
    """The base images that a spec's cloud pools need, in order; none without a cloud target."""
    if spec.cloud is None:
        return ()
    systems = {
        (pool.os, pool_architecture(spec, pool))
        for pool in spec.pools.values()
        if pool.cloud is not None and pool.cloud.starts
    }
    bases = spec.cloud.image.bases
    return tuple(
        ImageNeed(os=os, arch=arch, region=spec.cloud.region, origin=str(base_of(bases, os, arch) or ""))
        for os, arch in sorted(systems)
    )


def need_of(image: LockedImage) -> ImageNeed:
    """The need that an image answers."""
    return ImageNeed(os=image.os, arch=image.arch, region=image.region, origin=image.origin)


def images_by_need(images: Iterable[LockedImage]) -> Mapping[ImageNeed, LockedImage]:
    """Images by the need that each answers."""
    return {need_of(image): image for image in images}


def kept_images(
    previous: Lock | None, needs: Iterable[ImageNeed], upgrade: Collection[str]
) -> Mapping[ImageNeed, LockedImage]:
    """The images of an earlier lock that a new one keeps: an id moves only when it is told to.

    Args:
        previous: the earlier lock.
        needs: what is needed now.
        upgrade: names that may move: ALL, IMAGE, or an operating system such as `debian-12`.
    """
    before = images_by_need(previous.images) if previous is not None else {}
    return {need: before[need] for need in needs if need in before and not {ALL, IMAGE, need.os} & set(upgrade)}
