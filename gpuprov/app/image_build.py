"""`image build`: an image of a pool's software, checked, or nothing left behind."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.cloud_builders import builder_keys, builder_name
from gpuprov.app.cloud_site import cloud_folder, cloud_of
from gpuprov.app.components import catalog_components
from gpuprov.app.image_steps import (
    Stack,
    Workshop,
    bake,
    check,
    converge_builder,
    make_builder,
    stop_if_cancelled,
)
from gpuprov.app.interrupt import cancelled_by_interrupt
from gpuprov.app.rolling import log_trouble, told_to_journal
from gpuprov.app.site import Site, open_lock, open_site
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.cloud.account import Account, open_account
from gpuprov.cloud.decide.baked import baked_digest, builder_want
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.images_text import images_path, load_images, save_images
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import Image, StackPlace
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report
from gpuprov.model.run import HostResult
from gpuprov.provision.host_keys import forget_all
from gpuprov.spec.types import PoolSpec
from gpuprov.store.journal import open_journal
from gpuprov.store.lock import hold_site
from gpuprov.want.pool import pool_want

_STEPS: Final = {
    "clear": "looking for what an earlier build left",
    "builder": "making the builder",
    "converge": "bringing it to the pool's software",
    "image": "making an image of it",
    "check": "starting a host from the image",
    "remove": "removing the builder",
}
"""Steps of a build, in order, and what each says of itself; the last comes after a failure too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildRequest:
    """What `image build` was asked."""

    spec: Path
    pool: str | None = None
    """None: the only pool with hosts in the cloud."""
    again: bool = False
    """Whether to build although the account has a checked image of the same software and base."""
    access: Access = Access()  # noqa: RUF009 - a frozen value


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """What came of it."""

    image: Image
    made: bool
    """False when the account had it already."""
    path: Path
    """The list beside the spec."""
    host: HostResult | None = None
    """The builder's converge."""
    seconds: Mapping[str, float]
    """Step -> how long it took."""
    run: str = ""
    """The run's folder."""
    diagnostics: tuple[Diagnostic, ...] = ()


def build_image(request: BuildRequest, *, report: Report) -> Built:
    """Bake an image of a pool's software: packages, sources, module settings and services.

    A builder without GPUs is converged as every host is, cleaned, stopped and copied; a second host, started from the
    copy, must hold all of it without a change. Both are removed, whatever happens; so is an image that failed.

    Raises:
        GpuprovError: what failed first, and after it what could not be removed.
    """
    site = open_site(request.spec)
    cloud = cloud_of(site)
    pool = _choose_pool(site, request.pool)
    lock, lock_text = open_lock(site)
    refuse_stale_lock(site, lock)
    account = _open_account(site)
    want = pool_want(lock, site.spec, pool, "cloud", components=catalog_components(site.spec.catalog))
    baked, base = baked_digest(want), _base(site, lock, pool, want.arch)
    with hold_site(site.state, ["gpuprov", "image", "build"]):
        there = None if request.again else _there(account.images(site.spec.name), pool.name, baked, base.id)
        if there is not None:
            path = _list(site, there)
            return Built(image=there, made=False, path=path, seconds={}, diagnostics=site.warnings)
        stack = _open_stack(site, pool, account.environment)
        with open_journal(site.state, "image build") as journal:
            tell = told_to_journal(journal, report)
            with cancelled_by_interrupt(tell) as cancel:
                shop = Workshop(
                    site=site,
                    cloud=cloud,
                    pool=pool,
                    lock=lock,
                    lock_text=lock_text,
                    want=builder_want(want),
                    baked=baked,
                    base=base,
                    account=account,
                    stack=stack,
                    folder=builder_keys(cloud_folder(site), pool.name),
                    access=request.access,
                    journal=journal,
                    report=tell,
                    cancel=cancel,
                )
                built = build(shop)
    return replace(built, run=str(journal.folder), diagnostics=(*site.warnings, *built.diagnostics))


def build(shop: Workshop) -> Built:
    """Run the steps, and remove the builder's stack whatever happens."""
    seconds: dict[str, float] = {}
    images: list[str] = []
    try:
        with _step(shop, "clear", seconds):
            _clear(shop)
        with _step(shop, "builder", seconds):
            made = make_builder(shop, image=shop.base.id)
        with _step(shop, "converge", seconds):
            result = converge_builder(shop, made)
        with _step(shop, "image", seconds):
            image = bake(shop, made, keep=images.append)
        with _step(shop, "check", seconds):
            check(shop, make_builder(shop, image=image.id), image)
        stop_if_cancelled(shop)
        shop.account.mark_checked(image.id)
    except BaseException as error:
        late = _tidy(shop, images, seconds)
        if isinstance(error, GpuprovError) and late:
            raise GpuprovError(*error.diagnostics, *late) from error
        raise
    late = _tidy(shop, (), seconds)
    image = replace(image, checked=True)
    return Built(
        image=image,
        made=True,
        path=_list(shop.site, image),
        host=result,
        seconds=seconds,
        diagnostics=(*late, *log_trouble(shop.journal)),
    )


