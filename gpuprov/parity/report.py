"""A Parity as the body of a document of kind Report."""

from typing import Any

from gpuprov.compare.finding_id import finding_id
from gpuprov.compare.finding_text import finding_value
from gpuprov.document.snapshot_text import observation_value
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.parity.types import DriverRow, Parity, WaiverFinding


def report_body(parity: Parity) -> dict[str, Any]:
    """Write a verdict as plain values: each finding in full once, groups and rows by the findings' ids."""
    return {
        "status": int(parity.status),
        "between": list(parity.between),
        "taken": parity.taken,
        "hosts": list(parity.hosts),
        "facets": parity.facets,
        "findings": [finding_value(finding) for finding in parity.findings],
        "waived": [finding_value(finding) for finding in parity.waived],
        "not_compared": [
            {"host": host.host, "code": host.code, "reason": host.reason, "detail": host.detail, "hint": host.hint}
            for host in parity.not_compared
        ],
        "groups": [
            {"hosts": list(group.hosts), "findings": [finding_id(finding) for finding in group.findings]}
            for group in parity.groups
        ],
        "rows": [
            {"address": row.finding.address, "finding": finding_id(row.finding), "hosts": list(row.hosts)}
            for row in parity.rows
        ],
        "waivers": [_waiver_value(finding) for finding in parity.waivers],
        "drivers": [_driver_value(row) for row in parity.drivers],
        "diagnostics": [_diagnostic_value(diagnostic) for diagnostic in parity.diagnostics],
    }


def _diagnostic_value(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "summary": diagnostic.summary,
        "address": diagnostic.address,
        "detail": diagnostic.detail,
        "hint": diagnostic.hint,
    }


def _waiver_value(finding: WaiverFinding) -> dict[str, Any]:
    waiver = finding.waiver
    return {
        "id": finding.id,
        "address": finding.address,
        "trouble": finding.trouble.value,
        "text": finding.text,
        "facet": waiver.facet,
        "reason": waiver.reason,
        "until": waiver.until,
        "covered": finding.covered,
        "counts": finding.counts,
    }


def _driver_value(row: DriverRow) -> dict[str, Any]:
    facts = row.facts
    return {
        "state": row.state.value,
        "hosts": list(row.hosts),
        "package": observation_value(facts.package),
        "on_disk": observation_value(facts.on_disk),
        "loaded": observation_value(facts.loaded),
        "nvml": observation_value(facts.nvml),
    }
