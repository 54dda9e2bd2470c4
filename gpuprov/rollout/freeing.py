"""The hosts of a batch that may be touched: looked at again, free of work, and still within their window."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.progress import Report
from gpuprov.model.run import HostResult
from gpuprov.model.snapshot import Snapshot
from gpuprov.rollout.command import interrupted
from gpuprov.rollout.drain import Drained, give_back, is_drained_first, take_work_off
from gpuprov.rollout.look import look_again
from gpuprov.rollout.results import failed, not_started
from gpuprov.rollout.types import Patience, Target, Tools
from gpuprov.rollout.window import refuse_closed
from gpuprov.transport.pool import run_on_all


@dataclass(frozen=True, kw_only=True, slots=True)
class Freed:
    """The hosts that may be touched, and the results of the others."""

    targets: tuple[Target, ...]
    """With what was seen of them last."""
    results: Mapping[str, HostResult]
    notes: Mapping[str, tuple[str, ...]]
    """Sentences about the drain, by host."""


def free(
    batch: Sequence[Target],
    held: Mapping[str, tuple[Diagnostic, ...]],
    *,
    tools: Tools,
    patience: Patience,
    report: Report,
    cancel: threading.Event,
) -> Freed:
    """Look at hosts again and take their work off them where their pool says how.

    Args:
        batch: the hosts.
        held: those whose lock somebody else has, each with the reason.
        tools: the rooms.
        patience: how many at a time.
        report: where progress goes.
        cancel: ends waiting; hosts that nothing was changed on get their work back.
    """
    results = {name: failed(_named(batch, name), reason) for name, reason in held.items()}
    standing, refused = _look(tuple(t for t in batch if t.host.name not in held), tools)
    results |= {t.host.name: failed(t, reason) for t, reason in refused}
    take = partial(take_work_off, tools=tools, report=report, cancel=cancel)
    drains = dict(zip((t.host.name for t in standing), run_on_all(standing, take, limit=patience.width), strict=True))
    results |= {t.host.name: _not_freed(t, drains[t.host.name]) for t in standing if drains[t.host.name].refused}
    waited = tuple(t for t in standing if t.host.name not in results and is_drained_first(t))
    # The work may have taken hours to end: what was true before it counts no longer.
    still, moved = _look(waited, tools, freed=True) if waited else ((), ())
    untouched = [(t, failed(t, reason)) for t, reason in moved]
    untouched += [(t, not_started(t, reason)) for t in still if (reason := _too_late(t, tools, cancel))]
    for target, result in untouched:
        back = give_back(target, _by(target), tools=tools, report=report, cancel=cancel)
        results[target.host.name] = replace(
            result, diagnostics=(*result.diagnostics, *back.refused), notes=(*result.notes, *back.notes)
        )
    last = {t.host.name: t for t in (*standing, *still)}
    return Freed(
        targets=tuple(last[t.host.name] for t in standing if t.host.name not in results),
        results=results,
        notes={name: drained.notes for name, drained in drains.items() if drained.notes},
    )


def _named(batch: Sequence[Target], name: str) -> Target:
    return next(target for target in batch if target.host.name == name)


def _look(
    targets: Sequence[Target], tools: Tools, *, freed: bool = False
) -> tuple[tuple[Target, ...], tuple[tuple[Target, tuple[Diagnostic, ...]], ...]]:
    """Those that are as their plans say, with what was seen, and the others with the reason."""
    seen = tools.observe([target.host for target in targets])
    told = [(t, look_again(t, seen[t.host.name], tools, freed=freed or not is_drained_first(t))) for t in targets]
    standing = (
        replace(t, seen=found) for t, reason in told if not reason and isinstance(found := seen[t.host.name], Snapshot)
    )
    return tuple(standing), tuple((t, reason) for t, reason in told if reason)


def _not_freed(target: Target, drained: Drained) -> HostResult:
    """An interruption is nobody's failure; that a host stays busy, or cannot be drained, is."""
    if all(diagnostic.code == "GP-RUN-003" for diagnostic in drained.refused):
        return not_started(target, drained.refused)
    return failed(target, drained.refused)


def _too_late(target: Target, tools: Tools, cancel: threading.Event) -> tuple[Diagnostic, ...]:
    if cancel.is_set():
        return (interrupted(target.host.name),)
    return refuse_closed(target.host.pool, target.steps, tools.clock())


def _by(target: Target) -> str:
    return target.steps.drain.by if target.steps.drain is not None else ""
