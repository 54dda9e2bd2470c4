"""One finding in full, for `explain F-...`: both sides, why it matters, what it rests on, what `up` would do."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.text import Text

from gpuprov.compare.compare import LOCK_SIDE
from gpuprov.compare.finding_text import finding_value
from gpuprov.model.address import split_address
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.parity.types import ExplainedFinding
from gpuprov.render.observation import observation_text, printable
from gpuprov.render.terminal import Terminal

_SHOWN: Final = 12
_LABEL: Final = 11
_INDENT: Final = 3
_COMMAND: Final = 400
_COSTS: Final[Mapping[Cost, str]] = {
    Cost.NOTHING: "nobody notices",
    Cost.RESTART: "a service restarts",
    Cost.REBOOT: "the host reboots, in its batch",
    Cost.REPLACEMENT: "the host would be replaced",
    Cost.OBSERVED: "nothing in gpuprov changes it",
}


def show_finding(found: ExplainedFinding, terminal: Terminal) -> None:
    """Print a finding in full on stdout."""
    finding = found.finding
    if finding is None:
        terminal.out.print(Text.assemble((found.id, "name"), "  ", found.waiver))
        terminal.out.print(Text("  remove it from the spec, or give it a new date and reason", style="quiet"))
        return
    terminal.out.print(Text.assemble((found.id, "name"), "  ", f"{finding.kind}: {finding.address}"))
    for label, text in _lines(finding, found.hosts, found.commands):
        terminal.out.print(Text.assemble((f"  {label + ':':{_LABEL}} ", "quiet"), printable(text)))


def finding_body(found: ExplainedFinding) -> dict[str, Any]:
    """The same as plain values."""
    if found.finding is None:
        return {"id": found.id, "waiver": found.waiver, "report": found.report}
    return {
        **finding_value(found.finding),
        "hosts": list(found.hosts),
        "commands": dict(found.commands),
        "up": cure_text(found.finding),
        "report": found.report,
    }


def _lines(finding: Finding, hosts: tuple[str, ...], commands: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for side, seen in zip(finding.sides, (finding.expected, finding.observed), strict=True):
        yield side, observation_text(seen)
    others = f" and {len(hosts) - _SHOWN} more" if len(hosts) > _SHOWN else ""
    yield "hosts", ", ".join(hosts[:_SHOWN]) + others
    yield "class", finding.parity.value + (f", by the rule {finding.rule}" if finding.rule else "")
    yield "why", finding.reason
    if finding.origin:
        yield "wanted by", finding.origin
    for item in finding.evidence:
        seen_by = item.evidence
        where = f"{item.side} at {item.taken}"
        yield "evidence", f"{where}: collector {seen_by.collector}, status {seen_by.status}, output {seen_by.digest}"
    for command in commands.values():
        shown = command if len(command) <= _COMMAND else f"{command[:_COMMAND]} ... (--json has all of it)"
        yield "command", shown.replace("\n", "\n" + " " * (_LABEL + _INDENT))
    if not finding.evidence:
        yield "evidence", "none: the report does not say what the sides rest on"
    yield "up", cure_text(finding)


def cure_text(finding: Finding) -> str:
    """What `up` would do about a finding, in one sentence."""
    if finding.waiver is not None:
        return f"nothing: it is waived until {finding.waiver.until} ({finding.waiver.reason})"
    if finding.sides[0] != LOCK_SIDE:
        return (
            "nothing by itself: `up` brings a host to the lock, not to another side;"
            f" `gpuprov parity {finding.host} --against lock` says what it would change"
        )
    if finding.kind is FindingKind.UNKNOWN:
        return f"nothing: what could not be observed is not changed ({finding.reason})"
    if not finding.curable:
        return f"nothing ends it: {_COSTS[finding.cost]}"
    return f"{_change(finding)}; {_COSTS[finding.cost]}"


def _change(finding: Finding) -> str:
    if finding.kind is FindingKind.REBOOT_PENDING:
        return "reboot the host, so that the module on disk is loaded"
    parts = split_address(finding.address)
    if parts is None:
        return "bring the locked packages, files and services that this follows from"
    family, member, leaf = parts
    if family == "package":
        return _package(finding, member, leaf)
    if family == "file":
        return f"remove {member}" if isinstance(finding.expected, Absent) else f"write {member}"
    if family == "service":
        return f"enable {member}" if leaf == "enabled" else f"start {member}"
    return f"restart what serves {family} {member}"


def _package(finding: Finding, member: str, leaf: str) -> str:
    if isinstance(finding.expected, Absent):
        return f"remove {member}"
    if leaf == "held":
        held = isinstance(finding.expected, Known) and finding.expected.value is True
        return f"{'hold' if held else 'release the hold of'} {member}"
    if leaf == "state":
        return f"let dpkg finish {member}"
    version = finding.expected.value if isinstance(finding.expected, Known) else ""
    return f"install {member}={version}, in one package transaction"
