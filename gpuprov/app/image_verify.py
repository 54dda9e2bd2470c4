"""`image verify`: whether images are what their records say; with `boot`, by a host that is started from each."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.cloud_site import cloud_of
from gpuprov.app.image import current_images
from gpuprov.app.image_boot import boot_image
from gpuprov.app.image_shop import cloud_pool
from gpuprov.app.site import Site, open_site
from gpuprov.cloud.account import Account, open_account
from gpuprov.cloud.image_facts import ImageFacts, VerifiedImage, differences
from gpuprov.cloud.images_text import load_images
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Progress, Report


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyRequest:
    """What `image verify` was asked."""

    spec: Path
    pool: str | None = None
    """None: all pools' images."""
    boot: bool = False
    """Whether a host is started from the image that the pool's new hosts start from, and looked at."""
    access: Access = Access()  # noqa: RUF009 - a frozen value


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """What came of it."""

    images: tuple[VerifiedImage, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    """GP-CLOUD-073 for each image that is not what its record says."""


Boot = Callable[[Site, str, Image, Access, Report], tuple[Diagnostic, ...]]
"""Starts a host of a pool from an image and looks at it; gives what could not be removed afterwards."""


def verify_images(request: VerifyRequest, *, report: Report, boot: Boot = boot_image) -> Verified:
    """Hold the images of the list and the account against each other, and against what EC2 says of them.

    Without `boot` nobody looks inside: what an image holds was looked at when it was built, and EC2 lets nobody change
    an image after that; what can change is around it: tags, snapshots, who may use it.

    Raises:
        GpuprovError: GP-SPEC-008 for a pool without hosts in the cloud; with `boot`, GP-CLOUD-018 where no image holds
            what the lock holds now, and what failed on the way; AWS refuses or does not answer.
    """
    site = open_site(request.spec)
    pool = cloud_pool(site, request.pool).name if request.pool is not None or request.boot else None
    account = open_account(cloud_of(site), os.environ)
    report(Progress(phase="images", text="asking the account"))
    found = _look(site, account, pool)
    late: tuple[Diagnostic, ...] = ()
    if request.boot and pool is not None:
        one = _current(pool, found)
        late = boot(site, pool, one.image, request.access, report)
        found = tuple(replace(each, booted=each is one) for each in found)
    told = (*site.warnings, *(_told(one) for one in found if one.problems), *late)
    return Verified(images=found, diagnostics=told)


def _look(site: Site, account: Account, pool: str | None) -> tuple[VerifiedImage, ...]:
    facts = {one.image.id: one for one in account.image_facts(site.spec.name)}
    listed = {image.id: image for image in load_images(site.path) if image.region == account.region}
    current = current_images(site, [one.image for one in facts.values()])
    images = {**listed, **{name: one.image for name, one in facts.items()}}
    return tuple(
        _verified(image, listed.get(image.id), facts.get(image.id), current=image.id in current)
        for image in sorted(images.values(), key=lambda image: (image.made, image.id))
        if pool is None or image.pool == pool
    )


def _verified(image: Image, record: Image | None, facts: ImageFacts | None, *, current: bool) -> VerifiedImage:
    return VerifiedImage(image=image, problems=differences(record, facts), current=current)


def _current(pool: str, found: Sequence[VerifiedImage]) -> VerifiedImage:
    """The one that can be compared with a host: what an image of an earlier lock held stands nowhere in full."""
    for one in found:
        if one.current:
            return one
    raise GpuprovError(
        Diagnostic(
            code="GP-CLOUD-018",
            address=f"image.{pool}",
            summary=f"no image of the pool {pool} holds what the lock holds now, so none can be looked into",
            hint=f"`gpuprov image build {pool}` bakes one, and checks it",
        )
    )


def _told(one: VerifiedImage) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-073",
        address=f"image.{one.image.pool}/{one.image.id}",
        summary=f"the image {one.image.id} is not what its record says",
        detail="\n".join(one.problems),
        hint="no host should start from it: `gpuprov image build --again` bakes another one, and"
        " `gpuprov image prune` takes unused ones away",
        severity=Severity.ERROR,
    )
