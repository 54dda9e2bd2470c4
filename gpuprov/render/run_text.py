"""The result of a run for people and for programs."""

from collections.abc import Sequence

from rich.text import Text

from gpuprov.model.change import Change, HostPlan, Plan
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.finding import Finding
from gpuprov.model.run import HostResult, HostState, RunResult
from gpuprov.render.diagnostics import diagnostic_text
from gpuprov.render.foreseen_text import foreseen_body
from gpuprov.render.json_text import diagnostics_body
from gpuprov.render.observation import finding_lines, observation_body
from gpuprov.render.resources_text import resource_plan_body, resource_result_body, show_resource_result
from gpuprov.render.rollback_text import rollback_body
from gpuprov.render.terminal import Terminal

_STYLES = {
    HostState.SATISFIED: "good",
    HostState.CHANGED: "good",
    HostState.FAILED: "error",
    HostState.NOT_STARTED: "warning",
}


def show_run(result: RunResult, terminal: Terminal, *, told: Sequence[Diagnostic] = ()) -> None:
    """Print what was made, one line a host and a closing line on stdout, what failed on stderr.

    Args:
        result: the run.
        terminal: where.
        told: what was shown before the question, and is not shown again.
    """
    show_resource_result(result.resources, terminal)
    for host in result.hosts:
        terminal.out.print(_host_line(host))
        for line in (*_other_moves(host.others), *host.notes):
            terminal.out.print(f"    {line}")
        for line in finding_lines(host.remaining):
            terminal.out.print(Text(f"    {line}", style="warning"))
    for diagnostic in [*result.diagnostics, *(d for host in result.hosts for d in host.diagnostics)]:
        if diagnostic not in told:
            terminal.err.print(diagnostic_text(diagnostic))
    tasks, changes = sum(h.tasks for h in result.hosts), sum(h.changed for h in result.hosts)
    hosts = [f"{len(result.hosts)} host(s): {tasks} tasks run, {changes} changes"] if result.hosts else []
    closing = "; ".join([*hosts, *([f"run {result.run}"] if result.run else [])])
    if closing:
        terminal.out.print(closing)


def _other_moves(moves: Sequence[str]) -> list[str]:
    """Packages that came as a dependency are counted; those that rose are named."""
    rose = [move for move in moves if " absent -> " not in move]
    came = len(moves) - len(rose)
    lines = [f"also moved: {move}" for move in rose]
    return [*lines, f"{came} more package(s) came as dependencies (--json names them)"] if came else lines


def _host_line(host: HostResult) -> Text:
    facts = [f"{host.tasks} tasks, {host.changed} changes"]
    if host.packages:
        facts.append(f"{len(host.packages)} packages")
    if host.rebooted:
        facts.append("rebooted")
    if host.seconds:
        facts.append(f"{host.seconds:.1f} s")
    return Text.assemble(
        (f"{host.state!s:11}", _STYLES[host.state]), " ", (host.host, "name"), f" ({', '.join(facts)})"
    )


def run_body(result: RunResult) -> dict[str, object]:
    """The result of a run as JSON."""
    return {
        "run": result.run,
        "status": int(result.status),
        "plan": plan_body(result.plan),
        "hosts": [
            {
                "host": host.host,
                "pool": host.pool,
                "state": str(host.state),
                "tasks": host.tasks,
                "changed": host.changed,
                "packages": list(host.packages),
                "others": list(host.others),
                "notes": list(host.notes),
                "rebooted": host.rebooted,
                "seconds": round(host.seconds, 3),
                "remaining": [finding_body(finding) for finding in host.remaining],
                "diagnostics": diagnostics_body(host.diagnostics),
            }
            for host in result.hosts
        ],
        "resources": resource_result_body(result.resources),
        "diagnostics": diagnostics_body(result.diagnostics),
    }


def plan_body(plan: Plan) -> dict[str, object]:
    """A plan as JSON."""
    return {
        "lock": plan.lock,
        "hosts": [_host_plan_body(host) for host in plan.hosts],
        "order": [list(hosts) for hosts in plan.order],
        "drains": dict(plan.drains),
        "excluded": dict(plan.excluded),
        "resources": resource_plan_body(plan.resources),
    }


def _host_plan_body(plan: HostPlan) -> dict[str, object]:
    return {
        "host": plan.host,
        "pool": plan.pool,
        "satisfied": plan.satisfied,
        "reboot": plan.reboot,
        "changes": [_change_body(change) for change in plan.changes],
        "disturbs": list(plan.disturbs),
        "foreseen": foreseen_body(plan.foreseen),
        "rollback": rollback_body(plan.rollback),
        "not_curable": [finding_body(finding) for finding in plan.not_curable],
        "unknown": [finding_body(finding) for finding in plan.unknown],
    }


def _change_body(change: Change) -> dict[str, object]:
    return {
        "address": change.address,
        "action": str(change.action),
        "subject": change.subject,
        "before": change.before,
        "after": change.after,
        "reason": change.reason,
        "cost": str(change.cost),
        "diff": change.diff,
    }


def finding_body(finding: Finding) -> dict[str, object]:
    """A finding as JSON."""
    return {
        "address": finding.address,
        "host": finding.host,
        "kind": str(finding.kind),
        "sides": list(finding.sides),
        "expected": observation_body(finding.expected),
        "observed": observation_body(finding.observed),
        "class": str(finding.parity),
        "cost": str(finding.cost),
        "curable": finding.curable,
        "reason": finding.reason,
        "waived": finding.waiver.reason if finding.waiver else None,
    }