def _clear(shop: Workshop) -> None:
    """Take away what a killed image build left: a half-made builder is no base for a new image."""
    if shop.stack.state().exists:
        shop.report(Progress(phase="clear", text="an earlier image build was cut off; its builder is removed"))
        shop.stack.recover(shop.account.find, shop.report)
        shop.stack.remove(report=shop.report)


def _tidy(shop: Workshop, images: list[str] | tuple[()], seconds: dict[str, float]) -> tuple[Diagnostic, ...]:
    """Remove the builder, and images that came to nothing; returns what could not be removed."""
    late: list[Diagnostic] = []
    with _step(shop, "remove", seconds):
        # A create that failed may have made something all the same: it is found first, and goes with the rest.
        try:
            shop.stack.recover(shop.account.find, shop.report)
        except GpuprovError as error:
            late += error.diagnostics
        try:
            shop.stack.remove(report=shop.report)
            forget_all(shop.folder)
        except GpuprovError as error:
            late += error.diagnostics
        for image in images:
            try:
                shop.account.remove_image(image)
            except GpuprovError as error:
                late += error.diagnostics
    return tuple(late)


@contextmanager
def _step(shop: Workshop, name: str, seconds: dict[str, float]) -> Iterator[None]:
    started = time.monotonic()
    place = Progress(
        phase=f"image {name}",
        subject=shop.pool.name,
        text=_STEPS[name],
        done=[*_STEPS].index(name) + 1,
        total=len(_STEPS),
    )
    shop.report(place)
    with shop.journal.step(f"image {name}", pool=shop.pool.name):
        try:
            yield
        finally:
            seconds[name] = round(time.monotonic() - started, 1)
    shop.report(replace(place, text="done", finished=True))


def _there(images: tuple[Image, ...], pool: str, baked: str, base: str) -> Image | None:
    same = [i for i in images if i.checked and (i.pool, i.baked, i.base) == (pool, baked, base)]
    return same[-1] if same else None


def _list(site: Site, image: Image) -> Path:
    """Put an image into the list beside the spec."""
    listed = load_images(site.path)
    if image in listed:
        return images_path(site.path)
    return save_images(site.path, (*(other for other in listed if other.id != image.id), image))


def _choose_pool(site: Site, name: str | None) -> PoolSpec:
    pools = [pool for pool in site.spec.pools.values() if pool.cloud is not None]
    if name is None and len(pools) == 1:
        return pools[0]
    if name is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                summary=f"the spec has {len(pools)} pools with hosts in the cloud; an image is of one",
                detail="pools: " + (", ".join(pool.name for pool in pools) or "none"),
                hint="name one: `gpuprov image build POOL`" if pools else "write `cloud:` for a pool",
            )
        )
    pool = site.pool(name)
    if pool.cloud is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-SPEC-008",
                address=f"pools.{name}.cloud",
                summary=f"the pool `{name}` has no hosts in the cloud",
                hint="pools that have: " + (", ".join(pool.name for pool in pools) or "none"),
            )
        )
    return pool


def _base(site: Site, lock: Lock, pool: PoolSpec, arch: str) -> LockedImage:
    region = cloud_of(site).region
    for image in lock.images:
        if (image.os, image.arch, image.region) == (pool.os, arch, region):
            return image
    raise GpuprovError(
        Diagnostic(
            code="GP-LOCK-004",
            address=f"pools.{pool.name}",
            summary=f"the lock holds no machine image of {pool.os} for {arch} in {region}",
            hint=f"run `gpuprov lock -f {site.path}`: it asks AWS for the newest one",
        )
    )


def _open_account(site: Site) -> Account:
    return open_account(cloud_of(site), os.environ)


def _open_stack(site: Site, pool: PoolSpec, environment: Mapping[str, str]) -> Stack:
    place = StackPlace(
        name=builder_name(site.spec.name, pool.name),
        folder=cloud_folder(site),
        environment=environment,
        region=cloud_of(site).region,
    )
    return CloudStack(place, find_engine(os.environ))
