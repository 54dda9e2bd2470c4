"""The cloud as a ground that is given up: everything goes but what holds data, and that is named."""

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.cloud_builders import builder_changes, remove_builders
from gpuprov.app.cloud_existing import left_as_they_are
from gpuprov.app.cloud_ground import CloudGround
from gpuprov.app.cloud_hosts import forget_gone
from gpuprov.app.cloud_records import expected_ids, standing_in
from gpuprov.app.cloud_site import CloudSite, as_one_step
from gpuprov.app.ground import Found, Grown
from gpuprov.app.hosts import Fleet
from gpuprov.app.leaving import Leaving, free_before_they_go, return_work, stayed, take_off
from gpuprov.cloud.decide.document import data_document, standing_document
from gpuprov.cloud.judgement import judge
from gpuprov.cloud.recovery import explain
from gpuprov.cloud.state import StackState
from gpuprov.cloud.types import Applied, Document, Made
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Progress, Report
from gpuprov.model.resource import ResourceChange, ResourcePlan, ResourceResult

_NO_HOSTS: Final = Fleet(hosts=(), wants={}, warnings=())


class CloudRemoval:
    """What `destroy --target cloud` does: hosts and network go, buckets and volumes stay unless they were named.

    It starts from what the stack holds, not from the spec: no lock is needed, and a way into a host only where work is
    taken off it first.

    Args:
        place: the site with its account and stack.
        access: how schedulers of the inventory are reached.
        delete_data: storages, or single volumes as STORAGE/HOST, whose data goes too.
        disturb: whether hosts go although work cannot be taken off them.
    """

    target = "cloud"
    lock = ""
    lock_text = ""

    def __init__(
        self, place: CloudSite, access: Access, *, delete_data: tuple[str, ...] = (), disturb: bool = False
    ) -> None:
        self._place = place
        self._access = access
        self._delete = delete_data
        self._disturb = disturb
        self._leaving: tuple[Leaving, ...] = ()
        self._document: Document = {}
        self._plan = ResourcePlan()

    def settle(self, report: Report) -> tuple[Diagnostic, ...]:
        """Settle what an interrupted run left, so that nothing is forgotten in the account."""
        before = _names(self._place.stack.state())
        told = self._settle(report)
        # The same command again, after one that was cut off: what that one had deleted is no unknown name.
        gone = before - _names(self._place.stack.state())
        self._delete = tuple(name for name in self._delete if name not in gone)
        return told

    def _settle(self, report: Report) -> tuple[Diagnostic, ...]:
        stack, find = self._place.stack, self._place.account.find
        if not stack.state().unfinished:
            return stack.recover(find, report)
        # What a dead plugin made stands nowhere but in the account: only what would be made says what to look for.
        try:
            document = CloudGround(self._place, Access()).decide()
        except GpuprovError as error:
            return (*stack.recover(find, report), _not_looked_for(self._place.site.spec.name, error))
        return stack.recover(find, as_one_step(report), document=document)

    def look(self, report: Report) -> Found:
        """Say what would go, and what stays because it holds data."""
        state = self._place.stack.state()
        images = self._images()
        place = self._place
        builders = builder_changes(place.builders, place.site.spec.name)
        if not state.exists:
            if self._delete:
                raise GpuprovError(_nothing_there(self._delete))
            self._refuse_lost_state()
            plan = ResourcePlan(changes=builders)
            return Found(fleet=_NO_HOSTS, resources=plan, left=images, diagnostics=_told(images))
        whole = standing_document(self._place.site.spec, standing_in(state))
        self._document = data_document(whole, delete=self._delete)
        resources = self._place.stack.preview(self._document, replace=(), report=as_one_step(report), refresh=False)
        self._plan = resources
        left = {**self._left(state), **images}
        going = state.made
        health = place.account.health([host.instance_id for host in going.hosts]) if going.hosts else {}
        self._leaving, untold = free_before_they_go(going, health, place.site, self._access)
        named = {*self._delete, *(host.name for host in state.made.hosts)}
        return Found(
            fleet=_NO_HOSTS,
            resources=replace(resources, changes=(*resources.changes, *builders)),
            left=left,
            diagnostics=(
                *explain(state.pending),
                *_told(left),
                *left_as_they_are(place.site),
                *untold,
            ),
            refused=judge(resources, named=named),
            drains={one.host.name: one.words for one in self._leaving},
        )

    def make(self, report: Report, cancel: threading.Event) -> Grown:
        """Take work off the hosts, then let the engine delete; hosts that stand after all get their work back."""
        before = self._place.stack.state().made
        busy = take_off(self._leaving, disturb=self._disturb, report=report, cancel=cancel)
        if _has_error(busy):
            return Grown(fleet=_NO_HOSTS, diagnostics=busy)
        try:
            grown = self._delete_all(before, report, cancel)
        except GpuprovError as error:
            raise GpuprovError(*error.diagnostics, *self._return_work(before, report)) from error
        back = self._return_work(before, report) if _has_error(grown.diagnostics) or cancel.is_set() else ()
        return replace(grown, diagnostics=(*busy, *grown.diagnostics, *back))

    def _return_work(self, before: Made, report: Report) -> tuple[Diagnostic, ...]:
        return return_work(stayed(self._leaving, before, self._place.stack.state().made), report=report)

    def _delete_all(self, before: Made, report: Report, cancel: threading.Event) -> Grown:
        """Delete, empty the buckets that were named in between, and take an empty stack away."""
        place, began = self._place, time.monotonic()
        applied = Applied(made=before, changed=(), unchanged=0)
        buckets = {name: bucket for name, bucket in before.buckets.items() if name in self._delete}
        # Without hosts nobody writes; and an earlier run may have got as far as the buckets themselves.
        if buckets and before.hosts and (first := self._with_buckets(buckets, report)):
            applied = self._apply(first, report, cancel)
        if buckets and not _failed(applied) and not cancel.is_set():
            for bucket in buckets.values():
                count = place.account.empty_bucket(bucket, report=report)
                report(Progress(phase="empty", subject=bucket, text=f"{count} object(s) deleted", finished=True))
        if self._document and not _failed(applied) and not cancel.is_set():
            last = self._apply(self._document, report, cancel)
            applied = replace(
                last,
                changed=(*applied.changed, *last.changed),
                diagnostics=(*applied.diagnostics, *last.diagnostics),
            )
        forget_gone(before, applied.made, folder=place.folder)
        state = place.stack.state()
        if self._document and not state.exists and not _failed(applied):
            place.stack.remove(report=report)
        gone, told = ((), ()) if cancel.is_set() else self._remove_builders(report)
        return Grown(
            fleet=_NO_HOSTS,
            result=ResourceResult(
                changed=(*applied.changed, *gone),
                unchanged=applied.unchanged,
                left={**_data(state), **self._images()},
                seconds=time.monotonic() - began,
            ),
            diagnostics=(*applied.diagnostics, *told),
        )

    def _apply(self, document: Document, report: Report, cancel: threading.Event) -> Applied:
        return self._place.stack.apply(document, replace=(), report=report, cancel=cancel, refresh=False)

    def _with_buckets(self, buckets: Collection[str], report: Report) -> Document:
        """The document in which the hosts are gone and the buckets are not yet: nobody writes to one being emptied.

        It is empty when they are gone already.

        Raises:
            GpuprovError: GP-PLAN-001 when something that holds data would go, and that was not shown.
        """
        place = self._place
        whole = standing_document(place.site.spec, standing_in(place.stack.state()))
        document = data_document(whole, delete=[name for name in self._delete if name not in buckets])
        plan = place.stack.preview(document, replace=(), report=as_one_step(report), refresh=False)
        shown = {change.address for change in self._plan.changes}
        # A setting of a bucket that goes in a moment may be brought up to date first; data may not go unseen.
        moved = [change.address for change in plan.changes if change.holds_data and change.address not in shown]
        if moved:
            raise GpuprovError(_moved(place.site.spec.name, moved))
        return {} if plan.empty else document

    def _remove_builders(self, report: Report) -> tuple[tuple[ResourceChange, ...], tuple[Diagnostic, ...]]:
        place = self._place
        return remove_builders(
            place.builders, place.account.find, report, spec=place.site.spec.name, folder=place.folder
        )

    def _refuse_lost_state(self) -> None:
        """Without a state nothing can be removed; that nothing is there must be asked of the account."""
        spec = self._place.site.spec
        there = {address: self._place.account.find(token, key) for token, key, address in expected_ids(spec)}
        found = {address: one for address, one in there.items() if one is not None}
        if found:
            raise GpuprovError(_lost_state(spec.name, found))

    def _left(self, state: StackState) -> dict[str, str]:
        gone = set(self._delete)
        return {address: place for address, place in _data(state).items() if not gone & _named(address)}

    def _images(self) -> dict[str, str]:
        images = self._place.account.images(self._place.site.spec.name)
        return {f"image.{image.pool}/{image.id}": image.id for image in images}


