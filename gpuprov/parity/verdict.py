"""The verdict: findings, waivers and hosts that could not be observed become one exit status."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gpuprov.compare.finding_id import plain_id
from gpuprov.compare.waive import covers, expired, waive
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.facet import ParityClass
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.snapshot import NotObserved
from gpuprov.model.status import ExitStatus, combine_statuses
from gpuprov.parity.driver import driver_rows
from gpuprov.parity.groups import group_findings, group_hosts
from gpuprov.parity.types import Compared, FailOn, Parity, Terms, WaiverFinding, WaiverTrouble


def judge(compared: Sequence[Compared], terms: Terms, *, not_observed: Iterable[NotObserved] = ()) -> Parity:
    """Give the verdict over hosts that were compared and hosts that were not.

    DIFFERENT (7) when an unwaived difference counts; else INCOMPLETE (10) when something was not observed, by fact or
    by host, or when nothing at all was compared; else DONE. "Nothing was compared" is never "in sync"; a host that
    somebody switched off is told, and has no say.

    Args:
        compared: hosts with their findings.
        terms: waivers, the date, and what has a say.
        not_observed: hosts without a snapshot.
    """
    hosts = [replace(host, findings=_weighed(host.findings, terms)) for host in compared]
    seen = [host for host in hosts if host.facets > 0]
    missing = (*not_observed, *(_unseen(host.host) for host in hosts if host.facets == 0))
    findings = [finding for host in seen for finding in host.findings]
    counting = [finding for finding in findings if finding.counts]
    waivers = tuple(_waiver_findings(terms, findings, complete=not missing))
    return Parity(
        hosts=tuple(host.host for host in seen),
        facets=sum(host.facets for host in seen),
        findings=tuple(finding for finding in findings if finding.waiver is None),
        waived=tuple(finding for finding in findings if finding.waiver is not None),
        not_compared=missing,
        groups=group_hosts(seen),
        rows=group_findings(counting),
        diagnostics=() if seen else (_nothing(missing),),
        status=_status(counting, waivers, incomplete=any(not one.off for one in missing) or not seen),
        waivers=waivers,
        drivers=driver_rows(seen),
        between=terms.between,
        taken=min((host.taken for host in seen if host.taken), default=""),
    )


def _weighed(findings: tuple[Finding, ...], terms: Terms) -> tuple[Finding, ...]:
    """Mark what a waiver covers, and what the user gave a say."""
    asked = {ParityClass(name.value) for name in terms.fail_on if name is not FailOn.WAIVER}
    marked = tuple(replace(f, asked=True) if f.parity in asked else f for f in findings) if asked else findings
    return waive(marked, terms.waivers, today=terms.today)


def _status(counting: Iterable[Finding], waivers: Iterable[WaiverFinding], *, incomplete: bool) -> ExitStatus:
    statuses = {
        ExitStatus.INCOMPLETE if finding.kind is FindingKind.UNKNOWN else ExitStatus.DIFFERENT for finding in counting
    }
    statuses |= {ExitStatus.DIFFERENT for waiver in waivers if waiver.counts}
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


def _waiver_findings(terms: Terms, findings: Sequence[Finding], *, complete: bool) -> Iterator[WaiverFinding]:
    """Say which waivers are over or cover nothing.

    Where a host could not be observed, or only some were to be compared, a waiver may cover what nobody looked at.
    """
    for place, waiver in enumerate(terms.waivers):
        covered = sum(covers(waiver, finding.address) for finding in findings)
        over = expired(waiver, terms.today)
        if not over and (covered or not (complete and terms.whole)):
            continue
        trouble = WaiverTrouble.EXPIRED if over else WaiverTrouble.UNUSED
        address = f"parity.waivers[{place}]"
        yield WaiverFinding(
            id=plain_id("waiver", waiver.facet, trouble.value),
            address=address,
            waiver=waiver,
            trouble=trouble,
            covered=covered,
            counts=FailOn.WAIVER in terms.fail_on,
            span=terms.spans.get(address),
        )
