"""Plan files: `preview --out` writes one, `up --plan` makes exactly that, or refuses."""

from pathlib import Path

from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.planned import Planned
from gpuprov.plan.outdated import outdated
from gpuprov.plan.text import read_plan, write_plan
from gpuprov.store.files import read_text, write_text


def save_plan(plan: Plan, path: Path) -> None:
    """Write a plan, for its owner only: it holds what will be in files of the hosts.

    Raises:
        GpuprovError: GP-DOC-007.
    """
    write_text(path, write_plan(plan), mode=0o600)


def load_plan(path: Path) -> Plan:
    """Read a plan.

    Raises:
        GpuprovError: GP-DOC codes: missing, another kind, edited by hand.
    """
    return read_plan(read_text(path), str(path))


def refuse_outdated(plan: Plan, planned: Planned, *, limited: bool) -> None:
    """Refuse when what would be done now is not what a plan file says.

    Args:
        plan: of the file.
        planned: from a fresh look.
        limited: whether this run leaves hosts of the plan out on purpose.

    Raises:
        GpuprovError: GP-PLAN-004 or GP-PLAN-001 for each thing that moved.
    """
    moved = outdated(plan, planned, limited=limited)
    if moved:
        raise GpuprovError(*moved)
