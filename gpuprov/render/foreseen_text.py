"""What apt said of a host's transaction, and whom the plan disturbs: for people and for programs."""

from typing import Final

from rich.text import Text

from gpuprov.model.change import Foreseen, HostPlan
from gpuprov.plan.foreseen_text import foreseen_value

_SHOWN: Final = 5
_SMALL: Final = 10**5


def foreseen_lines(plan: HostPlan, *, verbose: bool) -> list[Text]:
    """Lines below a host's changes.

    Args:
        plan: the host's.
        verbose: name every package that comes as a dependency.
    """
    lines = [Text(f"  ends: {who}", style="warning") for who in plan.disturbs]
    found = plan.foreseen
    if found is None:
        return lines
    if found.untold:
        return [Text(f"  apt was not asked: {found.untold}", style="warning"), *lines]
    rose = [move for move in found.others if " absent -> " not in move]
    came = [move.split(" ")[0] for move in found.others if " absent -> " in move]
    lines = [Text(f"  apt: {size_text(found.download)} to fetch, {size_text(found.growth)} more on the disk"), *lines]
    lines[1:1] = [Text(f"  apt: also rises: {move}") for move in rose]
    if came:
        shown = came if verbose else came[:_SHOWN]
        more = f" and {len(came) - len(shown)} more (--verbose names them)" if len(came) > len(shown) else ""
        lines.insert(1, Text(f"  apt: also comes, as a dependency: {', '.join(shown)}{more}"))
    return lines


def foreseen_body(foreseen: Foreseen | None) -> dict[str, object] | None:
    """What apt said, as JSON; None where nobody asked it."""
    return None if foreseen is None else foreseen_value(foreseen)


def size_text(size: int) -> str:
    """Write a number of bytes for people."""
    return f"{size / 10**6:,.1f} MB" if size >= _SMALL else f"{size / 10**3:,.1f} kB"
