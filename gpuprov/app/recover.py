"""`recover`: what interrupted runs left in the account and in the state is explained, and settled once it is agreed to.

Pending operations tell of a killed engine. A cut connection leaves none: what it made is found by its tags.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.cloud_ground import CloudGround
from gpuprov.app.cloud_site import CloudSite, as_one_step, open_cloud
from gpuprov.app.site import open_site
from gpuprov.cloud.orphans import can_be_taken
from gpuprov.cloud.types import Document
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity, status_of
from gpuprov.model.progress import Report
from gpuprov.model.stack_record import Orphan
from gpuprov.model.status import ExitStatus
from gpuprov.store.lock import hold_site


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """What was found, and what was done about it."""

    pending: tuple[tuple[str, str], ...]
    """Address and operation of what an engine was killed in."""
    unfinished: bool
    """Whether the last update has not ended well."""
    orphans: tuple[Orphan, ...]
    """In the account by their tags, and not in the state; before anything was settled."""
    diagnostics: tuple[Diagnostic, ...] = ()
    done: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to settle."""
        return not (self.pending or self.unfinished or self.orphans)

    @property
    def status(self) -> ExitStatus:
        """0 when all was settled; 7 when something was found and left as it is."""
        found = status_of(self.diagnostics)
        if found is ExitStatus.DONE and not self.done and not self.empty:
            return ExitStatus.DIFFERENT
        return found


def recover(path: Path, report: Report, *, agree: Callable[[Recovery], bool]) -> Recovery:
    """Explain, ask, settle.

    Args:
        path: the spec.
        report: where progress goes.
        agree: shows what was found and asks; not called when there is nothing.

    Raises:
        GpuprovError: when account, state or engine cannot be used; GP-CLOUD-015 for what cannot be settled.
    """
    site = open_site(path)
    with hold_site(site.state, ["gpuprov", "recover"]):
        place = open_cloud(site)
        state = place.stack.state()
        found = Recovery(
            pending=tuple((one.address, one.operation) for one in state.pending),
            unfinished=state.unfinished,
            orphans=place.stack.orphans(place.account.tagged(site.spec.name)),
        )
        if found.empty or not agree(found):
            return found
        document, told = _wanted(place)
        told += place.stack.recover(
            place.account.find,
            as_one_step(report),
            document=document,
            thorough=True,
            taken_over=place.account.taken_over,
        )
        left = place.stack.orphans(place.account.tagged(site.spec.name))
        taken = tuple(one for one in left if can_be_taken(one))
        if taken and place.stack.take_in(taken, report):
            told += tuple(_taken(one) for one in taken)
            left = tuple(one for one in left if one not in taken)
    return replace(found, diagnostics=(*told, *(_left(one) for one in left)), done=True)


def _wanted(place: CloudSite) -> tuple[Document | None, tuple[Diagnostic, ...]]:
    """What the spec asks for, so that all of it is looked for; recovery goes on where that cannot be told."""
    try:
        return CloudGround(place, Access()).decide(), ()
    except GpuprovError as error:
        return None, (
            Diagnostic(
                code="GP-CLOUD-015",
                summary="what the spec asks for now cannot be decided, so it is not looked for in the account",
                detail="\n".join(f"{d.code} {d.address}: {d.summary}" for d in error.diagnostics),
                hint="what carries the spec's tags is looked for all the same",
                severity=Severity.WARNING,
            ),
        )


def _taken(one: Orphan) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-023",
        severity=Severity.NOTE,
        address=one.address,
        summary=f"{one.id} carries the spec's tags and no state knew it; it was taken into the state",
        hint="`gpuprov preview --target cloud` shows what becomes of it: the spec keeps it or it is deleted",
    )


def _left(one: Orphan) -> Diagnostic:
    why = f"the state holds another {one.address}" if one.twin else "this stack's state is empty, and cannot take it in"
    return Diagnostic(
        code="GP-CLOUD-064",
        severity=Severity.WARNING,
        address=one.address,
        summary=f"{one.id} is in the account by the spec's tags, and stays an orphan: {why}",
        detail=f"it is a {one.type}",
        hint="see what it holds; then delete it in the AWS console, or take its tag gpuprov:spec away",
    )
