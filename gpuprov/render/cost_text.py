"""What hosts cost, for people and for programs."""

from typing import Final

from rich.text import Text

from gpuprov.model.cost import CostChange, FleetCost, Spent
from gpuprov.render.terminal import Terminal

AROUND: Final = "gateways, addresses, endpoints, volumes"
"""What is counted beside the instances."""


def show_cost(cost: CostChange | None, terminal: Terminal) -> None:
    """Print what the hosts cost now and afterwards, the day of the prices, and what is not known."""
    if cost is None or (cost.before.nothing and cost.after.nothing):
        return
    before, after = cost.before, cost.after
    if before == after:
        text = f"{_rate(after)}, as now"
    else:
        text = _rate(after) if before.nothing else f"{_rate(before)} -> {_rate(after)}"
    since = _since(cost)
    day = f"; prices seen {since} or later" if since else ""
    terminal.out.print(Text.assemble(("cost", "name"), f": {text}{day}"))
    if after.around_usd_hour:
        parts = f"instances ${after.usd_hour:,.2f}, {AROUND} ${after.around_usd_hour:,.2f}"
        terminal.out.print(Text(f"  of that an hour: {parts}", style="quiet"))
    for why in dict.fromkeys((*before.unknown, *after.unknown)):
        terminal.out.print(Text.assemble("  ", ("not counted", "warning"), f": {why}"))
    by_use = dict.fromkeys((*before.by_use, *after.by_use))
    if by_use:
        terminal.out.print(Text(f"  not included, for it is paid by use: {'; '.join(by_use)}", style="quiet"))


def cost_body(cost: CostChange | None) -> dict[str, object] | None:
    """The same as JSON; null where it was not asked."""
    if cost is None:
        return None
    return {
        "before": _fleet_body(cost.before),
        "after": _fleet_body(cost.after),
        "prices_since": _since(cost) or None,
        "counted": f"instances, {AROUND}",
    }


def spent_text(spent: Spent) -> str:
    """What hosts have cost since each was started last."""
    missing = f", without {spent.unknown} whose price is not known" if spent.unknown else ""
    return f"about ${spent.usd:,.2f} since the last start of each host{missing}"


def _rate(cost: FleetCost) -> str:
    if cost.nothing:
        return "nothing"
    if not cost.since:
        return f"unknown for {cost.hosts} host(s)"
    least = "at least " if cost.unknown else ""
    return f"{least}${cost.whole_usd_hour:,.2f} an hour (${cost.usd_month:,.0f} a month)"


def _since(cost: CostChange) -> str:
    return min((one.since for one in (cost.before, cost.after) if one.since), default="")


def _fleet_body(cost: FleetCost) -> dict[str, object]:
    return {
        "hosts": cost.hosts,
        "usd_hour": round(cost.whole_usd_hour, 4) if cost.since else None,
        "instances_usd_hour": round(cost.usd_hour, 4) if cost.since else None,
        "around_usd_hour": round(cost.around_usd_hour, 4) if cost.since else None,
        "usd_month": round(cost.usd_month, 2) if cost.since else None,
        "unknown": list(cost.unknown),
        "by_use": list(cost.by_use),
    }
