"""The cloud as a ground: hosts are made by the engine, from one document in which every decision is made."""

import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, cast

from gpuprov.app.access import Access
from gpuprov.app.cloud_by_hand import found_by_hand
from gpuprov.app.cloud_capacity import look_at_capacity, reserved_capacity
from gpuprov.app.cloud_cost import cloud_view, cost_change
from gpuprov.app.cloud_existing import look_for_existing
from gpuprov.app.cloud_hosts import coming_up, fleet_of, forget_gone, names_within, only, sort_hosts
from gpuprov.app.cloud_images import Start, ids, listed_images, outdated_hosts, starts
from gpuprov.app.cloud_records import refuse_wanted, standing_in, tags_in, unknown_names
from gpuprov.app.cloud_renamed import refuse_renamed
from gpuprov.app.cloud_roles import brought_profiles
from gpuprov.app.cloud_short import apply_in_zones
from gpuprov.app.cloud_site import CloudSite, as_one_step
from gpuprov.app.expiry import told_of_end
from gpuprov.app.ground import Found, Grown
from gpuprov.app.hosts import Fleet, wants_of
from gpuprov.app.late_storage import as_made, to_come
from gpuprov.app.leaving import Leaving, free_before_they_go, mark_new, return_work, stayed, take_off
from gpuprov.app.site import open_lock
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.cloud.decide.document import stack_document
from gpuprov.cloud.decide.foreign import with_foreign_tags
from gpuprov.cloud.decide.surroundings import Surroundings
from gpuprov.cloud.judgement import judge
from gpuprov.cloud.recovery import explain
from gpuprov.cloud.state import StackState
from gpuprov.cloud.types import Applied, Document, InstanceHealth, Made, Reservation
from gpuprov.lock.types import Lock
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Report
from gpuprov.model.resource import NewHost, ResourceAction, ResourceChange, ResourcePlan, ResourceResult
from gpuprov.model.snapshot import NotObserved
from gpuprov.provision.cloud import jump_of, login_keys, wait_for_hosts
from gpuprov.spec.storage import StorageSpec
from gpuprov.want.mounts import mount_paths

BOOT_SECONDS: Final = 1200.0
"""How long instances may take until they answer: metal-sized ones run minutes of self-tests before they boot."""
_MOVING: Final = frozenset({ResourceAction.CREATE, ResourceAction.REPLACE, ResourceAction.DELETE})


