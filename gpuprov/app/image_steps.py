"""The steps of an image build: a builder made and converged, an image of it, and a host started from that looked at."""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol, cast

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet
from gpuprov.app.rolling import Work, converge_hosts, look_and_plan
from gpuprov.app.site import Site
from gpuprov.cloud.decide.document import BUILDER, builder_document
from gpuprov.cloud.decide.surroundings import Surroundings
from gpuprov.cloud.state import StackState
from gpuprov.cloud.types import Applied, Document, Image, InstanceHealth, Made
from gpuprov.converge.types import RunDocuments
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.model.change import HostPlan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Progress, Report
from gpuprov.model.run import HostResult, HostState
from gpuprov.provision.cloud import cloud_hosts, jump_of, login_keys, wait_for_hosts
from gpuprov.provision.image_clean import clean_host
from gpuprov.spec.cloud import CloudSpec
from gpuprov.spec.types import PoolSpec
from gpuprov.store.journal import Journal
from gpuprov.transport.ssh import connect
from gpuprov.want.host import host_want
from gpuprov.want.types import PoolWant

BOOT_SECONDS: Final = 900.0
_STOP_SECONDS: Final = 600.0
_IMAGE_SECONDS: Final = 3600.0
"""A snapshot of 200 GiB, most of it empty, takes minutes; a full one may take most of an hour."""
_SETTLE_SECONDS: Final = 120.0
"""How long units may take to come up after the boot of the check's host."""
_POLL_SECONDS: Final = 2.0
_SHOWN_LINES: Final = 12


class Account(Protocol):
    """What an image build asks of the account; see `gpuprov.cloud.account`."""

    region: str

    def offerings(self, types: Collection[str]) -> Mapping[str, tuple[str, ...]]:
        """Instance type -> zones that offer it."""

    def surroundings(self) -> Surroundings:
        """What the spec's network names in the account."""

    def health(self, ids: Collection[str]) -> Mapping[str, InstanceHealth]:
        """State and checks of instances."""

    def console(self, instance_id: str) -> str:
        """Console output of an instance."""

    def find(self, type_token: str, key: str) -> str | None:
        """The physical id of a resource, for recovery."""

    def stop(self, instance_id: str, *, seconds: float, report: Report) -> None:
        """Stop an instance and wait."""

    def make_image(self, instance_id: str, image: Image, *, spec_name: str) -> str:
        """Begin to make an image."""

    def wait_for_image(self, image_id: str, *, seconds: float, report: Report) -> tuple[str, ...]:
        """Wait until it is available; its snapshots."""

    def mark_checked(self, image_id: str) -> None:
        """Note on it that its check succeeded."""

    def remove_image(self, image_id: str) -> None:
        """Remove it with its snapshots."""


class Stack(Protocol):
    """What an image build asks of the builder's stack; see `gpuprov.cloud.stack`."""

    def state(self) -> StackState:
        """What is recorded of it."""

    def apply(
        self, document: Document, *, replace: Collection[str], report: Report, cancel: threading.Event
    ) -> Applied:
        """Change it."""

    def remove(self, *, report: Report) -> None:
        """Delete all that it holds, and itself."""

    def recover(self, find: Callable[[str, str], str | None], report: Report) -> tuple[Diagnostic, ...]:
        """Settle what an interrupted run left."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Workshop:
    """All that the steps of one image build need."""

    site: Site
    cloud: CloudSpec
    pool: PoolSpec
    lock: Lock
    lock_text: str
    want: PoolWant
    """The builder's."""
    baked: str
    """Digest of the pool's baked part."""
    base: LockedImage
    account: Account
    stack: Stack
    folder: Path
    """Of the builder's host keys."""
    access: Access
    journal: Journal
    report: Report
    cancel: threading.Event


def make_builder(shop: Workshop, *, image: str) -> Made:
    """Make the builder, or make it anew from another image, and wait until it can be trusted and reached.

    Raises:
        GpuprovError: the engine's, AWS's or the wait's errors.
    """
    document = builder_document(
        shop.site.spec,
        shop.lock,
        shop.pool,
        zones=shop.account.offerings({shop.cloud.image.builder}),
        login_keys=login_keys(shop.cloud, shop.site.path),
        image=image,
        around=shop.account.surroundings(),
    )
    again = {host.name for host in shop.stack.state().made.hosts}
    applied = shop.stack.apply(_anew(document, again), replace=tuple(again), report=shop.report, cancel=shop.cancel)
    stop_if_cancelled(shop)
    _raise_errors(applied.diagnostics)
    made = Made(hosts=applied.made.hosts)
    silent = wait_for_hosts(
        shop.account,
        made,
        folder=shop.folder,
        report=shop.report,
        seconds=BOOT_SECONDS,
        cancel=shop.cancel,
        jump=jump_of(shop.cloud, shop.site.path),
    )
    stop_if_cancelled(shop)
    _raise_errors([_about_builder(diagnostic) for diagnostic in silent])
    return made


