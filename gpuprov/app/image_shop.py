"""The frame of the image commands: which pool, what it must hold, a builder's stack of its own, and its steps."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.cloud_builders import builder_keys, builder_name
from gpuprov.app.cloud_site import cloud_folder, cloud_of, place_of
from gpuprov.app.components import catalog_components
from gpuprov.app.image_steps import Workshop
from gpuprov.app.interrupt import cancelled_by_interrupt
from gpuprov.app.rolling import told_to_journal
from gpuprov.app.site import Site, open_lock
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.cloud.account import Account, open_account
from gpuprov.cloud.decide.baked import baked_digest, builder_want
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.stack import CloudStack
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report
from gpuprov.provision.host_keys import forget_all
from gpuprov.spec.types import PoolSpec
from gpuprov.store.journal import open_journal
from gpuprov.want.pool import pool_want
from gpuprov.want.types import PoolWant

STEPS: Final = {
    "clear": "looking for what an earlier build left",
    "builder": "making the builder",
    "converge": "bringing it to the pool's software",
    "image": "making an image of it",
    "check": "starting a host from the image",
    "remove": "removing the builder",
}
"""Steps of a build, in order, and what each says of itself; the last comes after a failure too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What a pool's image must be."""

    site: Site
    pool: PoolSpec
    lock: Lock
    lock_text: str
    want: PoolWant
    baked: str
    """Digest of the pool's baked part."""
    base: LockedImage
    account: Account


def open_order(site: Site, pool: PoolSpec) -> Order:
    """Say what a pool's image must be now.

    Raises:
        GpuprovError: the lock is missing or stale, or holds no base image; the account cannot be used.
    """
    lock, lock_text = open_lock(site)
    refuse_stale_lock(site, lock)
    account = open_account(cloud_of(site), os.environ)
    want = pool_want(lock, site.spec, pool, "cloud", components=catalog_components(site.spec.catalog))
    return Order(
        site=site,
        pool=pool,
        lock=lock,
        lock_text=lock_text,
        want=want,
        baked=baked_digest(want),
        base=_base(site, lock, pool, want.arch),
        account=account,
    )


@contextmanager
def open_shop(order: Order, command: str, access: Access, report: Report) -> Iterator[Workshop]:
    """Have a builder's stack, a journal, and Ctrl-C that ends a step and not the tidying.

    Args:
        order: what the image must be.
        command: for the journal.
        access: how to reach hosts.
        report: where progress goes.
    """
    site, pool = order.site, order.pool
    cloud = cloud_of(site)
    # Where the hosts' own stack is kept, so that `destroy` and `recover` find what a killed build left.
    place = replace(place_of(site, order.account.environment), name=builder_name(site.spec.name, pool.name))
    stack = CloudStack(place, find_engine(os.environ))
    with open_journal(site.state, command) as journal:
        tell = told_to_journal(journal, report)
        with cancelled_by_interrupt(tell) as cancel:
            yield Workshop(
                site=site,
                cloud=cloud,
                pool=pool,
                lock=order.lock,
                lock_text=order.lock_text,
                want=builder_want(order.want),
                baked=order.baked,
                base=order.base,
                account=order.account,
                stack=stack,
                folder=builder_keys(cloud_folder(site), pool.name),
                access=access,
                journal=journal,
                report=tell,
                cancel=cancel,
            )


def clear(shop: Workshop) -> None:
    """Take away what a killed image build left: a half-made builder is no base for a new image."""
    if shop.stack.state().exists:
        shop.report(Progress(phase="clear", text="an earlier image build was cut off; its builder is removed"))
        shop.stack.recover(shop.account.find, shop.report)
        shop.stack.remove(report=shop.report)


def tidy(shop: Workshop, images: list[str] | tuple[()], seconds: dict[str, float]) -> tuple[Diagnostic, ...]:
    """Remove the builder, and images that came to nothing; returns what could not be removed."""
    late: list[Diagnostic] = []
    with step(shop, "remove", seconds):
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
def step(shop: Workshop, name: str, seconds: dict[str, float]) -> Iterator[None]:
    """One step: told, timed, and written to the journal before and after."""
    started = time.monotonic()
    place = Progress(
        phase=f"image {name}",
        subject=shop.pool.name,
        text=STEPS[name],
        done=[*STEPS].index(name) + 1,
        total=len(STEPS),
    )
    shop.report(place)
    with shop.journal.step(f"image {name}", pool=shop.pool.name):
        try:
            yield
        finally:
            seconds[name] = round(time.monotonic() - started, 1)
    shop.report(replace(place, text="done", finished=True))


def cloud_pool(site: Site, name: str | None) -> PoolSpec:
    """The pool that an image command means; without a name, the only one with hosts in the cloud.

    Raises:
        GpuprovError: GP-RUN-004 when there are several, GP-SPEC-008 when it has no hosts in the cloud.
    """
    pools = [pool for pool in site.spec.pools.values() if pool.cloud is not None and pool.cloud.starts]
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
    if pool not in pools:
        raise GpuprovError(
            Diagnostic(
                code="GP-SPEC-008",
                address=f"pools.{name}.cloud",
                summary=f"no host of the pool `{name}` is started from an image",
                detail="it has no hosts in the cloud, or takes instances that are there already",
                hint="pools of which hosts are: " + (", ".join(pool.name for pool in pools) or "none"),
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
