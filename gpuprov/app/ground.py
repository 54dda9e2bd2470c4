"""Where hosts come from: the one step in which a rack and a cloud differ."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet, open_fleet, open_released_fleet
from gpuprov.app.site import Site, open_lock
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.app.targets import CLOUD, choose_target
from gpuprov.model.change import Plan
from gpuprov.model.cloud_view import CloudView
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Report
from gpuprov.model.resource import ResourcePlan, ResourceResult
from gpuprov.model.snapshot import NotObserved
from gpuprov.spec.storage import LOCAL, SHARED


@dataclass(frozen=True, kw_only=True, slots=True)
class UpRequest:
    """What `up` or `destroy` was asked to do."""

    spec: Path
    access: Access
    target: str | None = None
    """`onprem` or `cloud`; None where the site has one only."""
    release: bool = False
    """True for `destroy`: racked hosts are handed back, those in the cloud go."""
    replace: tuple[str, ...] = ()
    """Cloud hosts, buckets and volumes that `up` may replace or delete."""
    remove: tuple[str, ...] = ()
    """Cloud hosts and volumes that the spec no longer holds, and that `up` may remove."""
    refresh: bool = False
    """Whether `up` reads every resource from AWS first, so that what was changed there by hand is seen."""
    take_over: bool = False
    """Whether packages of another origin may go, where the stack takes their place."""
    disturb: bool = False
    """Whether who uses the GPUs of a host may be ended."""
    delete_data: tuple[str, ...] = ()
    """Storage whose data goes too, for `destroy` in the cloud."""
    plan: Path | None = None
    """A plan file: `up` makes exactly that, or refuses."""
    resume: bool = False
    """Whether `up` goes on with the site's last run, which did not come to a good end."""
    no_rollback: bool = False
    """Whether `up` goes on where the old packages cannot be kept, so that there is no way back to them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What is there before a run changes anything."""

    fleet: Fleet
    """The hosts that exist and stay, with their wants."""
    resources: ResourcePlan = field(default_factory=ResourcePlan)
    absent: Mapping[str, NotObserved] = field(default_factory=dict)
    """Hosts that exist and cannot be looked at, such as stopped instances, each with the way out."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """To be told before the question."""
    refused: tuple[Diagnostic, ...] = ()
    """Why the run must not go on."""
    left: Mapping[str, str] = field(default_factory=dict)
    """What `destroy` leaves because it holds data: address -> id or name."""
    view: CloudView | None = None
    """The instances that stand; None for a rack."""
    drains: Mapping[str, str] = field(default_factory=dict)
    """Hosts that go and that work is taken off before, each with how, in words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grown:
    """What is there after the ground was prepared."""

    fleet: Fleet
    """All hosts, those just made among them."""
    result: ResourceResult | None = None
    """What changed in the account; None for a rack."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors mean that no host may be changed."""
    absent: Mapping[str, NotObserved] = field(default_factory=dict)
    """Hosts that were made and did not come up."""


class Ground(Protocol):
    """A target's hosts: those there are, and how those are made that are missing."""

    target: str
    lock: str
    """The lock's digest; empty where the run needs none."""
    lock_text: str

    def settle(self, report: Report) -> tuple[Diagnostic, ...]:
        """Bring records of an earlier, interrupted run in order; the only step before the question that writes."""

    def look(self, report: Report) -> Found:
        """Say what is there and what would be made; nothing is changed."""

    def make(self, report: Report, cancel: threading.Event) -> Grown:
        """Make, change and remove what `look` said; once, after it."""


