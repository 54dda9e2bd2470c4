"""A parity report for people: each disagreement once, with every host that has it."""

from typing import Final

from rich.text import Text

from gpuprov.model.facet import ParityClass
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.status import ExitStatus
from gpuprov.parity.types import Parity, Row
from gpuprov.render.observation import observation_text
from gpuprov.render.snapshot_text import show_not_observed
from gpuprov.render.terminal import Terminal

_STYLES: Final = {
    FindingKind.DIFFERENT: "change",
    FindingKind.MISSING: "remove",
    FindingKind.UNEXPECTED: "add",
    FindingKind.UNKNOWN: "warning",
    FindingKind.REBOOT_PENDING: "change",
}
_SHOWN_NAMES: Final = 6


def show_parity(parity: Parity, terminal: Terminal) -> None:
    """Print the report on stdout."""
    for row in parity.rows:
        for line in _row_lines(row, len(parity.hosts)):
            terminal.out.print(line)
    others = [finding for finding in parity.findings if not finding.counts]
    informational = sum(1 for finding in others if finding.parity is ParityClass.INFORMATIONAL)
    if others:
        terminal.out.print(
            Text(
                f"also different, without effect: {informational} informational,"
                f" {len(others) - informational} target-specific (--json lists them)",
                style="quiet",
            )
        )
    for finding in parity.waived:
        if finding.waiver is not None:
            terminal.out.print(
                f"waived until {finding.waiver.until}: {finding.host} {finding.address} ({finding.waiver.reason})"
            )
    show_not_observed(parity.not_compared, terminal)
    terminal.out.print(_closing(parity))


def _row_lines(row: Row, hosts: int) -> list[Text]:
    finding = row.finding
    style = _STYLES[finding.kind]
    count = f"{len(row.hosts)} of {hosts} host(s)"
    names = ", ".join(row.hosts[:_SHOWN_NAMES]) + (", ..." if len(row.hosts) > _SHOWN_NAMES else "")
    return [
        Text.assemble((f"{finding.kind!s:14}", style), " ", (finding.address, "name"), f"  {count}: {names}"),
        Text.assemble(" " * 15, *_sides(finding)),
        Text(" " * 15 + finding.reason, style="quiet"),
    ]


def _sides(finding: Finding) -> tuple[str | tuple[str, str], ...]:
    first, second = finding.sides
    return (
        (f"{first}: ", "quiet"), observation_text(finding.expected), "   ",
        (f"{second}: ", "quiet"), observation_text(finding.observed),
    )  # fmt: skip


def _closing(parity: Parity) -> Text:
    what = {
        ExitStatus.DONE: ("in sync", "good"),
        ExitStatus.DIFFERENT: ("different", "error"),
        ExitStatus.INCOMPLETE: ("not fully observed", "warning"),
    }[parity.status]
    facts = f": {len(parity.hosts)} host(s), {parity.facets} facts compared, {len(parity.rows)} finding(s)"
    missing = f", {len(parity.not_compared)} host(s) not compared" if parity.not_compared else ""
    return Text.assemble(what, facts, missing)
