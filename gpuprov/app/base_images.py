"""The base images of a lock: kept from the lock before, or looked up in the account of the spec."""

import os
from collections.abc import Callable, Sequence

from gpuprov.lock.images import ImageNeed, image_needs, kept_images
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.model.progress import Progress, Report
from gpuprov.spec.cloud import CloudSpec
from gpuprov.spec.types import Spec

FindImages = Callable[[CloudSpec, Sequence[ImageNeed]], tuple[LockedImage, ...]]
"""Looks base images up: the target and what is needed, to one image for each need, in order."""


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
