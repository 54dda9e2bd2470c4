"""What new instances start from: an image baked for the pool's want where one fits, else the locked base image."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpuprov.app.components import catalog_components
from gpuprov.app.site import Site
from gpuprov.app.targets import CLOUD
from gpuprov.cloud.decide.baked import baked_digest
from gpuprov.cloud.images import fitting, newest_on, outdated
from gpuprov.cloud.images_text import IMAGES_NAME, read_images
from gpuprov.cloud.types import Image, Made
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.spec.cloud import CloudSpec
from gpuprov.store.files import read_text_if_there
from gpuprov.want.pool import pool_want
from gpuprov.want.types import PoolWant


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """What new hosts of a pool start from, and what they must become."""

    want: PoolWant
    base: LockedImage
    baked: Image | None
    """The image that holds the want's packages already, where there is one and the spec allows it."""
    earlier: Image | None = None
    """Without such a one: the pool's image of an earlier lock on the same base; converge brings the rest."""

    @property
    def image(self) -> str:
        """AMI id."""
        start = self.baked or self.earlier or self.base
        return start.id

    @property
    def text(self) -> str:
        """The same for people."""
        if self.baked is not None:
            return f"{self.image} (baked for this want)"
        return f"{self.image} ({'baked for an earlier lock' if self.earlier else self.base.name or self.base.os})"


def listed_images(site: Site) -> tuple[Image, ...]:
    """The images that `image build` wrote into the list beside the spec; none without a list.

    Raises:
        GpuprovError: GP-DOC codes for a list that is broken.
    """
    path = site.path.parent / IMAGES_NAME
    text = read_text_if_there(path)
    return () if text is None else read_images(text, str(path))


def starts(
    site: Site, cloud: CloudSpec, lock: Lock, images: Sequence[Image], exists: Callable[[str], bool]
) -> tuple[dict[str, Start], tuple[Diagnostic, ...]]:
    """Pool -> what its new hosts start from, for each pool with hosts in the cloud; and what is to be told of that.

    Args:
        site: the spec.
        cloud: its cloud target.
        lock: holds the base images.
        images: those of the list.
        exists: whether the account has an image.

    Raises:
        GpuprovError: GP-LOCK-004 when the lock holds no base image for a pool.
    """
    components = catalog_components(site.spec.catalog)
    found: dict[str, Start] = {}
    told: list[Diagnostic] = []
    for pool in site.spec.pools.values():
        if pool.cloud is None or not pool.cloud.starts:
            continue
        want = pool_want(lock, site.spec, pool, CLOUD, components=components)
        base = _base(site, cloud, lock, want)
        usable = images if cloud.image.bake else ()
        baked = fitting(usable, pool.name, baked_digest(want), cloud.region)
        if baked is not None and not exists(baked.id):
            told.append(_gone(baked))
            gone, baked = baked.id, None
            usable = [image for image in usable if image.id != gone]
        earlier = newest_on(usable, pool.name, base) if baked is None else None
        if earlier is not None and exists(earlier.id):
            told.append(_earlier(earlier))
        else:
            earlier = None
        found[pool.name] = Start(want=want, base=base, baked=baked, earlier=earlier)
    return found, tuple(told)


def outdated_hosts(made: Made, images: Sequence[Image], found: Mapping[str, Start]) -> tuple[Diagnostic, ...]:
    """Notes about instances that run from an older image than a new host of their pool would start from."""
    known = Made(hosts=tuple(host for host in made.hosts if host.pool in found))
    baked = {name: baked_digest(start.want) for name, start in found.items() if start.baked is not None}
    return outdated(known, images, baked, {name: start.base for name, start in found.items()})


def ids(found: Mapping[str, Start]) -> dict[str, str]:
    """Pool -> AMI id."""
    return {name: start.image for name, start in found.items()}


def _base(site: Site, cloud: CloudSpec, lock: Lock, want: PoolWant) -> LockedImage:
    for base in lock.images:
        if (base.os, base.arch, base.region) == (want.os, want.arch, cloud.region):
            return base
    raise GpuprovError(
        Diagnostic(
            code="GP-LOCK-004",
            address=f"pools.{want.pool}",
            summary=f"the lock holds no machine image of {want.os} for {want.arch} in {cloud.region}",
            hint=f"run `gpuprov lock -f {site.path}`: it asks AWS for the newest one",
        )
    )


def _earlier(image: Image) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-072",
        address=f"image.{image.pool}/{image.id}",
        summary=f"the software of the pool {image.pool} moved on since its image {image.id} was baked",
        detail=f"baked {image.made}; new hosts start from it, and are brought to the lock as every other host",
        hint=f"`gpuprov image build {image.pool}` bakes what the lock holds now",
        severity=Severity.NOTE,
    )


def _gone(image: Image) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-018",
        address=f"image.{image.pool}/{image.id}",
        summary=f"the image {image.id} is in {IMAGES_NAME} and not in the account; no host starts from it",
        hint="`gpuprov image build` makes another one",
        severity=Severity.WARNING,
    )
