"""`image list` and `image prune`: what was baked, what it is good for, and what may go."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuprov.app.cloud_site import cloud_of
from gpuprov.app.components import catalog_components
from gpuprov.app.site import Site, open_lock, open_site
from gpuprov.cloud.account import Account, open_account
from gpuprov.cloud.decide.baked import baked_digest
from gpuprov.cloud.images import ImageStatus, fitting, newest_on, prunable, statuses
from gpuprov.cloud.images_text import images_path, load_images, save_images
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.progress import Progress, Report
from gpuprov.store.lock import hold_site
from gpuprov.want.pool import pool_want

BUILD_SECONDS: Final = 6 * 3600
"""Seconds after which an unchecked image is nobody's: no build waits that long for its image and its check."""

Ask = Callable[[Sequence[Image], Sequence[str], Sequence[ImageStatus]], bool]
"""Shows the images and lone snapshots that would go, and what stays, and asks; raises GpuprovError when it cannot."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Images:
    """The images of a spec."""

    rows: tuple[ImageStatus, ...]
    path: Path
    """The list beside the spec."""
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Pruned:
    """What `image prune` removed."""

    removed: tuple[Image, ...]
    snapshots: tuple[str, ...]
    """Snapshots without an image, removed too."""
    kept: tuple[ImageStatus, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def list_images(spec: Path, report: Report) -> Images:
    """The images of the list beside the spec and of the account, with what each is good for.

    Raises:
        GpuprovError: the spec, the lock or the list is broken; AWS refuses or does not answer.
    """
    site = open_site(spec)
    account = open_account(cloud_of(site), os.environ)
    report(Progress(phase="images", text="asking the account"))
    rows, _ = _look(site, account)
    return Images(rows=rows, path=images_path(site.path), diagnostics=site.warnings)


def prune_images(spec: Path, *, keep: int, ask: Ask, report: Report) -> Pruned:
    """Remove images that no instance runs from, but for the newest of each pool, with their snapshots.

    Args:
        spec: the spec.
        keep: how many checked images of each pool stay.
        ask: shows what would go, and asks; not called when nothing would.
        report: where progress goes.

    Raises:
        GpuprovError: as `list_images`; what was removed before an error is out of the list.
    """
    site = open_site(spec)
    account = open_account(cloud_of(site), os.environ)
    with hold_site(site.state, ["gpuprov", "image", "prune"]):
        rows, there = _look(site, account)
        settled = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - BUILD_SECONDS))
        going = prunable(there, keep=keep, used={row.image.id for row in rows if row.used}, settled=settled)
        ids = {image.id for image in going}
        kept = tuple(row for row in rows if row.in_account and row.image.id not in ids)
        orphans = account.orphan_snapshots(site.spec.name, settled=settled)
        if (going or orphans) and not ask(going, orphans, kept):
            declined = Diagnostic(code="GP-RUN-005", summary="nothing was removed", severity=Severity.NOTE)
            return Pruned(removed=(), snapshots=(), kept=kept, diagnostics=(*site.warnings, declined))
        left = list(there)
        for number, image in enumerate(going, start=1):
            report(Progress(phase="prune", subject=image.id, text=image.name, done=number, total=len(going)))
            account.remove_image(image.id)
            left.remove(image)
            _save(site, left)
        for snapshot in orphans:
            account.remove_snapshot(snapshot)
        _save(site, left)
    return Pruned(removed=going, snapshots=orphans, kept=kept, diagnostics=site.warnings)


def current_images(site: Site, images: Sequence[Image]) -> frozenset[str]:
    """Ids of the images that hold what the lock holds now, one a pool at most; none while there is no lock."""
    return frozenset(image.id for image, fits in _starts(site, images) if fits)


def _starts(site: Site, images: Sequence[Image]) -> Iterator[tuple[Image, bool]]:
    """The images that new hosts start from, and whether each holds what the lock holds now, or what one before did."""
    cloud = cloud_of(site)
    if not site.lock_path.exists() or not cloud.image.bake:
        return
    lock, _ = open_lock(site)
    components = catalog_components(site.spec.catalog)
    for pool in site.spec.pools.values():
        if pool.cloud is None or not pool.cloud.starts or pool.name not in lock.pools:
            continue
        want = pool_want(lock, site.spec, pool, "cloud", components=components)
        exact = fitting(images, pool.name, baked_digest(want), cloud.region)
        bases = [
            base for base in lock.images if (base.os, base.arch, base.region) == (want.os, want.arch, cloud.region)
        ]
        image = exact or next((found for base in bases if (found := newest_on(images, pool.name, base))), None)
        if image is not None:
            yield image, exact is not None


def _look(site: Site, account: Account) -> tuple[tuple[ImageStatus, ...], tuple[Image, ...]]:
    there = account.images(site.spec.name)
    listed = tuple(image for image in load_images(site.path) if image.region == account.region)
    used = account.images_in_use(site.spec.name)
    starts = frozenset(image.id for image, _ in _starts(site, there))
    return statuses(listed, there, current=starts, used=used), there


def _save(site: Site, there: Sequence[Image]) -> None:
    """The list after images of this region went; other regions' images are not ours to judge."""
    listed = load_images(site.path)
    region, ids = cloud_of(site).region, {image.id for image in there}
    remaining = tuple(image for image in listed if image.region != region or image.id in ids)
    if remaining != listed:
        save_images(site.path, remaining)
