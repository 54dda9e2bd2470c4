"""The rollout itself: every pool in its batches; in each round look again, converge, reboot where needed, prove."""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, zip_longest

from gpuprov.converge.types import HostOutcome
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report
from gpuprov.model.run import HostResult, HostState
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.plan.guard import moved
from gpuprov.rollout.batches import in_batches
from gpuprov.rollout.host_lock import HostLocks
from gpuprov.rollout.proof import prove, verify
from gpuprov.rollout.reboot import reboot_host
from gpuprov.rollout.types import Patience, Target, Tools
from gpuprov.transport.pool import run_on_all


def roll_out(
    targets: Sequence[Target], *, tools: Tools, patience: Patience, report: Report, cancel: threading.Event
) -> tuple[HostResult, ...]:
    """Bring each target to its want, batch after batch; the first failure stops the batches that follow.

    Args:
        targets: hosts with their plans; satisfied ones are answered without touching them.
        tools: the rooms it uses.
        patience: time limits.
        report: where progress goes.
        cancel: set by Ctrl-C: the running batch ends, no other begins.

    Returns:
        One result per target, in the order given.
    """
    satisfied = [target for target in targets if target.plan.satisfied]
    look = partial(_as_wanted, tools=tools, patience=patience, report=report)
    results = {result.host: result for result in run_on_all(satisfied, look, limit=patience.width)}
    batches = list(_batches([target for target in targets if not target.plan.satisfied]))
    for number, batch in enumerate(batches, start=1):
        failed = any(result.state is HostState.FAILED for result in results.values())
        if failed or cancel.is_set():
            results |= {target.host.name: _not_started(target) for target in batch}
            continue
        names = [target.host.name for target in batch]
        tools.record("batch", "begin", {"number": number, "of": len(batches), "hosts": list(names)})
        report(Progress(phase="batch", done=number, total=len(batches), text=", ".join(names)))
        for result in _run_batch(batch, tools=tools, patience=patience, report=report, cancel=cancel):
            results[result.host] = result
            tools.record("host", "end", {"host": result.host, "state": str(result.state)})
        tools.record("batch", "end", {"number": number})
    return tuple(results[target.host.name] for target in targets)


def _as_wanted(target: Target, *, tools: Tools, patience: Patience, report: Report) -> HostResult:
    """A host that needs no change: left alone when it was proven for this want, else its verify commands run."""
    result = HostResult(
        host=target.host.name,
        pool=target.host.pool,
        state=HostState.SATISFIED,
        remaining=(*target.plan.not_curable, *target.plan.unknown),
    )
    failed = () if target.proven else verify(target, tools=tools, patience=patience, report=report)
    return replace(result, state=HostState.FAILED, diagnostics=failed) if failed else result


def _batches(targets: Sequence[Target]) -> Iterator[tuple[Target, ...]]:
    """Rounds: the n-th batch of every pool together; each pool keeps its own limit, and a failure stops all of them."""
    pools: dict[str, list[Target]] = {}
    for target in targets:
        pools.setdefault(target.host.pool, []).append(target)
    rounds = zip_longest(*(in_batches(members, members[0].batch) for members in pools.values()), fillvalue=())
    yield from (tuple(chain.from_iterable(batches)) for batches in rounds)


def _not_started(target: Target) -> HostResult:
    return HostResult(host=target.host.name, pool=target.host.pool, state=HostState.NOT_STARTED)


def _failed(target: Target, diagnostics: Sequence[Diagnostic], result: HostResult | None = None) -> HostResult:
    base = result or _not_started(target)
    return replace(base, state=HostState.FAILED, diagnostics=tuple(diagnostics))


def _run_batch(
    batch: Sequence[Target], *, tools: Tools, patience: Patience, report: Report, cancel: threading.Event
) -> list[HostResult]:
    started = time.monotonic()
    results: dict[str, HostResult] = {}
    standing = []
    with HostLocks(tools.connect, tools.owner) as locks:
        held = locks.take_all([target.host for target in batch], width=patience.width)
        seen = tools.observe([target.host for target in batch if target.host.name not in held])
        for target in batch:
            refusal = held.get(target.host.name) or _look_again(target, seen[target.host.name], tools)
            if refusal:
                results[target.host.name] = _failed(target, refusal)
            else:
                standing.append(target)
        if standing:
            results |= _converge_and_prove(
                standing, tools=tools, locks=locks, patience=patience, report=report, cancel=cancel
            )
    seconds = time.monotonic() - started
    return [replace(results[target.host.name], seconds=seconds) for target in batch]


