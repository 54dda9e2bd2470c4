"""`lab up|down|status`: a data centre on this machine."""

from dataclasses import replace
from pathlib import Path

from gpuprov.lab import lab
from gpuprov.lab.seed import draw
from gpuprov.lab.state import LabState, LabStatus
from gpuprov.model.progress import Report


def lab_up(lab_id: str, *, seed: int, nodes: int, cloud: bool, folder: Path, report: Report) -> LabState:
    """Start a lab that is drawn from a seed, with a simulated AWS or without.

    Raises:
        GpuprovError: GP-LAB-001 without root, GP-LAB-002 when it cannot be built.
    """
    return lab.up(replace(draw(seed, nodes=nodes, cloud=cloud), id=lab_id), folder, report)


def lab_down(lab_id: str, *, report: Report) -> bool:
    """Take a lab away; False when there was nothing of it."""
    return not lab.down(lab_id, report).empty


def lab_status() -> tuple[LabStatus, ...]:
    """All labs of this machine, as they are."""
    return tuple(lab.status(name) for name in lab.list_labs())
