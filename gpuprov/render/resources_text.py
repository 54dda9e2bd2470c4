"""What a run would change, or changed, in the cloud account: grouped by action and kind, data marked."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.text import Text

from gpuprov.model.resource import NewHost, ResourceAction, ResourceChange, ResourcePlan, ResourceResult
from gpuprov.render.cost_text import cost_body, show_cost
from gpuprov.render.terminal import Terminal

_SIGNS: Final[Mapping[ResourceAction, tuple[str, str]]] = {
    ResourceAction.CREATE: ("+", "add"),
    ResourceAction.UPDATE: ("~", "change"),
    ResourceAction.REPLACE: ("!", "remove"),
    ResourceAction.DELETE: ("-", "remove"),
}
_LOSING: Final = frozenset({ResourceAction.REPLACE, ResourceAction.DELETE})


def show_resource_plan(plan: ResourcePlan, terminal: Terminal, *, verbose: bool) -> None:
    """Print what would be made, changed, replaced and deleted, and the hosts that would come of it."""
    if plan.empty and not plan.unchanged:
        return
    out = terminal.out
    out.print(Text.assemble(("cloud", "name"), f": {counted(plan.changes, plan.unchanged)}"))
    for line in change_lines(plan.changes, verbose=verbose):
        out.print(line)
    for names, host in _grouped(plan.new_hosts):
        out.print(_new_host_line(names, host))
        if verbose:
            for package in host.packages:
                out.print(f"      {package}")
            for path in host.files:
                out.print(f"      {path}")
    show_cost(plan.cost, terminal)


def show_resource_result(result: ResourceResult | None, terminal: Terminal) -> None:
    """Print what was changed in the account, and what was left there."""
    if result is None:
        return
    seconds = f" in {result.seconds:.1f} s" if result.changed else ""
    terminal.out.print(
        Text.assemble(("cloud", "name"), f": {counted(result.changed, result.unchanged, done=True)}{seconds}")
    )
    for address, name in result.left.items():
        terminal.out.print(Text.assemble("  left ", (address, "name"), f": {name}"))


def counted(changes: Sequence[ResourceChange], unchanged: int, *, done: bool = False) -> str:
    """How many resources of each action, in a line."""
    words = {
        ResourceAction.CREATE: ("to make", "made"),
        ResourceAction.UPDATE: ("to change", "changed"),
        ResourceAction.REPLACE: ("to replace", "replaced"),
        ResourceAction.DELETE: ("to delete", "deleted"),
    }
    parts = []
    for action, (planned, ended) in words.items():
        count = sum(1 for change in changes if change.action is action)
        if count:
            parts.append(f"{count} {ended if done else planned}")
    if not parts:
        parts.append("nothing changed" if done else "nothing to change")
    return ", ".join([*parts, f"{unchanged} resource(s) as they are"])


def change_lines(changes: Sequence[ResourceChange], *, verbose: bool) -> list[Text]:
    """What is replaced and deleted first, one line each with its reasons; then changes, then new ones by their kind."""
    lines = []
    for action in (ResourceAction.REPLACE, ResourceAction.DELETE, ResourceAction.UPDATE):
        for change in changes:
            if change.action is action:
                lines.extend(_change_lines(change, verbose=verbose))
    made: dict[str, list[str]] = {}
    for change in changes:
        if change.action is ResourceAction.CREATE:
            kind, _, name = change.address.partition(".")
            made.setdefault(kind, []).append(name)
    width = max(map(len, made), default=0)
    for kind, names in made.items():
        shown = ", ".join(sorted(names))
        lines.append(Text.assemble("  ", ("+", "add"), f" make     {kind:{width}}  ", (shown, "name")))
    return lines


def _change_lines(change: ResourceChange, *, verbose: bool) -> list[Text]:
    sign, style = _SIGNS[change.action]
    why = f"  (cannot be changed in place: {', '.join(change.reasons)})" if change.reasons else ""
    why = "  (the old one of a replacement)" if change.leftover else why
    loses = "  [what it holds is lost]" if change.holds_data and change.action in _LOSING else ""
    head = Text.assemble(
        "  ", (sign, style), f" {change.action!s:8} ", (change.address, "name"), (loses, "error"), (why, "quiet")
    )
    shown = change.changes if verbose or change.action is not ResourceAction.DELETE else ()
    return [head, *(Text(f"      {text}", style="quiet") for text in shown)]


def _grouped(hosts: Sequence[NewHost]) -> list[tuple[list[str], NewHost]]:
    groups: dict[object, tuple[list[str], NewHost]] = {}
    for host in hosts:
        key = (host.pool, host.instance, host.image, host.packages, host.files)
        groups.setdefault(key, ([], host))[0].append(host.name)
    return list(groups.values())


def _new_host_line(names: Sequence[str], host: NewHost) -> Text:
    packages = f"{len(host.packages)} package(s) to install" if host.packages else "no package to install"
    return Text.assemble(
        "  ",
        ("+", "add"),
        " host     ",
        (", ".join(names), "name"),
        f" ({host.pool}): {host.instance} from {host.image}; then {packages}, {len(host.files)} file(s)",
    )


def resource_plan_body(plan: ResourcePlan) -> dict[str, object]:
    """What would change, as JSON."""
    return {
        "changes": [_change_body(change) for change in plan.changes],
        "unchanged": plan.unchanged,
        "new_hosts": [
            {
                "host": host.name,
                "pool": host.pool,
                "instance": host.instance,
                "image": host.image,
                "packages": list(host.packages),
                "files": list(host.files),
            }
            for host in plan.new_hosts
        ],
        "cost": cost_body(plan.cost),
    }


def resource_result_body(result: ResourceResult | None) -> dict[str, object] | None:
    """What was changed, as JSON; null on a rack."""
    if result is None:
        return None
    return {
        "changed": [_change_body(change) for change in result.changed],
        "unchanged": result.unchanged,
        "left": dict(result.left),
        "seconds": round(result.seconds, 3),
    }


def _change_body(change: ResourceChange) -> dict[str, object]:
    return {
        "address": change.address,
        "type": change.type,
        "action": str(change.action),
        "urn": change.urn,
        "reasons": list(change.reasons),
        "changes": list(change.changes),
        "holds_data": change.holds_data,
    }
