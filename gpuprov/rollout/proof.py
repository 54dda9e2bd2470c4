"""The proof: after a change, a host is probed until it is as wanted, and the spec's own commands must succeed."""

import posixpath
import threading
import time
from typing import Final

from gpuprov.model.change import HostPlan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.finding import Finding
from gpuprov.model.progress import Progress, Report
from gpuprov.model.snapshot import NotObserved
from gpuprov.rollout.types import Patience, Target, Tools
from gpuprov.transport.protocol import Transport

PROVEN: Final = "/var/lib/gpuprov/proven"
"""Where a host keeps the digest of the want that its last proof succeeded for."""

_COMMAND_SECONDS: Final = 20.0
_POLL_SECONDS: Final = 1.0
_SHOWN_LINES: Final = 12
_SHOWN_NAMES: Final = 3


def prove(
    target: Target, *, tools: Tools, patience: Patience, report: Report, cancel: threading.Event
) -> tuple[tuple[Diagnostic, ...], tuple[Finding, ...]]:
    """Look at a changed host until nothing is left to change, then run the verify commands.

    What no change can end is waited for too, unless it was there before: after a boot the driver takes its time.

    Returns:
        What failed (nothing: proven), and the findings that no change can end.
    """
    known = {finding.address for finding in (*target.plan.not_curable, *target.plan.unknown)}
    started = time.monotonic()
    while True:
        late = time.monotonic() - started > patience.settle or cancel.is_set()
        seen = tools.observe([target.host])[target.host.name]
        if isinstance(seen, NotObserved):
            if late:
                told = seen.diagnostic
                return (told,), ()
            waiting = seen.reason
        else:
            plan = tools.plan(target, seen)
            left = tuple(finding for finding in (*plan.not_curable, *plan.unknown) if finding.counts)
            new = [finding.address for finding in left if finding.address not in known]
            if not plan.changes and (late or not new):
                break
            if late:
                return (_not_proven(target, plan),), left
            waiting = ", ".join([*(change.address for change in plan.changes), *new][:_SHOWN_NAMES])
        report(Progress(phase="proof", subject=target.host.name, text=f"waiting for {waiting}"))
        cancel.wait(_POLL_SECONDS)
    failed = verify(target, tools=tools, patience=patience, report=report)
    if not failed:
        report(Progress(phase="proof", subject=target.host.name, text="as wanted", finished=True))
    return failed, left


def verify(target: Target, *, tools: Tools, patience: Patience, report: Report) -> tuple[Diagnostic, ...]:
    """Run the verify commands of a host that is as wanted, and leave word there that they succeeded for this want."""
    try:
        transport = tools.connect(target.host)
        try:
            failed = _run_verify(target, transport, timeout=patience.verify, report=report)
            if not failed and not target.want.pool.hand_back:
                transport.run(f"mkdir -p -m 0755 {posixpath.dirname(PROVEN)}", timeout=_COMMAND_SECONDS, root=True)
                transport.put(f"{target.want.digest}\n".encode(), PROVEN, mode=0o644, root=True)
        finally:
            transport.close()
    except GpuprovError as error:
        return error.diagnostics
    return failed


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
                    hint="the rollout stops here; repair the host or the command, then run `gpuprov up` again",
                ),
            )
    return ()


def _not_proven(target: Target, plan: HostPlan) -> Diagnostic:
    lines = [
        f"{change.address}: wanted {change.after or 'absent'}, found {change.before or 'absent'}"
        for change in plan.changes
    ]
    return Diagnostic(
        code="GP-ROLL-002",
        address=target.host.name,
        summary=f"after the change {len(lines)} fact(s) are still not as wanted",
        detail="\n".join(lines[:_SHOWN_LINES]),
        hint="look on the host at what is named (for a unit: `journalctl -u NAME`); `gpuprov up` tries again",
    )
