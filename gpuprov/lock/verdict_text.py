"""What a verdict, or a lock that was to stay, tells people."""

from collections.abc import Sequence

from gpuprov.lock.kernel import KERNEL
from gpuprov.lock.moves import Move
from gpuprov.lock.verdict import Verdict
from gpuprov.model.diagnostic import Diagnostic, Severity


def stale_diagnostic(verdict: Verdict) -> Diagnostic | None:
    """GP-LOCK-004 with every reason; None for a fresh lock."""
    if verdict.fresh:
        return None
    kinds = list(dict.fromkeys(str(reason.kind) for reason in verdict.reasons))
    lines = [f"{r.address}: {r.kind}: the lock has {r.locked}, found is {r.found}" for r in verdict.reasons]
    return Diagnostic(
        code="GP-LOCK-004",
        address=verdict.reasons[0].address,
        summary=f"the lock is stale: {'; '.join(kinds)}",
        detail="\n".join(lines),
        hint="Run `gpuprov lock` and look at what changes; versions that are still offered stay.",
    )


def newer_diagnostic(verdict: Verdict) -> Diagnostic | None:
    """GP-LOCK-011, a note that newer versions are offered: no reason against the lock."""
    if not verdict.newer:
        return None
    lines = [f"pools.{n.pool}: {n.name}: the lock has {n.locked}, offered is {n.offered}" for n in verdict.newer]
    names = list(dict.fromkeys(newer.name for newer in verdict.newer))
    return Diagnostic(
        code="GP-LOCK-011",
        severity=Severity.NOTE,
        address=names[0],
        summary=f"the sources offer newer versions than the lock has: {', '.join(names)}",
        detail="\n".join(lines),
        hint="`gpuprov lock --upgrade NAME` takes one, `gpuprov lock --upgrade` takes all"
        + (", and a kernel only by its name." if KERNEL in names else "."),
    )


def would_change(moved: Sequence[Move], *, first: bool) -> Diagnostic:
    """GP-LOCK-010: a new lock is not the one that is there, and it was asked to be.

    Args:
        moved: what moves; nothing when only what the lock was made from changed.
        first: whether there is no lock yet.
    """
    lines = [f"{m.name}: {m.before or 'not locked'} -> {m.after or 'not locked'}" for m in moved]
    what = "there is no lock yet" if first else f"{len(lines)} move" if lines else "what it was made from changed"
    return Diagnostic(
        code="GP-LOCK-010",
        address="lock",
        summary=f"the lock would change: {what}",
        detail="\n".join(lines),
        hint="Run `gpuprov lock` where changes are made, look at them, and commit the lock.",
    )