class OnpremGround:
    """A rack: the inventory's hosts are there, and nothing is made.

    Args:
        site: the spec and what lies beside it.
        access: the inventory and how to reach its hosts.
        release: with empty wants, which need no lock.

    Raises:
        GpuprovError: GP-INV codes; GP-LOCK codes for a lock that is missing or stale.
    """

    target = "onprem"

    def __init__(self, site: Site, access: Access, *, release: bool = False) -> None:
        self.lock, self.lock_text = "", ""
        if release:
            self._fleet = open_released_fleet(site, access)
        else:
            lock, self.lock_text = open_lock(site)
            refuse_stale_lock(site, lock)
            self.lock = lock.digest
            self._fleet = open_fleet(site, lock, access)
        self._told = (*self._fleet.warnings, *_storage_note(site))

    def settle(self, report: Report) -> tuple[Diagnostic, ...]:  # noqa: ARG002 - there is nothing to settle
        """Nothing is recorded outside the hosts themselves."""
        return ()

    def look(self, report: Report) -> Found:  # noqa: ARG002 - reading an inventory takes no time
        """The inventory's hosts."""
        return Found(fleet=self._fleet, diagnostics=self._told)

    def make(self, report: Report, cancel: threading.Event) -> Grown:  # noqa: ARG002 - nothing is made
        """The same hosts."""
        return Grown(fleet=self._fleet)


def open_ground(site: Site, request: UpRequest, *, patience: float | None = None) -> Ground:
    """The ground that a request means.

    Args:
        site: the spec and what lies beside it.
        request: target, names, direction.
        patience: seconds to wait for hosts that are coming up; None takes as long as that may be.

    Raises:
        GpuprovError: no or an unclear target; GP-RUN-004 for an option that the target would pass over; what the
            ground itself needs is missing.
    """
    target = choose_target(site, request.access, request.target)
    _refuse_idle_options(request, target)
    if target == CLOUD:
        # Imported here: whoever has a rack does not wait for the cloud's libraries.
        from gpuprov.app.cloud_ground import BOOT_SECONDS, CloudGround  # noqa: PLC0415
        from gpuprov.app.cloud_removal import CloudRemoval  # noqa: PLC0415
        from gpuprov.app.cloud_site import open_cloud  # noqa: PLC0415

        if request.release:
            return CloudRemoval(
                open_cloud(site), request.access, delete_data=request.delete_data, disturb=request.disturb
            )
        return CloudGround(
            open_cloud(site),
            request.access,
            replace=request.replace,
            remove=request.remove,
            disturb=request.disturb,
            refresh=request.refresh,
            patience=BOOT_SECONDS if patience is None else patience,
        )
    return OnpremGround(site, request.access, release=request.release)


def with_found(plan: Plan, found: Found) -> Plan:
    """A plan of hosts with what would change around them."""
    return replace(plan, resources=found.resources, drains={**plan.drains, **found.drains})


def _refuse_idle_options(request: UpRequest, target: str) -> None:
    """An option that would have no effect is refused: who writes it trusts in it."""
    names = [*request.replace, *request.remove, *request.delete_data]
    if target == CLOUD and request.release and request.access.limit is not None:
        summary = "destroy in the cloud takes all hosts of the spec, so it takes no limit"
        hint = "to remove single hosts, take them out of the spec, then `gpuprov up --target cloud --remove HOST`"
    elif target != CLOUD and names:
        summary = f"the rack has nothing that is replaced or deleted by name: {', '.join(names)}"
        hint = "these options name what is in the cloud: give --target cloud, or leave them away"
    else:
        return
    detail = "nothing was looked at or changed"
    raise GpuprovError(Diagnostic(code="GP-RUN-004", summary=summary, detail=detail, hint=hint))


_RACKED: Final = frozenset({LOCAL, SHARED})
"""Kinds of storage that hosts of a rack have too."""


def _storage_note(site: Site) -> tuple[Diagnostic, ...]:
    elsewhere = [name for name, storage in site.spec.storage.items() if storage.kind not in _RACKED]
    if not elsewhere:
        return ()
    return (
        Diagnostic(
            code="GP-SPEC-006",
            address="storage",
            summary="on the rack, local disks and shares are mounted; buckets and volumes are made in the cloud",
            detail="storage: " + ", ".join(elsewhere),
            severity=Severity.NOTE,
        ),
    )
