"""The proof: after a change, a host is probed until it is as wanted, and the spec's own commands must succeed."""

import threading
import time
from collections.abc import Sequence
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.fact import Known, Unknown
from gpuprov.model.finding import Finding
from gpuprov.model.host import Host
from gpuprov.model.progress import Progress, Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.rollout.reboot import Connect
from gpuprov.rollout.types import Patience, Target, Tools

_POLL_SECONDS: Final = 1.0
_SHOWN_LINES: Final = 12


def prove(
    target: Target, *, tools: Tools, patience: Patience, report: Report, cancel: threading.Event
) -> tuple[tuple[Diagnostic, ...], tuple[Finding, ...]]:
    """Look at a changed host until nothing curable is wrong, then run the verify commands.

    Returns:
        What failed (nothing: proven), and the findings that no change can end.
    """
    started = time.monotonic()
    while True:
        seen = tools.observe([target.host])[target.host.name]
        if isinstance(seen, Snapshot):
            findings = [finding for finding in tools.findings(target, seen) if finding.counts]
            if not any(finding.curable for finding in findings):
                break
        if time.monotonic() - started > patience.settle or cancel.is_set():
            return _not_proven(target, seen, tools), ()
        report(Progress(phase="proof", subject=target.host.name, text=_waiting_for(target, seen, tools)))
        cancel.wait(_POLL_SECONDS)
    failed = run_verify(
        target.host, target.want.pool.verify, connect=tools.connect, timeout=patience.verify, report=report
    )
    if not failed:
        report(Progress(phase="proof", subject=target.host.name, text="as wanted", finished=True))
    return failed, tuple(findings)


def run_verify(
    host: Host, commands: Sequence[str], *, connect: Connect, timeout: float, report: Report
) -> tuple[Diagnostic, ...]:
    """Run the spec's verify commands as the login user; each must end with status 0.

    Returns:
        One diagnostic for the first command that failed, with its output; nothing when all succeeded.
    """
    if not commands:
        return ()
    transport = connect(host)
    try:
        for command in commands:
            report(Progress(phase="verify", subject=host.name, text=command))
            outcome = transport.run(command, timeout=timeout)
            if outcome.status != 0:
                output = (outcome.stdout + outcome.stderr).decode(errors="replace").strip().splitlines()
                return (
                    Diagnostic(
                        code="GP-ROLL-003",
                        address=host.name,
                        summary=f"the verify command `{command}` ended with status {outcome.status}",
                        detail="\n".join(output[-_SHOWN_LINES:]),
                        hint="the rollout stops here; repair the host or the command, then run `gpuprov up` again",
                    ),
                )
    except GpuprovError as error:
        return error.diagnostics
    finally:
        transport.close()
    return ()


def _waiting_for(target: Target, seen: Snapshot | NotObserved, tools: Tools) -> str:
    if isinstance(seen, NotObserved):
        return f"waiting: {seen.reason}"
    wrong = [finding.address for finding in tools.findings(target, seen) if finding.counts and finding.curable]
    more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return f"waiting for {wrong[0]}{more}" if wrong else "looking again"


def _not_proven(target: Target, seen: Snapshot | NotObserved, tools: Tools) -> tuple[Diagnostic, ...]:
    if isinstance(seen, NotObserved):
        return (Diagnostic(code=seen.code, address=target.host.name, summary=seen.reason, hint=seen.hint),)
    wrong = [finding for finding in tools.findings(target, seen) if finding.counts and finding.curable]
    lines = [f"{f.address}: wanted {observation_text(f.expected)}, found {observation_text(f.observed)}" for f in wrong]
    return (
        Diagnostic(
            code="GP-ROLL-002",
            address=target.host.name,
            summary=f"after the change {len(wrong)} fact(s) are still not as wanted",
            detail="\n".join(lines[:_SHOWN_LINES]),
            hint="look at the named services on the host (`journalctl -u NAME`); `gpuprov up` tries again",
        ),
    )


def observation_text(observation: object) -> str:
    """An observation in a sentence: its value, `absent`, or why it is unknown."""
    if isinstance(observation, Known):
        return str(observation.value)
    return f"unknown ({observation.reason})" if isinstance(observation, Unknown) else "absent"