def converge_builder(shop: Workshop, made: Made) -> HostResult:
    """Bring the builder to the pool's software, by the same way as every other host.

    Raises:
        GpuprovError: what failed on it.
    """
    work = _work(shop, made)
    results = converge_hosts(work, journal=shop.journal, report=shop.report, cancel=shop.cancel)
    stop_if_cancelled(shop)
    missing = [found.diagnostic for found in work.planned.not_observed.values()]
    _raise_errors([*missing, *(d for result in results for d in result.diagnostics)])
    if not results or results[0].state is HostState.NOT_STARTED:
        raise GpuprovError(Diagnostic(code="GP-INT-001", summary="the builder was left out of its own run"))
    return results[0]


def bake(shop: Workshop, made: Made, *, keep: Callable[[str], None]) -> Image:
    """Clean the builder, stop it and make an image of it.

    Args:
        shop: the build.
        made: the builder.
        keep: told the image's id as soon as there is one, so that a failure can remove it.

    Raises:
        GpuprovError: a host or AWS failed.
    """
    instance = made.hosts[0].instance_id
    _clean(shop, made)
    shop.account.stop(instance, seconds=_STOP_SECONDS, report=shop.report)
    stop_if_cancelled(shop)
    now = datetime.now(UTC)
    image = Image(
        id="",
        name=f"{shop.site.spec.name}-{shop.pool.name}-{now:%Y%m%dT%H%M%SZ}",
        pool=shop.pool.name,
        os=shop.want.os,
        arch=shop.want.arch,
        region=shop.cloud.region,
        baked=shop.baked,
        base=shop.base.id,
        made=f"{now:%Y-%m-%dT%H:%M:%SZ}",
    )
    image = replace(image, id=shop.account.make_image(instance, image, spec_name=shop.site.spec.name))
    keep(image.id)
    snapshots = shop.account.wait_for_image(image.id, seconds=_IMAGE_SECONDS, report=shop.report)
    stop_if_cancelled(shop)
    return replace(image, snapshots=snapshots)


def check(shop: Workshop, made: Made, image: Image) -> None:
    """Look at a host that was started from the image: it must hold the baked part, without a change.

    Raises:
        GpuprovError: GP-ROLL-002 with what is not as wanted; the probe's own errors.
    """
    deadline = time.monotonic() + _SETTLE_SECONDS
    while True:
        planned = _work(shop, made).planned
        late = time.monotonic() > deadline
        if planned.not_observed and late:
            raise GpuprovError(*(found.diagnostic for found in planned.not_observed.values()))
        plan = next(iter(planned.plan.hosts), None)
        left = _not_as_wanted(plan) if plan is not None else ["it cannot be looked at yet"]
        if not left:
            shop.report(Progress(phase="check", subject=image.id, text="holds the baked part", finished=True))
            return
        if late:
            raise GpuprovError(_check_failed(image, left))
        shop.report(Progress(phase="check", subject=image.id, text=f"waiting for {left[0]}"))
        if shop.cancel.wait(_POLL_SECONDS):
            stop_if_cancelled(shop)


def stop_if_cancelled(shop: Workshop) -> None:
    """Stop between two steps once Ctrl-C was pressed; GP-RUN-003."""
    if shop.cancel.is_set():
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-003",
                summary="interrupted; no image was made, and the builder is removed",
                hint="run the same command again: it begins anew",
            )
        )


def _work(shop: Workshop, made: Made) -> Work:
    hosts = cloud_hosts(made, shop.site.spec, folder=shop.folder)
    fleet = Fleet(hosts=hosts, wants={host.name: host_want(shop.want, host.name) for host in hosts}, warnings=())
    return Work(
        fleet=fleet,
        planned=look_and_plan(fleet, shop.access, shop.report, lock=shop.lock.digest),
        access=shop.access,
        documents=RunDocuments(spec=shop.site.text, lock=shop.lock_text),
    )


def _anew(document: Document, names: Collection[str]) -> Document:
    """The document with instances that take their image and user data anew, which standing ones keep for life."""
    instances = cast("Sequence[Mapping[str, Any]]", document["instances"])
    return {**document, "instances": [{**row, "replace": row["name"] in names} for row in instances]}


def _clean(shop: Workshop, made: Made) -> None:
    host = cloud_hosts(made, shop.site.spec, folder=shop.folder)[0]
    shop.report(Progress(phase="clean", subject=BUILDER, text="host keys, ids, logs and logins go"))
    transport = connect(host.connection)
    try:
        clean_host(transport)
    finally:
        transport.close()


def _not_as_wanted(plan: HostPlan) -> list[str]:
    findings = [f for f in (*plan.not_curable, *plan.unknown) if f.counts]
    return [
        *(f"{c.address}: wanted {c.after or 'absent'}, found {c.before or 'absent'}" for c in plan.changes),
        *(f"{f.address}: {f.kind}" for f in findings),
    ]


def _about_builder(diagnostic: Diagnostic) -> Diagnostic:
    """Advice for a host that stays is none for a builder, which is removed whatever happens."""
    if BUILDER not in diagnostic.hint:
        return diagnostic
    return replace(diagnostic, hint="the builder was removed; run `gpuprov image build` again")


def _check_failed(image: Image, left: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        code="GP-ROLL-002",
        address=image.id,
        summary=f"a host started from the image lacks {len(left)} thing(s) of the baked part",
        detail="\n".join(left[:_SHOWN_LINES]),
        hint="the image was removed; the run's journal has the builder's own result",
    )


def _raise_errors(diagnostics: Sequence[Diagnostic]) -> None:
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    if errors:
        raise GpuprovError(*errors)
