"""The proof: after a change, a host is probed until it is as wanted, and the spec's own commands must succeed."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from gpuprov.model.change import HostPlan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.fact import Known
from gpuprov.model.finding import Finding
from gpuprov.model.progress import Progress, Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.rollout.container import see_gpus_in_container
from gpuprov.rollout.likeness import lost
from gpuprov.rollout.marks import DRAINED, FOLDER, PROVEN
from gpuprov.rollout.types import Patience, Target, Tools, disturbs
from gpuprov.transport.protocol import Transport

_COMMAND_SECONDS: Final = 20.0
_POLL_SECONDS: Final = 1.0
_SHOWN_LINES: Final = 12
_SHOWN_NAMES: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """What a proof found."""

    failed: tuple[Diagnostic, ...] = ()
    """Nothing: proven."""
    remaining: tuple[Finding, ...] = ()
    """Findings that no change can end."""
    drained: str = ""
    """How gpuprov took work off the host, where it has not been given back yet."""


def prove(
    target: Target,
    just_seen: Snapshot | None,
    *,
    tools: Tools,
    patience: Patience,
    report: Report,
    cancel: threading.Event,
) -> Proof:
    """Look at a changed host until nothing is left to change, then let a container see the GPUs and run the commands.

    What no change can end is waited for too, unless it was there before: after a boot the driver takes its time.

    Args:
        target: the host.
        just_seen: a look at it since which nothing was done there; it is the first one then.
        tools: the rooms.
        patience: time limits.
        report: where progress goes.
        cancel: ends the waiting.
    """
    known = {finding.address for finding in (*target.plan.not_curable, *target.plan.unknown)}
    started = time.monotonic()
    while True:
        late = time.monotonic() - started > patience.settle or cancel.is_set()
        seen = just_seen or tools.observe([target.host])[target.host.name]
        just_seen = None
        if isinstance(seen, NotObserved):
            if late:
                return Proof(failed=(seen.diagnostic,))
            waiting = seen.reason
        else:
            plan = tools.plan(target, seen)
            worse = _worse(target, seen)
            left = tuple(finding for finding in (*plan.not_curable, *plan.unknown) if finding.counts)
            new = [finding.address for finding in left if finding.address not in known]
            if not plan.changes and not worse and (late or not new):
                break
            if late:
                return Proof(failed=(_not_proven(target, plan, worse),), remaining=left)
            waiting = ", ".join([*(change.address for change in plan.changes), *worse, *new][:_SHOWN_NAMES])
        report(Progress(phase="proof", subject=target.host.name, text=f"waiting for {waiting}"))
        cancel.wait(_POLL_SECONDS)
    proof = verify(target, seen, tools=tools, patience=patience, report=report)
    if not proof.failed:
        report(Progress(phase="proof", subject=target.host.name, text="as wanted", finished=True))
    return replace(proof, remaining=left)


def _worse(target: Target, seen: Snapshot) -> dict[str, str]:
    """What the host had before the change and has no longer, by address."""
    gpu = target.want.pool.gpu
    return dict(lost(target.before, seen, gpu.nvml_names if gpu is not None else ())) if target.before else {}


def verify(target: Target, seen: Snapshot | None, *, tools: Tools, patience: Patience, report: Report) -> Proof:
    """Try what only running shows on a host that is as wanted, and leave word there of whether it succeeded.

    Args:
        target: the host.
        seen: the last look at it.
        tools: the rooms.
        patience: time limits.
        report: where progress goes.
    """
    try:
        transport = tools.connect(target.host)
        try:
            failed = _container(target, seen, transport, report)
            failed = failed or _run_verify(target, transport, timeout=patience.verify, report=report)
            return Proof(failed=failed, drained=_leave_word(target, transport, good=not failed))
        finally:
            transport.close()
    except GpuprovError as error:
        return Proof(failed=error.diagnostics)


def keep_word(target: Target, tools: Tools) -> tuple[Diagnostic, ...]:
    """Keep on a host that its proof succeeded and nothing is left to do there."""
    try:
        transport = tools.connect(target.host)
        try:
            _keep_word(target, transport)
        finally:
            transport.close()
    except GpuprovError as error:
        return error.diagnostics
    return ()


def _keep_word(target: Target, transport: Transport) -> None:
    if not target.want.pool.hand_back:
        transport.run(f"mkdir -p -m 0755 {FOLDER}", timeout=_COMMAND_SECONDS, root=True)
        transport.put(f"{target.want.digest}\n".encode(), PROVEN, mode=0o644, root=True)


def _leave_word(target: Target, transport: Transport, *, good: bool) -> str:
    """Keep on the host whether the proof succeeded; returns how gpuprov took work off it, where it did.

    A host without work is not done: it gets its word when it has its work back.
    """
    command = f"if [ -e {DRAINED} ]; then cat {DRAINED}; fi"
    if not good:
        command = f"rm -f {PROVEN}; {command}"
    drained = transport.run(command, timeout=_COMMAND_SECONDS, root=True).stdout.decode(errors="replace").strip()
    if good and not drained:
        _keep_word(target, transport)
    return drained


def _container(target: Target, seen: Snapshot | None, transport: Transport, report: Report) -> tuple[Diagnostic, ...]:
    """Let a container see the GPUs where this run, or a run whose proof failed, may have changed what it needs."""
    marked = target.before is not None and isinstance(target.before.observe("gpuprov.proven"), Known)
    if not target.containers or (marked and not disturbs(target.plan)):
        return ()
    report(Progress(phase="verify", subject=target.host.name, text="a container lists the GPUs"))
    return see_gpus_in_container(transport, target.host.name, _working_gpus(target, seen))


def _working_gpus(target: Target, seen: Snapshot | None) -> int:
    """How many GPUs a container must see: a GPU that is known to be lost is a finding already."""
    count = seen.observe("gpu.count") if seen is not None else None
    gone = seen.observe("gpu.lost") if seen is not None else None
    lost_ones = len(gone.value) if isinstance(gone, Known) and isinstance(gone.value, list) else 0
    if isinstance(count, Known) and isinstance(count.value, int):
        return count.value - lost_ones
    return target.want.pool.gpu.count if target.want.pool.gpu is not None else 0


def _run_verify(target: Target, transport: Transport, *, timeout: float, report: Report) -> tuple[Diagnostic, ...]:
    for command in target.want.pool.verify:
        report(Progress(phase="verify", subject=target.host.name, text=command))
        outcome = transport.run(command, timeout=timeout)
        if outcome.status != 0:
            output = (outcome.stdout + outcome.stderr).decode(errors="replace").strip().splitlines()
            return (
                Diagnostic(
                    code="GP-ROLL-003",
                    address=target.host.name,
                    summary=f"the verify command `{command}` ended with status {outcome.status}",
                    detail="\n".join(output[-_SHOWN_LINES:]),
                    hint="the rollout stops here; repair the host or the command, then run the same command again",
                ),
            )
    return ()


def _not_proven(target: Target, plan: HostPlan, worse: Mapping[str, str]) -> Diagnostic:
    lines = [
        *worse.values(),
        *(
            f"{change.address}: wanted {change.after or 'absent'}, found {change.before or 'absent'}"
            for change in plan.changes
        ),
    ]
    return Diagnostic(
        code="GP-ROLL-002",
        address=target.host.name,
        summary=f"after the change {len(lines)} fact(s) are not as they must be",
        detail="\n".join(lines[:_SHOWN_LINES]),
        hint="look on the host at what is named (for a unit: `journalctl -u NAME`); the same command tries again",
    )
