"""What several forms say in the same words: values, sentences, the verdict."""

from typing import Final

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.snapshot import NotObserved
from gpuprov.model.status import ExitStatus
from gpuprov.parity.types import Parity
from gpuprov.render.observation import observation_text, printable
from gpuprov.render.reports.types import ParityReport

_VERDICTS: Final = {
    ExitStatus.DONE: "in sync",
    ExitStatus.DIFFERENT: "different",
    ExitStatus.INCOMPLETE: "not fully observed",
}
FAILED: Final = "not compared"
"""The verdict where an error came before one."""


def sides_text(finding: Finding) -> tuple[tuple[str, str], tuple[str, str]]:
    """Both sides of a finding: what each is called, and its value."""
    first, second = finding.sides
    return (
        (printable(first), observation_text(finding.expected)),
        (printable(second), observation_text(finding.observed)),
    )


def finding_sentence(finding: Finding) -> str:
    """A finding in one sentence: where, in what way, and both sides."""
    (first, expected), (second, observed) = sides_text(finding)
    what = f"{printable(finding.address)} on {printable(finding.host)}"
    match finding.kind:
        case FindingKind.MISSING:
            return f"{what} is missing: {first} has {expected}"
        case FindingKind.UNEXPECTED:
            return f"{what} is unexpected: {second} has {observed}, {first} does not"
        case FindingKind.UNKNOWN:
            return f"{what} could not be observed ({first}: {expected}; {second}: {observed})"
        case FindingKind.REBOOT_PENDING:
            return f"{what} waits for a reboot: {first} has {expected}, {second} has {observed}"
        case FindingKind.DIFFERENT:
            return f"{what} is different: {first} has {expected}, {second} has {observed}"


def missing_sentence(missing: NotObserved) -> str:
    """Why a host could not be compared."""
    return printable(f"{missing.host} could not be compared: {missing.reason}")


def diagnostic_sentence(diagnostic: Diagnostic) -> str:
    """A diagnostic in one line, with its code and its hint."""
    subject = f"{diagnostic.address}: " if diagnostic.address else ""
    hint = f" (hint: {diagnostic.hint})" if diagnostic.hint else ""
    return printable(f"{diagnostic.severity}[{diagnostic.code}] {subject}{diagnostic.summary}{hint}")


def verdict_word(report: ParityReport) -> str:
    """The verdict in a word or two."""
    return _VERDICTS.get(report.status, FAILED) if report.parity is not None else FAILED


def verdict_sentence(report: ParityReport) -> str:
    """The verdict with its numbers."""
    parity = report.parity
    if parity is None:
        return f"{FAILED}: {counted(len(report.diagnostics), 'error')}"
    missing = f", {counted(len(parity.not_compared), 'host')} not compared" if parity.not_compared else ""
    numbers = (
        f"{counted(len(parity.hosts), 'host')}, {counted(parity.facets, 'fact')} compared, "
        f"{counted(len(parity.rows), 'finding')}"
    )
    return f"{verdict_word(report)}: {numbers}{missing}"


def between_text(parity: Parity | None) -> str:
    """What was compared with what."""
    return printable(" and ".join(side for side in parity.between if side)) if parity is not None else ""


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 host`, `2 hosts`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
