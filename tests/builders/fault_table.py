"""The table of a fault matrix: rows are noted by the tests, and printed when all are done, whoever ran them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

PROPERTY: Final = "fault"
"""The name of the property under which a test notes its row."""
_COLUMNS: Final = ("fault", "at", "status", "told", "on the host after", "mended by", "seconds", "")


def row(
    *, fault: str, at: str, status: str = "", told: str = "", after: str = "", mended: str = "", seconds: float = 0.0
) -> list[str]:
    """One row; it counts as survived once it says what mended the host."""
    return [fault, at, status, told, after, mended, f"{seconds:.0f}", "survived" if mended else "LOST"]


def show_table(reports: Iterable[Any], section: Callable[[str], object], line: Callable[[str], object]) -> None:
    """Print the rows of all reports, and how many faults were survived; nothing when there is none."""
    rows = [value for report in reports for name, value in report.user_properties if name == PROPERTY]
    if not rows:
        return
    section("fault matrix")
    for text in _aligned([_COLUMNS, *sorted(rows)]):
        line(text)
    lost = sum(row[-1] != "survived" for row in rows)
    line(f"faults tried: {len(rows)}, survived: {len(rows) - lost}, lost: {lost}")


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
