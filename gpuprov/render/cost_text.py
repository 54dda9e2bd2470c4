"""What hosts cost, for people and for programs."""

from rich.text import Text

from gpuprov.model.cost import CostChange, FleetCost, Spent
from gpuprov.render.terminal import Terminal


def show_cost(cost: CostChange | None, terminal: Terminal) -> None:
    """Print what the hosts cost now and afterwards, the day of the prices, and what is not known."""
    if cost is None or not (cost.before.hosts or cost.after.hosts):
        return
    before, after = cost.before, cost.after
    if before == after:
        text = f"{_rate(after)}, as now"
    else:
        text = f"{_rate(before)} -> {_rate(after)}" if before.hosts else _rate(after)
    since = _since(cost)
    day = f"; prices seen {since} or later" if since else ""
    terminal.out.print(Text.assemble(("cost", "name"), f": {text} for the instances alone{day}"))
    for why in dict.fromkeys((*before.unknown, *after.unknown)):
        terminal.out.print(Text.assemble("  ", ("not counted", "warning"), f": {why}"))


def cost_body(cost: CostChange | None) -> dict[str, object] | None:
    """The same as JSON; null where it was not asked."""
    if cost is None:
        return None
    return {
        "before": _fleet_body(cost.before),
        "after": _fleet_body(cost.after),
        "prices_since": _since(cost) or None,
        "counted": "instances",
    }


def spent_text(spent: Spent) -> str:
    """What hosts have cost since each was started last."""
    missing = f", without {spent.unknown} whose price is not known" if spent.unknown else ""
    return f"about ${spent.usd:,.2f} since the last start of each host{missing}"


def _rate(cost: FleetCost) -> str:
    if not cost.hosts:
        return "nothing"
    if not cost.since:
        return f"unknown for {cost.hosts} host(s)"
    least = "at least " if cost.unknown else ""
    return f"{least}${cost.usd_hour:,.2f} an hour (${cost.usd_month:,.0f} a month)"


def _since(cost: CostChange) -> str:
    return min((one.since for one in (cost.before, cost.after) if one.since), default="")


def _fleet_body(cost: FleetCost) -> dict[str, object]:
    return {
        "hosts": cost.hosts,
        "usd_hour": round(cost.usd_hour, 4) if cost.since else None,
        "usd_month": round(cost.usd_month, 2) if cost.since else None,
        "unknown": list(cost.unknown),
    }