class CloudGround:
    """Hosts in the cloud.

    Args:
        place: the site with its account and stack.
        access: how to reach hosts, and which.
        replace: hosts, buckets and volumes that may be replaced or deleted.
        remove: hosts and volumes that the spec no longer holds, and that may go.
        disturb: whether hosts go although work cannot be taken off them.
        refresh: whether every resource is read from AWS first, so that what was changed there by hand is seen.
        patience: seconds that instances which are coming up may take.

    Raises:
        GpuprovError: GP-LOCK codes for a lock that is missing or stale.
    """

    target = "cloud"

    def __init__(
        self,
        place: CloudSite,
        access: Access,
        *,
        replace: tuple[str, ...] = (),
        remove: tuple[str, ...] = (),
        disturb: bool = False,
        refresh: bool = False,
        patience: float = BOOT_SECONDS,
    ) -> None:
        self._place = place
        self._remove = remove
        self._disturb = disturb
        self._leaving: tuple[Leaving, ...] = ()
        self._patience = patience
        self._refresh = refresh
        self._access = access
        self._replace = replace
        lock, self.lock_text = open_lock(place.site)
        refuse_stale_lock(place.site, lock)
        self._lock: Lock = lock
        self.lock = lock.digest
        self._document: Document = {}
        self._fleet = Fleet(hosts=(), wants={}, warnings=())

    def settle(self, report: Report) -> tuple[Diagnostic, ...]:
        """Settle what an interrupted run left: resources that the account holds are taken over, not made twice."""
        stack, account = self._place.stack, self._place.account
        return stack.recover(
            account.find,
            as_one_step(report),
            document=self.decide(),
            replace=self._replace,
            taken_over=account.taken_over,
        )

    def decide(self) -> Document:
        """The document of the stack as spec, lock, images and what stands ask for it now.

        Raises:
            GpuprovError: GP-CLOUD-026 for a name that means nothing; what `stack_document` and `starts` refuse.
        """
        return self._decide(self._place.stack.state())

    def look(self, report: Report) -> Found:
        """Decide everything, ask the engine what that would change, and find the hosts that run."""
        place = self._place
        state = place.stack.state()
        self._document = self._decide(state)
        found, told = self._starts
        resources = place.stack.preview(
            self._document, replace=self._replace, report=as_one_step(report), refresh=self._refresh
        )
        by_hand = found_by_hand(place, state, report) if self._refresh and state.exists else ()
        moving = {_host_of(change) for change in resources.changes if change.action in _MOVING and not change.leftover}
        existing = look_for_existing(place, state.made)  # first: a limit may name hosts that only this look finds
        asked = None if self._access.limit is None else names_within(place.site, self._access.limit)
        staying = only(state.made, lambda name: name not in moving and (asked is None or name in asked))
        health = place.account.health([host.instance_id for host in state.made.hosts]) if state.made.hosts else {}
        going = only(state.made, lambda name: name in moving)
        self._leaving, untold = free_before_they_go(going, health, place.site, self._access)
        refused, capacity = look_at_capacity(place, self._document, resources, standing_in(state), self._reserved)
        there, absent, waited = self._reach(staying, health, report)
        there = replace(there, hosts=(*there.hosts, *existing.made.hosts))
        absent |= {name: found for name, found in existing.absent.items() if asked is None or name in asked}
        self._fleet = fleet_of(place.site, self._lock, there, self._access)
        new = _new_hosts(resources, self._document, found, place.site.spec.storage)
        self._refuse_limit(new)
        outdated = outdated_hosts(staying, listed_images(place.site), found)
        cost = cost_change(state, self._document, health, place.site.spec)
        return Found(
            fleet=self._fleet,
            resources=replace(resources, new_hosts=new, cost=cost),
            absent=absent,
            view=cloud_view(state, health, place.site.spec, place.cloud.region),
            diagnostics=(
                *explain(state.pending),
                *by_hand,
                *told,
                *capacity,
                *told_of_end(place.site, state),
                *waited,
                *outdated,
                *to_come(place.site, self._fleet.hosts),
                *untold,
            ),
            refused=(
                *existing.refused,
                *judge(resources, named=(*self._replace, *self._remove)),
                *refused,
                *(() if state.exists else refuse_renamed(place.site)),
            ),
            drains={one.host.name: one.words for one in self._leaving},
        )

    def make(self, report: Report, cancel: threading.Event) -> Grown:
        """Let the engine change the account, then wait until the new hosts answer with keys that were verified."""
        place, began = self._place, time.monotonic()
        before = place.stack.state().made
        busy = take_off(self._leaving, disturb=self._disturb, report=report, cancel=cancel)
        if any(d.severity is Severity.ERROR for d in busy):
            return Grown(fleet=self._fleet, diagnostics=busy)
        applied = self._change(report, cancel)
        applied = replace(applied, diagnostics=(*busy, *applied.diagnostics))
        forget_gone(before, applied.made, folder=place.folder)
        failed = any(d.severity is Severity.ERROR for d in applied.diagnostics)
        if failed or cancel.is_set():
            back = return_work(stayed(self._leaving, before, applied.made), report=report)
            told = (*applied.diagnostics, *back)
            return Grown(fleet=self._fleet, result=_result(applied, began), diagnostics=told)
        known = {host.instance_id for host in before.hosts}
        fresh = replace(applied.made, hosts=tuple(h for h in applied.made.hosts if h.instance_id not in known))
        try:
            told, absent = self._wait(fresh, report, cancel)
        except GpuprovError as error:
            # AWS failed while we waited: what was made stays in the report beside the cause.
            return Grown(
                fleet=self._fleet,
                result=_result(applied, began),
                diagnostics=(*applied.diagnostics, *error.diagnostics),
            )
        new = fleet_of(place.site, self._lock, only(fresh, lambda name: name not in absent), self._access)
        told += mark_new(self._leaving, new.hosts)
        now = wants_of(place.site, self._lock, as_made(self._fleet.hosts, applied.made))
        return Grown(
            fleet=Fleet(hosts=(*self._fleet.hosts, *new.hosts), wants={**now, **new.wants}, warnings=()),
            result=_result(applied, began),
            diagnostics=(*applied.diagnostics, *told),
            absent=absent,
        )

    def _change(self, report: Report, cancel: threading.Event) -> Applied:
        """Apply the document; where nothing was begun, hosts that were to go get their work back.

        Raises:
            GpuprovError: nothing was begun.
        """
        place = self._place
        try:
            return apply_in_zones(
                place.stack,
                place.site.spec,
                self._document,
                lambda names, tried: self._decide(place.stack.state(), replace=names, without=tried),
                named=self._replace,
                report=report,
                cancel=cancel,
                refresh=self._refresh,
            )
        except GpuprovError as error:
            raise GpuprovError(*error.diagnostics, *return_work(self._leaving, report=report)) from error

    # What does not depend on the stack's state is asked once a run: `settle` and `look` both decide.
    @cached_property
    def _starts(self) -> tuple[dict[str, Start], tuple[Diagnostic, ...]]:
        place = self._place
        images = listed_images(place.site)
        return starts(place.site, place.cloud, self._lock, images, place.account.image_exists)

    @cached_property
    def _zones(self) -> Mapping[str, tuple[str, ...]]:
        pools = self._place.site.spec.pools.values()
        return self._place.account.offerings({pool.cloud.instance for pool in pools if pool.cloud is not None})

    @cached_property
    def _profiles(self) -> Mapping[str, str]:
        return brought_profiles(self._place)

    @cached_property
    def _around(self) -> Surroundings:
        return self._place.account.surroundings()

    @cached_property
    def _login_keys(self) -> tuple[str, ...]:
        return login_keys(self._place.cloud, self._place.site.path)

    @cached_property
    def _reserved(self) -> dict[str, tuple[Reservation, ...]]:
        return reserved_capacity(self._place)

    def _decide(
        self,
        state: StackState,
        *,
        replace: tuple[str, ...] | None = None,
        without: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ) -> Document:
        """The document for a state.

        Args:
            state: what stands.
            replace: names of what is made anew; the run's when left out.
            without: instance type -> zones that are out of the question.
        """
        unknown = unknown_names((*self._replace, *self._remove), self._place.site, state)
        if unknown:
            raise GpuprovError(*unknown)
        refuse_wanted(self._remove, self._place.site)
        zones = {type_: [z for z in there if z not in without.get(type_, ())] for type_, there in self._zones.items()}
        document = stack_document(
            self._place.site.spec,
            self._lock,
            zones=zones,
            login_keys=self._login_keys,
            images=ids(self._starts[0]),
            replace=self._replace if replace is None else replace,
            standing=standing_in(state),
            reservations=self._reserved,
            profiles=self._profiles,
            around=self._around,
        )
        return with_foreign_tags(document, lambda address: tags_in(state, address))

    def _reach(
        self, staying: Made, health: Mapping[str, InstanceHealth], report: Report
    ) -> tuple[Made, dict[str, NotObserved], tuple[Diagnostic, ...]]:
        """The hosts that stay and can be looked at, why the others cannot, and what waiting for some has told."""
        known = sort_hosts(staying, health, region=self._place.cloud.region)
        fresh = coming_up(known.running, health, folder=self._place.folder)
        waited, silent = self._wait(fresh, report, threading.Event())
        absent = {**known.absent, **silent}
        return only(known.running, lambda name: name not in absent), absent, waited

    def _wait(
        self, made: Made, report: Report, cancel: threading.Event
    ) -> tuple[tuple[Diagnostic, ...], dict[str, NotObserved]]:
        """Wait for hosts; those that do not come up are left out of the run, each with its reason."""
        if not made.hosts:
            return (), {}
        place = self._place
        told = wait_for_hosts(
            place.account,
            made,
            folder=place.folder,
            report=report,
            seconds=self._patience,
            cancel=cancel,
            jump=jump_of(place.cloud, place.site.path),
        )
        return split_silent(told, {host.name for host in made.hosts})

    def _refuse_limit(self, new: tuple[NewHost, ...]) -> None:
        """A limit is about what is changed on hosts; a host that was made and then left bare would help nobody."""
        limit = self._access.limit
        named = set(limit.split(",")) if limit else None
        outside = [host.name for host in new if named is not None and not named & {host.name, host.pool}]
        if outside:
            raise GpuprovError(
                Diagnostic(
                    code="GP-RUN-004",
                    summary=f"the limit leaves out hosts that would be made: {', '.join(outside)}",
                    hint="leave --limit away until they are made",
                )
            )


