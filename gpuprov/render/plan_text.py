"""A plan for people: per host what changes, from what to what, why and what it costs; equal hosts are shown once."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.text import Text

from gpuprov.model.change import Action, Change, HostPlan, Plan
from gpuprov.model.facet import Cost
from gpuprov.render.foreseen_text import foreseen_lines
from gpuprov.render.observation import finding_lines
from gpuprov.render.resources_text import show_resource_plan
from gpuprov.render.rollback_text import rollback_line
from gpuprov.render.terminal import Terminal

_SIGNS: Mapping[Action, tuple[str, str]] = {
    Action.INSTALL: ("+", "add"),
    Action.UPGRADE: ("^", "change"),
    Action.DOWNGRADE: ("v", "change"),
    Action.REMOVE: ("-", "remove"),
    Action.TAKE_OVER: ("-", "remove"),
    Action.HOLD: ("+", "add"),
    Action.RELEASE: ("-", "remove"),
    Action.REPAIR: ("~", "change"),
    Action.WRITE: ("~", "change"),
    Action.DELETE: ("-", "remove"),
    Action.TAKE_BACK: ("-", "remove"),
    Action.FORMAT: ("!", "remove"),
    Action.MOUNT: ("+", "add"),
    Action.ADD: ("+", "add"),
    Action.JOIN: ("+", "add"),
    Action.LEAVE: ("-", "remove"),
    Action.LOCK: ("-", "remove"),
    Action.UNLOCK: ("+", "add"),
    Action.SET: ("~", "change"),
    Action.RESTORE: ("~", "change"),
    Action.START: ("+", "add"),
    Action.ENABLE: ("+", "add"),
    Action.RESTART: ("!", "change"),
    Action.BOOT: ("~", "change"),
    Action.LOAD: ("!", "change"),
    Action.REBOOT: ("!", "remove"),
}


_HEAD: Final = 3
"""Lines of a unified diff before its first changed line."""
_LONGEST_NEW_FILE: Final = 12
"""A new file with a longer diff is shown by its length; a changed one is always shown in full."""


def show_plan(plan: Plan, terminal: Terminal, *, verbose: bool = False) -> None:
    """Print a plan on stdout."""
    out = terminal.out
    show_resource_plan(plan.resources, terminal, verbose=verbose)
    for hosts, example in group_hosts(plan.hosts):
        names = ", ".join(hosts)
        if not example.changes:
            state, style = host_state(example)
            out.print(Text.assemble(("= ", style), (names, "name"), f" ({example.pool}): {state}, nothing to do"))
        else:
            out.print(Text.assemble((names, "name"), f" ({example.pool}): {summary(example)}"))
            for line in _change_lines(example, verbose=verbose):
                out.print(line)
            for line in foreseen_lines(example, verbose=verbose):
                out.print(line)
            if example.rollback is not None:
                out.print(rollback_line(example.rollback))
        for told in finding_lines((*example.not_curable, *example.unknown)):
            out.print(Text(f"  {told}", style="warning"))
    for host, reason in plan.excluded.items():
        out.print(Text.assemble(("x ", "error"), (host, "name"), f": {reason}"))
    for told in order_lines(plan):
        out.print(told)
    if plan.hosts or plan.excluded or plan.resources.new_hosts:
        out.print(closing_line(plan))


def group_hosts(plans: Sequence[HostPlan]) -> list[tuple[list[str], HostPlan]]:
    """Hosts whose plans say the same, together, in the order of the first of them."""
    groups: dict[object, tuple[list[str], HostPlan]] = {}
    for plan in plans:
        key = (
            plan.pool,
            plan.changes,
            plan.foreseen,
            plan.disturbs,
            plan.rollback,
            # As text: a value may be a list, which has no hash.
            tuple((f.address, repr(f.expected), repr(f.observed)) for f in plan.not_curable + plan.unknown),
        )
        groups.setdefault(key, ([], plan))[0].append(plan.host)
    return list(groups.values())


def summary(plan: HostPlan) -> str:
    """One line: how many changes of each kind, and the dearest cost."""
    counts: dict[str, int] = {}
    for change in plan.changes:
        counts[str(change.action)] = counts.get(str(change.action), 0) + 1
    what = ", ".join(f"{count} {action}" for action, count in counts.items())
    return f"{what}; cost: {dearest([change.cost for change in plan.changes])}"


def dearest(costs: Sequence[Cost]) -> Cost:
    """The highest of several costs."""
    order = list(Cost)
    return max(costs, key=order.index, default=Cost.NOTHING)


def order_lines(plan: Plan) -> list[str]:
    """In which rounds hosts change, where there are several, and what takes work off them first."""
    rounds = [", ".join(hosts) for hosts in plan.order]
    lines = [f"one after another: {' | '.join(rounds)}"] if len(rounds) > 1 else []
    how: dict[str, list[str]] = {}
    for host, words in plan.drains.items():
        how.setdefault(words, []).append(host)
    return [*lines, *(f"work goes off first, by {words}: {', '.join(hosts)}" for words, hosts in how.items())]


def closing_line(plan: Plan) -> str:
    """How many hosts change, are satisfied, reboot, and are left out."""
    changing = [host for host in plan.hosts if host.changes]
    reboots = sum(1 for host in changing if host.reboot)
    satisfied = sum(1 for host in plan.hosts if host_state(host)[1] == "good")
    other = len(plan.hosts) - len(changing) - satisfied
    left_out = f", {len(plan.excluded)} left out" if plan.excluded else ""
    not_good = f", {other} neither as wanted nor curable here" if other else ""
    made = f"{len(plan.resources.new_hosts)} host(s) to make, " if plan.resources.new_hosts else ""
    return (
        f"{made}{len(changing)} host(s) to change ({reboots} with a reboot), {satisfied} as wanted{not_good}{left_out}"
    )


def host_state(plan: HostPlan) -> tuple[str, str]:
    """What to call a host's state, and the style of that."""
    if plan.changes:
        cost = dearest([change.cost for change in plan.changes])
        return f"{len(plan.changes)} change(s) to make, cost: {cost}", "change"
    if any(finding.counts for finding in plan.not_curable):
        return "not as wanted, not curable by up", "error"
    if any(finding.counts for finding in plan.unknown):
        return "not fully observed", "warning"
    return "as wanted", "good"