def _look_again(target: Target, seen: Snapshot | NotObserved, tools: Tools) -> tuple[Diagnostic, ...]:
    """Refuse a host that is not what the plan was made from, or needs a change that nobody was shown."""
    if isinstance(seen, NotObserved):
        return (seen.diagnostic,)
    shown = {(change.address, change.action, change.after) for change in target.plan.changes}
    fresh = tools.plan(target, seen).changes
    unseen = [change.address for change in fresh if (change.address, change.action, change.after) not in shown]
    changed = dict.fromkeys([*moved(target.plan, seen), *unseen])
    if not changed:
        return ()
    return (
        Diagnostic(
            code="GP-PLAN-001",
            address=target.host.name,
            summary="the host moved since the plan was made; nothing was changed on it",
            detail="moved: " + ", ".join(changed),
            hint="run `gpuprov up` again: it makes a new plan and shows it",
        ),
    )


def _converge_and_prove(
    targets: Sequence[Target],
    *,
    tools: Tools,
    locks: HostLocks,
    patience: Patience,
    report: Report,
    cancel: threading.Event,
) -> dict[str, HostResult]:
    tools.record("converge", "begin", {"hosts": [target.host.name for target in targets]})
    try:
        outcomes = tools.converge(targets)
    except GpuprovError as error:
        # The play did not start: what other batches did must still be told.
        return {target.host.name: _failed(target, error.diagnostics) for target in targets}
    tools.record("converge", "end", {"hosts": {name: str(o.status) for name, o in outcomes.items()}})
    results: dict[str, HostResult] = {}
    good: list[Target] = []
    for target in targets:
        outcome = outcomes[target.host.name]
        results[target.host.name] = _result_of(target, outcome)
        if outcome.diagnostics:
            results[target.host.name] = _failed(target, outcome.diagnostics, results[target.host.name])
        else:
            good.append(target)
    if cancel.is_set():
        return {**results, **{t.host.name: _interrupted(t, results[t.host.name]) for t in good}}

    def finish(target: Target) -> HostResult:
        result = results[target.host.name]
        return _finish(target, result, tools=tools, locks=locks, patience=patience, report=report, cancel=cancel)

    return {**results, **{result.host: result for result in run_on_all(good, finish, limit=patience.width)}}


def _result_of(target: Target, outcome: HostOutcome) -> HostResult:
    return HostResult(
        host=target.host.name,
        pool=target.host.pool,
        state=HostState.CHANGED,
        tasks=outcome.tasks,
        changed=outcome.changed,
        packages=outcome.packages,
        others=outcome.others,
        notes=outcome.notes,
    )


def _interrupted(target: Target, result: HostResult) -> HostResult:
    diagnostic = Diagnostic(
        code="GP-RUN-003",
        address=target.host.name,
        summary="interrupted after the host was changed and before it was proven",
        hint="run the same command again: it looks at the host anew and goes on from there",
    )
    return _failed(target, [diagnostic], result)


def _finish(
    target: Target,
    result: HostResult,
    *,
    tools: Tools,
    locks: HostLocks,
    patience: Patience,
    report: Report,
    cancel: threading.Event,
) -> HostResult:
    """Reboot where the loaded driver is not the wanted one, then prove; only while the host's lock is ours."""
    try:
        locks.keep(target.host)
        rebooted = _reboot_if_needed(target, tools=tools, patience=patience, report=report, cancel=cancel)
        locks.keep(target.host)
        tools.record("proof", "begin", {"host": target.host.name})
        failed, remaining = prove(target, tools=tools, patience=patience, report=report, cancel=cancel)
        tools.record("proof", "end", {"host": target.host.name, "proven": not failed})
    except GpuprovError as error:
        return _failed(target, error.diagnostics, result)
    result = replace(result, rebooted=rebooted, remaining=remaining)
    return _failed(target, failed, result) if failed else result


def _reboot_if_needed(
    target: Target, *, tools: Tools, patience: Patience, report: Report, cancel: threading.Event
) -> bool:
    seen = tools.observe([target.host])[target.host.name]
    if isinstance(seen, NotObserved):
        raise GpuprovError(seen.diagnostic)
    if not tools.plan(target, seen).reboot:
        return False
    if not target.plan.reboot:
        raise GpuprovError(
            Diagnostic(
                code="GP-PLAN-001",
                address=target.host.name,
                summary="the host now needs a reboot that the plan did not announce; it was not rebooted",
                hint="run `gpuprov up` again: its plan shows the reboot and asks",
            )
        )
    tools.record("reboot", "begin", {"host": target.host.name})
    reboot_host(target.host, connect=tools.connect, timeout=patience.reboot, report=report, cancel=cancel)
    tools.record("reboot", "end", {"host": target.host.name})
    return True
