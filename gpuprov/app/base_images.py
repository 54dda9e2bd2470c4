"""The base images of a lock: kept from the lock before, or looked up in the account of the spec."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpuprov.lock.images import IMAGE, ImageNeed, image_needs, images_by_need, kept_images
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.lock.verdict import Newer, Stale, StaleReason
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report
from gpuprov.spec.cloud import CloudSpec
from gpuprov.spec.types import Spec

FindImages = Callable[[CloudSpec, Sequence[ImageNeed]], tuple[LockedImage, ...]]
"""Looks base images up: the target and what is needed, to one image for each need, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """What the account says of a locked base image."""

    there: bool
    """Whether hosts can still be started from it."""
    newest: LockedImage | None
    """What a lock would take now; None where there is nothing."""


AskImages = Callable[[CloudSpec, Sequence[LockedImage]], tuple[Offer, ...]]
"""Asks about locked images: the target and the images, to one answer for each, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """Whether a lock's base images are still published."""

    reasons: tuple[StaleReason, ...] = ()
    newer: tuple[Newer, ...] = ()
    unknown: tuple[Diagnostic, ...] = ()
    """Why that could not be asked (GP-CLOUD-071)."""


def base_images(
    spec: Spec, previous: Lock | None, *, upgrade: frozenset[str], report: Report, find: FindImages
) -> tuple[LockedImage, ...]:
    """The base images that a spec's lock holds; no account is asked when the lock before has them all.

    Args:
        spec: the spec.
        previous: the lock before, whose ids stay.
        upgrade: what may move: `*`, or operating systems.
        report: where progress goes.
        find: looks up what is missing.

    Raises:
        GpuprovError: GP-CLOUD codes: no credentials, another account, no such image.
    """
    needs = image_needs(spec)
    kept = kept_images(previous, needs, upgrade)
    missing = [need for need in needs if need not in kept]
    if spec.cloud is None or not missing:
        return tuple(kept.values())
    report(Progress(phase="images", text=", ".join(str(need) for need in missing)))
    return (*kept.values(), *find(spec.cloud, missing))


def find_in_account(cloud: CloudSpec, needs: Sequence[ImageNeed]) -> tuple[LockedImage, ...]:
    """Ask the spec's account for the newest base images, with the caller's own credentials."""
    from gpuprov.cloud.account import open_account  # noqa: PLC0415 - boto3 takes a while, and most locks need none

    account = open_account(cloud, os.environ)
    return tuple(account.find_base_image(need.os, need.arch) for need in needs)


def published(spec: Spec, lock: Lock, *, report: Report, ask: AskImages) -> Published:
    """Look whether hosts can still be started from the lock's base images, and whether there are newer ones.

    Args:
        spec: the spec.
        lock: its lock; images that the spec no longer asks for are passed over, they are a reason by themselves.
        report: where progress goes.
        ask: asks the account.
    """
    locked = images_by_need(lock.images)
    images = [locked[need] for need in image_needs(spec) if need in locked]
    if spec.cloud is None or not images:
        return Published()
    report(Progress(phase="images", text=", ".join(image.id for image in images)))
    try:
        offers = ask(spec.cloud, images)
    except GpuprovError as error:
        return Published(unknown=(_not_asked(images, error),))
    pairs = tuple(zip(images, offers, strict=True))
    return Published(
        reasons=tuple(_gone(image, offer) for image, offer in pairs if not offer.there),
        newer=tuple(
            Newer(pool=pool, name=IMAGE, locked=_words(image), offered=_words(offer.newest))
            for image, offer in pairs
            if offer.there and offer.newest is not None and offer.newest.id != image.id
            for pool in [next(n for n, p in lock.pools.items() if (p.os, p.arch) == (image.os, image.arch))]
        ),
    )


def ask_account(cloud: CloudSpec, images: Sequence[LockedImage]) -> tuple[Offer, ...]:
    """Ask the spec's account about base images, with the caller's own credentials."""
    from gpuprov.cloud.account import open_account  # noqa: PLC0415 - as above

    account = open_account(cloud, os.environ)

    def newest(image: LockedImage) -> LockedImage | None:
        try:
            return account.find_base_image(image.os, image.arch)
        except GpuprovError as error:
            if error.diagnostics[0].code != "GP-CLOUD-018":
                raise
            return None

    return tuple(Offer(there=account.image_exists(image.id), newest=newest(image)) for image in images)


def _gone(image: LockedImage, offer: Offer) -> StaleReason:
    return StaleReason(
        kind=Stale.IMAGE,
        address=f"images.{image.os}",
        locked=f"{_words(image)} in {image.region}",
        found=f"{_words(offer.newest)} there" if offer.newest is not None else "no such image there",
    )


def _words(image: LockedImage) -> str:
    return f"{image.id} ({image.name})" if image.name else image.id


def _not_asked(images: Sequence[LockedImage], error: GpuprovError) -> Diagnostic:
    cause = error.diagnostics[0]
    return Diagnostic(
        code="GP-CLOUD-071",
        address=f"images.{images[0].os}",
        summary="whether the lock's base images are still published could not be asked",
        detail=f"{', '.join(_words(image) for image in images)}\n{cause.code}: {cause.summary}",
        hint="give the account's credentials; `gpuprov lock --frozen` compares with spec and catalog alone",
    )
