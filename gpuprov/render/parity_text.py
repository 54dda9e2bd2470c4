"""A parity report for people: each disagreement once, with every host that has it."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from gpuprov.compare.finding_id import finding_id
from gpuprov.model.facet import ParityClass
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.status import ExitStatus
from gpuprov.parity.groups import group_findings
from gpuprov.parity.types import DriverState, Parity, Row
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
_FACTS: Final = ("packages", "on disk", "loaded", "NVML")


def show_parity(parity: Parity, terminal: Terminal) -> None:
    """Print the report on stdout."""
    for rows in _by_reason(parity.rows):
        for line in _row_lines(rows, len(parity.hosts)):
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
    for line in (*_waived(parity), *_waivers(parity), *_drivers(parity)):
        terminal.out.print(line)
    show_not_observed(parity.not_compared, terminal)
    terminal.out.print(_closing(parity))


def _by_reason(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows one by one, but those together that one reason hides on the same hosts: a tool that does not answer."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for place, row in enumerate(rows):
        finding = row.finding
        hidden = finding.kind is FindingKind.UNKNOWN
        key = (finding.sides[0], finding.reason, row.hosts) if hidden else (place,)
        found.setdefault(key, []).append(row)
    return list(found.values())


def _row_lines(rows: Sequence[Row], hosts: int) -> list[Text]:
    row, *others = rows
    finding = row.finding
    style = _STYLES[finding.kind]
    if others:
        more = ", ".join(other.finding.address for other in others)
        return [*_row_lines([row], hosts), Text(f"{' ' * 15}the same hides {more}", style="quiet")]
    count = f"{len(row.hosts)} of {hosts} host(s)"
    names = _names(row.hosts)
    return [
        Text.assemble((f"{finding.kind!s:14}", style), " ", (finding.address, "name"), f"  {count}: {names}"),
        Text.assemble(" " * 15, *_sides(finding)),
        Text(" " * 15 + finding.reason, style="quiet"),
        Text(" " * 15 + f"explain {finding_id(finding)}", style="quiet"),
    ]


def _waived(parity: Parity) -> Iterator[Text]:
    for row in group_findings(parity.waived):
        waiver = row.finding.waiver
        if waiver is not None:
            who = _names(row.hosts)
            yield Text(f"waived until {waiver.until}: {row.finding.address} on {who} ({waiver.reason})")


def _waivers(parity: Parity) -> Iterator[Text]:
    """Waivers that have expired or cover nothing."""
    for finding in parity.waivers:
        style = "error" if finding.counts else "warning"
        yield Text.assemble((f"{finding.trouble!s:14}", style), f" {finding.text} ({finding.waiver.reason})")
        yield Text(" " * 15 + "remove it from the spec, or give it a new date and reason", style="quiet")


def _drivers(parity: Parity) -> Iterator[Text]:
    """The driver's four facts where they do not agree: which of them is the odd one says what to do."""
    for row in parity.drivers:
        if row.state not in {DriverState.EQUAL, DriverState.ABSENT}:
            facts = row.facts
            seen = zip(_FACTS, (facts.package, facts.on_disk, facts.loaded, facts.nvml), strict=True)
            shown = ", ".join(f"{name} {observation_text(value)}" for name, value in seen)
            yield Text(f"driver, {row.state}: {shown} ({_names(row.hosts)})", style="quiet")


def _names(hosts: Sequence[str]) -> str:
    return ", ".join(hosts[:_SHOWN_NAMES]) + (", ..." if len(hosts) > _SHOWN_NAMES else "")


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
