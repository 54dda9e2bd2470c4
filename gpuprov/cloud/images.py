"""Which of the baked images fits, which instance runs an older one, and which images may go: pure decisions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gpuprov.cloud.types import Image, Made, MadeHost
from gpuprov.lock.types import LockedImage
from gpuprov.model.diagnostic import Diagnostic, Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageStatus:
    """An image, and what it is good for now."""

    image: Image
    in_account: bool
    """Whether the account has it; the list beside the spec may name one that somebody removed."""
    in_list: bool
    """Whether the list names it; the account may hold one of an image build that was killed."""
    current: bool
    """Whether new hosts of its pool start from it."""
    used: bool
    """Whether an instance runs from it."""


def statuses(
    listed: Sequence[Image], there: Sequence[Image], *, current: Collection[str], used: Collection[str]
) -> tuple[ImageStatus, ...]:
    """Hold the list against the account, oldest image first.

    Args:
        listed: images of the list beside the spec.
        there: images of the account; where both know one, the account's word counts.
        current: ids of the images that new hosts start from.
        used: ids of the images that instances run from.
    """
    known, names = {image.id: image for image in (*listed, *there)}, {image.id for image in listed}
    present = {image.id for image in there}
    return tuple(
        ImageStatus(
            image=image,
            in_account=image.id in present,
            in_list=image.id in names,
            current=image.id in current and image.id in present,
            used=image.id in used,
        )
        for image in sorted(known.values(), key=_age)
    )


def fitting(images: Sequence[Image], pool: str, baked_digest: str, region: str) -> Image | None:
    """The newest checked image of a pool that holds exactly its baked part; None when there is none."""
    found = [
        image
        for image in images
        if image.checked and (image.pool, image.baked, image.region) == (pool, baked_digest, region)
    ]
    return max(found, key=_age) if found else None


def newest_on(images: Sequence[Image], pool: str, base: LockedImage) -> Image | None:
    """The newest checked image of a pool, of whatever software, that stands on a base; None when there is none."""
    asked = (pool, base.id, base.region, base.os, base.arch)
    found = [i for i in images if i.checked and (i.pool, i.base, i.region, i.os, i.arch) == asked]
    return max(found, key=_age) if found else None


def outdated(
    made: Made, images: Sequence[Image], baked: Mapping[str, str], bases: Mapping[str, LockedImage]
) -> tuple[Diagnostic, ...]:
    """Notes about instances that run from an older image than a new host of their pool would start from.

    An instance keeps its image for life: these are notes, and nothing is changed by them.

    Args:
        made: the stack's instances.
        images: those of ours, of the instances' region.
        baked: pool -> digest of its baked part now; a pool that bakes no images is left out.
        bases: pool -> base image that the lock names.

    Returns:
        GP-CLOUD-020, at most one for an instance.
    """
    notes = (_note(host, images, baked.get(host.pool), bases.get(host.pool)) for host in made.hosts)
    return tuple(note for note in notes if note is not None)


def prunable(images: Sequence[Image], *, keep: int, used: Collection[str], settled: str) -> tuple[Image, ...]:
    """The images that may be removed, oldest first.

    Args:
        images: all of ours, of one region.
        keep: how many checked images of each pool stay, the newest.
        used: ids of images that an instance runs from; they stay, and do not count for `keep`.
        settled: UTC time, ISO; an unchecked image that was made later may be one that a build, here or elsewhere, is
            just about to check, and stays.

    Returns:
        Older unchecked ones too: what an image build that was killed left behind.
    """
    free = [image for image in images if image.id not in used and (image.checked or image.made < settled)]
    kept: set[str] = set()
    for pool in {image.pool for image in free}:
        checked = sorted((i for i in free if i.pool == pool and i.checked), key=_age)
        kept |= {image.id for image in checked[max(len(checked) - keep, 0) :]}
    return tuple(sorted((image for image in free if image.id not in kept), key=_age))


def _age(image: Image) -> tuple[str, str]:
    return (image.made, image.id)


def _note(host: MadeHost, images: Sequence[Image], baked: str | None, base: LockedImage | None) -> Diagnostic | None:
    own = next((image for image in images if image.id == host.image), None)
    newest = fitting(images, host.pool, baked, _region(host)) if baked is not None else None
    newer = newest is not None and newest.id != host.image and (own is None or _age(own) < _age(newest))
    started_from = own.base if own is not None else host.image
    reasons = []
    if newest is not None and newer:
        reasons.append(f"a new host would start from {newest.id} (baked {newest.made})")
    if base is not None and started_from != base.id:
        reasons.append(f"its base image is {started_from}, the lock names {base.id} ({base.name})")
    if not reasons:
        return None
    anew = f"it goes on as it is; `gpuprov up --target cloud --replace {host.name}` makes it anew"
    # Where images are baked, a new host starts from the newest of them, whatever base that stands on.
    stale = newest is not None and base is not None and newest.base != base.id
    return Diagnostic(
        code="GP-CLOUD-020",
        address=host.name,
        summary=f"the instance runs from the older image {host.image}",
        detail="\n".join(reasons),
        hint=f"{anew}, after `gpuprov image build {host.pool}` has baked an image on the newer base" if stale else anew,
        severity=Severity.NOTE,
    )


def _region(host: MadeHost) -> str:
    return host.zone[:-1]
