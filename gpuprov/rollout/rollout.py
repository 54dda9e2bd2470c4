"""The rollout itself: in each round take work off, converge, reboot where needed, prove, give work back."""

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report
from gpuprov.model.run import HostResult, HostState
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.rollout.batches import Round, in_rounds
from gpuprov.rollout.drain import give_back, is_drained_first
from gpuprov.rollout.freeing import free
from gpuprov.rollout.host_lock import HostLocks
from gpuprov.rollout.proof import Proof, keep_word, prove, verify
from gpuprov.rollout.reboot import reboot_host
from gpuprov.rollout.results import changed, failed, interrupted, not_started
from gpuprov.rollout.types import Patience, Target, Tools
from gpuprov.rollout.window import refuse_closed
from gpuprov.spec.times import seconds_of
from gpuprov.transport.pool import run_on_all


def roll_out(
    targets: Sequence[Target], *, tools: Tools, patience: Patience, report: Report, cancel: threading.Event
) -> tuple[HostResult, ...]:
    """Bring each target to its want, batch after batch; as many failures as a pool allows stop all.

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
    look = partial(_as_wanted, tools=tools, patience=patience, report=report, cancel=cancel)
    results = {result.host: result for result in run_on_all(satisfied, look, limit=patience.width)}
    rounds = in_rounds([target for target in targets if not target.plan.satisfied])
    for number, round_ in enumerate(rounds, start=1):
        if number > 1 and not _over(targets, results, rounds[: number - 1]):
            _pause(round_, report=report, cancel=cancel)
        if _over(targets, results, rounds[: number - 1]) or cancel.is_set():
            results |= {target.host.name: not_started(target) for target in round_.targets}
            continue
        closed = {t.host.name: refuse_closed(t.host.pool, t.steps, tools.clock()) for t in round_.targets}
        results |= {t.host.name: not_started(t, closed[t.host.name]) for t in round_.targets if closed[t.host.name]}
        batch = [target for target in round_.targets if not closed[target.host.name]]
        if not batch:
            continue
        names = [target.host.name for target in batch]
        tools.record("batch", "begin", {"number": number, "of": len(rounds), "hosts": list(names)})
        report(Progress(phase="batch", done=number, total=len(rounds), text=", ".join(names)))
        for result in _run_batch(batch, tools=tools, patience=patience, report=report, cancel=cancel):
            results[result.host] = result
            tools.record("host", "end", {"host": result.host, "state": str(result.state)})
        tools.record("batch", "end", {"number": number})
    return tuple(results[target.host.name] for target in targets)


def _over(targets: Sequence[Target], results: Mapping[str, HostResult], done: Sequence[Round]) -> bool:
    """Whether no further batch may begin: a canary failed, or more hosts of a pool than it allows."""
    bad = {name for name, result in results.items() if result.state is HostState.FAILED}
    if any(target.host.name in bad for round_ in done if round_.canary for target in round_.targets):
        return True
    counts = Counter(target.host.pool for target in targets if target.host.name in bad)
    return any(counts[target.host.pool] > target.steps.max_failures for target in targets)


def _pause(round_: Round, *, report: Report, cancel: threading.Event) -> None:
    """Wait between two batches, as long as the most patient pool of the next one says."""
    longest = max((target.steps.pause for target in round_.targets), key=seconds_of)
    if seconds_of(longest) > 0:
        report(Progress(phase="batch", text=f"waiting {longest} before the next batch"))
        cancel.wait(seconds_of(longest))


def _as_wanted(
    target: Target, *, tools: Tools, patience: Patience, report: Report, cancel: threading.Event
) -> HostResult:
    """A host that needs no change: left alone when it was proven for this want, else proven now.

    Work that an earlier, lost run took off it comes back.
    """
    result = HostResult(
        host=target.host.name,
        pool=target.host.pool,
        state=HostState.SATISFIED,
        remaining=(*target.plan.not_curable, *target.plan.unknown),
    )
    if target.proven:
        return result
    proof = verify(target, target.before, tools=tools, patience=patience, report=report)
    return _with_work(target, proof, result, tools=tools, report=report, cancel=cancel)


def _with_work(
    target: Target, proof: Proof, result: HostResult, *, tools: Tools, report: Report, cancel: threading.Event
) -> HostResult:
    """The result of a proof; a host that is proven gets the work back that gpuprov took off it."""
    if proof.failed:
        return failed(target, proof.failed, result)
    if not proof.drained:
        return result
    back = give_back(target, proof.drained, tools=tools, report=report, cancel=cancel)
    result = replace(result, notes=(*result.notes, *back.notes))
    refused = back.refused or keep_word(target, tools)
    return failed(target, refused, result) if refused else result


def _run_batch(
    batch: Sequence[Target], *, tools: Tools, patience: Patience, report: Report, cancel: threading.Event
) -> list[HostResult]:
    started = time.monotonic()
    with HostLocks(tools.connect, tools.owner, report) as locks:
        held = locks.take_all([target.host for target in batch], width=patience.width)
        freed = free(batch, held, tools=tools, patience=patience, report=report, cancel=cancel)
        results = dict(freed.results)
        if freed.targets:
            results |= _converge_and_prove(
                freed.targets, tools=tools, locks=locks, patience=patience, report=report, cancel=cancel
            )
    for target in freed.targets:
        results[target.host.name] = _with_notes(target, results[target.host.name], freed.notes)
    seconds = time.monotonic() - started
    return [replace(results[target.host.name], seconds=seconds) for target in batch]


def _with_notes(target: Target, result: HostResult, drained: Mapping[str, tuple[str, ...]]) -> HostResult:
    notes = [*result.notes, *drained.get(target.host.name, ())]
    if result.state is HostState.FAILED and is_drained_first(target):
        notes.append("no new work begins on it: it stays drained until a run has proven it")
    return replace(result, notes=tuple(dict.fromkeys(notes)))


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
        return {target.host.name: failed(target, error.diagnostics) for target in targets}
    tools.record("converge", "end", {"hosts": {name: str(o.status) for name, o in outcomes.items()}})
    results: dict[str, HostResult] = {}
    good: list[Target] = []
    for target in targets:
        outcome = outcomes[target.host.name]
        results[target.host.name] = changed(target, outcome)
        if outcome.diagnostics:
            results[target.host.name] = failed(target, outcome.diagnostics, results[target.host.name])
        else:
            good.append(target)
    if cancel.is_set():
        return {**results, **{t.host.name: interrupted(t, results[t.host.name]) for t in good}}

    def finish(target: Target) -> HostResult:
        result = results[target.host.name]
        return _finish(target, result, tools=tools, locks=locks, patience=patience, report=report, cancel=cancel)

    return {**results, **{result.host: result for result in run_on_all(good, finish, limit=patience.width)}}


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
        seen = _reboot_if_needed(target, tools=tools, patience=patience, report=report, cancel=cancel)
        rebooted = seen is None
        if rebooted:
            locks.take_again(target.host)
        tools.record("proof", "begin", {"host": target.host.name})
        proof = prove(target, seen, tools=tools, patience=patience, report=report, cancel=cancel)
        tools.record("proof", "end", {"host": target.host.name, "proven": not proof.failed})
    except GpuprovError as error:
        return failed(target, error.diagnostics, result)
    result = replace(result, rebooted=rebooted, remaining=proof.remaining)
    return _with_work(target, proof, result, tools=tools, report=report, cancel=cancel)


def _reboot_if_needed(
    target: Target, *, tools: Tools, patience: Patience, report: Report, cancel: threading.Event
) -> Snapshot | None:
    """Reboot a host that needs it; gives what was seen of one that does not."""
    seen = tools.observe([target.host])[target.host.name]
    if isinstance(seen, NotObserved):
        raise GpuprovError(seen.diagnostic)
    if not tools.plan(target, seen).reboot:
        return seen
    if not target.plan.reboot:
        raise GpuprovError(
            Diagnostic(
                code="GP-PLAN-001",
                address=target.host.name,
                summary="the host now needs a reboot that the plan did not announce; it was not rebooted",
                hint="run the same command again: its plan shows the reboot and asks",
            )
        )
    if refused := tools.stranded(target, seen):
        raise GpuprovError(*refused)
    tools.record("reboot", "begin", {"host": target.host.name})
    reboot_host(target.host, connect=tools.connect, timeout=patience.reboot, report=report, cancel=cancel)
    tools.record("reboot", "end", {"host": target.host.name})
    return None
