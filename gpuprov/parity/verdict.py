"""The verdict: findings, waivers and hosts that could not be observed become one exit status."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpuprov.compare.waive import covers, expired, waive
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.finding import Finding, FindingKind, Waiver
from gpuprov.model.snapshot import NotObserved
from gpuprov.model.status import ExitStatus, combine_statuses
from gpuprov.parity.groups import group_findings, group_hosts
from gpuprov.parity.types import Compared, Parity


def judge(
    compared: Sequence[Compared],
    *,
    today: str,
    not_observed: Iterable[NotObserved] = (),
    waivers: Sequence[Waiver] = (),
) -> Parity:
    """Give the verdict over hosts that were compared and hosts that were not.

    DIFFERENT (7) when an unwaived difference counts; else INCOMPLETE (10) when something was not observed, by fact or
    by host, or when nothing at all was compared; else DONE. "Nothing was compared" is never "in sync".

    Args:
        compared: hosts with their findings.
        today: ISO date, for the waivers' last days.
        not_observed: hosts without a snapshot.
        waivers: the spec's.
    """
    hosts = [replace(host, findings=waive(host.findings, waivers, today=today)) for host in compared]
    empty = [_unseen(host.host) for host in hosts if host.facets == 0]
    seen = [host for host in hosts if host.facets > 0]
    missing = (*not_observed, *empty)
    findings = [finding for host in seen for finding in host.findings]
    counting = [finding for finding in findings if finding.counts]
    diagnostics = [*_waiver_diagnostics(waivers, findings, today, complete=not missing)]
    if not seen:
        diagnostics.append(_nothing(missing))
    return Parity(
        hosts=tuple(host.host for host in seen),
        facets=sum(host.facets for host in seen),
        findings=tuple(finding for finding in findings if finding.waiver is None),
        waived=tuple(finding for finding in findings if finding.waiver is not None),
        not_compared=missing,
        groups=group_hosts(seen),
        rows=group_findings(counting),
        diagnostics=tuple(diagnostics),
        status=_status(counting, incomplete=bool(missing) or not seen),
    )


def _status(counting: Iterable[Finding], *, incomplete: bool) -> ExitStatus:
    statuses = {
        ExitStatus.INCOMPLETE if finding.kind is FindingKind.UNKNOWN else ExitStatus.DIFFERENT for finding in counting
    }
    if incomplete:
        statuses.add(ExitStatus.INCOMPLETE)
    return combine_statuses(statuses)


def _unseen(host: str) -> NotObserved:
    return NotObserved(
        host=host,
        code="GP-PAR-004",
        reason="no facet could be compared",
        hint=f"see what a probe of {host} gives: `gpuprov snapshot {host}`",
    )


def _nothing(missing: Sequence[NotObserved]) -> Diagnostic:
    detail = "\n".join(f"{host.host}: {host.reason}" for host in missing)
    return Diagnostic(
        code="GP-PAR-004",
        summary="nothing was compared" if not missing else f"none of {len(missing)} hosts could be compared",
        detail=detail,
        hint="the reasons above say what each host needs" if missing else "name hosts, pools or documents to compare",
    )


def _waiver_diagnostics(
    waivers: Sequence[Waiver], findings: Sequence[Finding], today: str, *, complete: bool
) -> list[Diagnostic]:
    """Say which waivers are over or cover nothing; warnings, since what an expired one covered now counts anyway."""
    diagnostics = []
    for waiver in waivers:
        covered = [finding for finding in findings if covers(waiver, finding.address)]
        if expired(waiver, today):
            counts = f"{len(covered)} findings count again" if covered else "it covers nothing any more"
            diagnostics.append(
                _waiver_warning(waiver, f"the waiver for {waiver.facet} expired on {waiver.until}: {counts}")
            )
        # Where a host or a fact could not be observed, the waiver may cover what nobody saw.
        elif not covered and complete:
            diagnostics.append(_waiver_warning(waiver, f"the waiver for {waiver.facet} covers nothing"))
    return diagnostics


def _waiver_warning(waiver: Waiver, summary: str) -> Diagnostic:
    return Diagnostic(
        code="GP-PAR-006",
        summary=summary,
        address="parity.waivers",
        detail=f"reason given: {waiver.reason}",
        hint="remove it from the spec, or give it a new date and reason",
        severity=Severity.WARNING,
    )
