"""The last report of `parity` is kept, so that `explain F-...` can say what one of its findings rests on."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gpuprov.compare.finding_text import read_finding
from gpuprov.document.canonical import digest
from gpuprov.document.envelope import open_document, parse_machine_json, peek_kind, seal
from gpuprov.document.shape import Fields
from gpuprov.model.address import split_address
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.finding import Finding
from gpuprov.parity.report import report_body
from gpuprov.parity.types import ExplainedFinding, Parity
from gpuprov.store.cache import cache_folder
from gpuprov.store.files import make_folder, read_text, write_text

KIND: Final = "Report"
_WITHOUT_SAY: Final = 500
"""Most findings without a say in the status that a kept report holds: names and uptimes of a fleet are many."""
_SHORT: Final = 16


def is_finding_id(text: str) -> bool:
    """Whether a word has the form of a finding's id."""
    return text.startswith("F-")


def keep_report(parity: Parity, spec: Path | None) -> tuple[Diagnostic, ...]:
    """Keep a report for `explain`, in place of the last one of the same spec (or of the same folder, without a spec).

    Returns:
        A note when it cannot be written: the comparison itself is not worse for it.
    """
    others = [finding for finding in parity.findings if not finding.counts]
    kept = replace(
        parity,
        findings=(*(finding for finding in parity.findings if finding.counts), *others[:_WITHOUT_SAY]),
    )
    place = _place(spec)
    try:
        make_folder(place.parent)
        write_text(place, seal(KIND, report_body(kept), compact=True), mode=0o600)
    except GpuprovError as error:
        hint = "`gpuprov explain F-...` needs a report: write one with --format json:FILE and give it with --report"
        return (replace(error.diagnostics[0], severity=Severity.NOTE, hint=hint),)
    return ()


def explain_finding(name: str, *, spec: Path | None, report: Path | None) -> ExplainedFinding:
    """Find a finding in a report by its id.

    Args:
        name: the id, `F-...`.
        spec: whose last report is meant; None for the last one in this folder.
        report: the JSON form of a report; None takes the kept one.

    Raises:
        GpuprovError: GP-PAR-005 when there is no report or no such finding in it; GP-DOC codes for a broken one.
    """
    place = report if report is not None else _place(spec)
    if report is None and not place.exists():
        raise GpuprovError(_no_report(name))
    body = Fields(_body(read_text(place), str(place)), str(place))
    for row in body.rows("findings") + body.rows("waived"):
        if row.text("id") == name:
            return _explained(name, read_finding(row), body, str(place))
    for row in body.rows("waivers"):
        if row.text("id") == name:
            return ExplainedFinding(
                id=name, finding=None, waiver=row.text("text"), hosts=(), commands={}, report=str(place)
            )
    raise GpuprovError(_no_finding(name, body, str(place)))


def _explained(name: str, finding: Finding, body: Fields, report: str) -> ExplainedFinding:
    rows = (row.texts("hosts") for row in body.rows("rows") if row.text("address") == finding.address)
    hosts = next((hosts for hosts in rows if finding.host in hosts), (finding.host,))
    collectors = dict.fromkeys(item.evidence.collector for item in finding.evidence)
    return ExplainedFinding(
        id=name,
        finding=finding,
        waiver="",
        hosts=hosts,
        commands={name: text for name in collectors if (text := _command(name, finding.address))},
        report=report,
    )


def _command(collector: str, address: str) -> str:
    # Imported here: the collectors are many, and `explain` of a field does not need them.
    from gpuprov.probe.collectors import BY_NAME  # noqa: PLC0415
    from gpuprov.probe.request import ProbeRequest  # noqa: PLC0415

    member = split_address(address)
    family, name = (member[0], member[1]) if member else ("", "")
    request = ProbeRequest(paths=(name,) if family == "file" else (), services=(name,) if family == "service" else ())
    found = BY_NAME.get(collector)
    return found.command(request) if found is not None else ""


def _place(spec: Path | None) -> Path:
    subject = str(spec.resolve()) if spec is not None else f"{Path.cwd()}/"
    short = digest(subject).removeprefix("sha256:")[:_SHORT]
    return cache_folder() / "parity" / f"{short}.json"


def _body(text: str, file: str) -> Any:
    """The body of a report: of the sealed document, or what `--json` prints."""
    if peek_kind(text) is not None:
        return open_document(text, file, KIND)
    try:
        return parse_machine_json(text)
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-002",
                address=file,
                summary=f"the file is no report in JSON: {error}",
                hint="`gpuprov parity ... --format json:FILE` writes one",
            )
        ) from error


def _no_report(name: str) -> Diagnostic:
    return Diagnostic(
        code="GP-PAR-005",
        address=name,
        summary="no report of this spec was kept on this machine",
        hint="run `gpuprov parity` first, or give a report of another machine: `gpuprov explain F-... --report FILE`",
    )


def _no_finding(name: str, body: Fields, place: str) -> Diagnostic:
    ids = [row.text("id") for row in body.rows("findings") if row.flag("counts")]
    return Diagnostic(
        code="GP-PAR-005",
        address=name,
        summary=f"the report has no finding {name}",
        detail=f"{place}: {len(ids)} finding(s) with a say: {', '.join(ids[:8])}" if ids else f"{place}: no finding",
        hint="an id stays the same from run to run; a finding that is gone has none: run `gpuprov parity` again",
    )