def _change_lines(plan: HostPlan, *, verbose: bool) -> list[Text]:
    lines = []
    holds = [c for c in plan.changes if c.action is Action.HOLD]
    for change in plan.changes:
        if change.action is Action.HOLD and len(holds) > 1 and not verbose:
            if change is holds[0]:
                lines.append(Text.assemble("  ", ("+", "add"), f" hold     {len(holds)} packages at these versions"))
            continue
        lines.append(_change_line(change))
        lines.extend(_diff_lines(change, verbose=verbose))
    return lines


def _change_line(change: Change) -> Text:
    sign, style = _SIGNS[change.action]
    move = " -> ".join(part for part in (change.before, change.after) if part)
    # A lock's row that says no more than the line itself is left out.
    reason = "" if change.reason == f"lock: {change.subject}={change.after}" else change.reason
    cost = f" [{change.cost}]" if change.cost is not Cost.NOTHING else ""
    return Text.assemble(
        "  ",
        (sign, style),
        f" {change.action!s:8} ",
        (change.subject, "name"),
        f" {move}" if move else "",
        (cost, "warning"),
        (f"  ({reason})" if reason else "", "quiet"),
    )


def _diff_lines(change: Change, *, verbose: bool) -> list[Text]:
    lines = change.diff.splitlines()
    if not change.before and not verbose and len(lines) > _LONGEST_NEW_FILE:
        return [Text(f"      a new file of {len(lines) - _HEAD} lines (--verbose shows it)", style="quiet")]
    styles = {"+": "add", "-": "remove", "@": "quiet"}
    return [Text(f"      {line}", style=styles.get(line[:1], "")) for line in lines]