def _failed(applied: Applied) -> bool:
    return _has_error(applied.diagnostics)


def _has_error(diagnostics: Sequence[Diagnostic]) -> bool:
    return any(d.severity is Severity.ERROR for d in diagnostics)


def _moved(stack: str, addresses: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        code="GP-PLAN-001",
        address=stack,
        summary="the stack moved since the plan was made; nothing was changed",
        detail=f"what would now be done differs for: {', '.join(addresses)}",
        hint="run the same command again and look at the new plan",
    )


def _data(state: StackState) -> dict[str, str]:
    """What a stack holds that holds data: address -> id or name."""
    buckets = {f"bucket.{name}": bucket for name, bucket in state.made.buckets.items()}
    volumes = {f"volume.{name}": volume for name, volume in state.made.volumes.items()}
    return {**buckets, **volumes, **{f"share.{name}": share for name, share in state.made.shares.items()}}


def _names(state: StackState) -> set[str]:
    """What may be named with `--delete-data`."""
    return {name for address in _data(state) for name in _named(address)}


def _named(address: str) -> set[str]:
    """By which names data is meant: its storage, and of a volume itself alone (STORAGE/HOST)."""
    name = address.partition(".")[2]
    return {name, name.partition("/")[0]}


def _told(left: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    return tuple(_stays(address, name) for address, name in left.items())


def _stays(address: str, name: str) -> Diagnostic:
    kind, _, what = address.partition(".")
    way = "gpuprov image prune --keep 0" if kind == "image" else f"gpuprov destroy --target cloud --delete-data {what}"
    return Diagnostic(
        code="GP-CLOUD-021",
        address=address,
        summary=f"the {kind} {name} stays in the account",
        hint=f"`{way}` deletes it",
        severity=Severity.NOTE,
    )


def _not_looked_for(spec: str, error: GpuprovError) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-015",
        summary="the last update was cut off, and what it may have made without a trace cannot be looked for",
        detail="\n".join(f"{d.code} {d.address}: {d.summary}" for d in error.diagnostics),
        hint=f"look in the account for resources with the tag gpuprov:spec = {spec} afterwards",
        severity=Severity.WARNING,
    )


def _lost_state(spec: str, found: Mapping[str, str]) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-015",
        address=spec,
        summary=f"the account holds {len(found)} resource(s) of this spec, and there is no state of its stack here",
        detail="\n".join(f"{address}: {one}" for address, one in found.items()),
        hint="run it where the state is (.gpuprov/cloud of the folder that made them), or put that folder here; without"
        f" one, delete what has the tag gpuprov:spec = {spec} in the AWS console",
    )


def _nothing_there(names: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-026",
        address=names[0],
        summary=f"the stack holds no bucket, volume or share {names[0]}: it holds nothing at all",
    )