def split_silent(
    told: tuple[Diagnostic, ...], names: set[str]
) -> tuple[tuple[Diagnostic, ...], dict[str, NotObserved]]:
    """Errors about single hosts as hosts that were not observed, and everything else."""
    silent = [d for d in told if d.severity is Severity.ERROR and d.address in names]
    absent = {
        d.address: NotObserved(host=d.address, code=d.code, reason=d.summary, detail=d.detail, hint=d.hint)
        for d in silent
    }
    return tuple(d for d in told if d not in silent), absent


def _host_of(change: ResourceChange) -> str:
    kind, _, name = change.address.partition(".")
    return name if kind == "instance" else ""


def _new_hosts(
    resources: ResourcePlan, document: Document, found: Mapping[str, Start], storage: Mapping[str, StorageSpec]
) -> tuple[NewHost, ...]:
    made = {
        _host_of(change)
        for change in resources.changes
        if change.action in {ResourceAction.CREATE, ResourceAction.REPLACE}
    }
    instances = cast("list[dict[str, Any]]", document["instances"])
    return tuple(
        _new_host(row["name"], row["type"], found[row["pool"]], mount_paths(storage, row["pool"]))
        for row in instances
        if row["name"] in made
    )


def _new_host(name: str, instance: str, start: Start, mounts: Collection[str]) -> NewHost:
    want = start.want
    packages = () if start.baked else tuple(f"{p.name} {p.version}" for p in want.packages)
    return NewHost(
        name=name,
        pool=want.pool,
        instance=instance,
        image=start.text,
        packages=packages,
        files=tuple(sorted({*(file.path for file in want.files), *mounts})),
    )


def _result(applied: Applied, began: float) -> ResourceResult:
    return ResourceResult(changed=applied.changed, unchanged=applied.unchanged, seconds=time.monotonic() - began)
