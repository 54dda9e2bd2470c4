"""A report of parity that holds all that a report can hold, with values that would break a careless one."""

from gpuprov.compare.finding_id import finding_id
from gpuprov.model.diagnostic import Diagnostic, Severity, Span
from gpuprov.model.facet import Cost, ParityClass
from gpuprov.model.fact import Absent, Evidence, Known, Observation, Unknown
from gpuprov.model.finding import Finding, FindingKind, SideEvidence
from gpuprov.model.snapshot import NotObserved
from gpuprov.model.status import ExitStatus
from gpuprov.model.waiver import Waiver
from gpuprov.parity.groups import group_findings, group_hosts
from gpuprov.parity.types import (
    Compared,
    DriverFacts,
    DriverRow,
    DriverState,
    Parity,
    WaiverFinding,
    WaiverTrouble,
)
from gpuprov.render.reports.types import ParityReport

NASTY = 'a|b`c``d\n::error::x, <script>alert("1")</script> [l](http://e.example) @someone \x1b[31m\u202e\udc80 100%'
"""A value from a host that holds what each of the forms uses as its own marks."""
TAKEN = "2026-11-30T08:15:00Z"
FACTS = DriverFacts(
    package=Known("580.95.05"), on_disk=Known("580.95.05"), loaded=Known("570.1.2"), nvml=Unknown("nvidia-smi hung")
)


def make_finding(
    address: str, host: str, kind: FindingKind, expected: Observation, observed: Observation, **changes: object
) -> Finding:
    """A finding against the lock."""
    values: dict[str, object] = {
        "parity": ParityClass.MUST_EQUAL,
        "cost": Cost.NOTHING,
        "reason": "the locked stack",
        "sides": ("lock", host),
        **changes,
    }
    return Finding(address=address, host=host, kind=kind, expected=expected, observed=observed, **values)  # type: ignore[arg-type]


def make_parity() -> Parity:
    """Four hosts: one in sync, two with a package moved, one with every kind of trouble; a fifth is out of reach."""
    package = 'package["libcuda1"].version'
    moved = [
        make_finding(
            package,
            host,
            FindingKind.DIFFERENT,
            Known("580.95.05-1"),
            Known("570.1-1"),
            origin="lock: libcuda1=580.95.05-1",
            evidence=(
                SideEvidence(
                    side=host, taken=TAKEN, evidence=Evidence(collector="packages", status=0, digest="sha256:ab")
                ),
            ),
        )
        for host in ("node-2", "node-3")
    ]
    trouble = [
        make_finding('file["/etc/motd"].text', "node-4", FindingKind.DIFFERENT, Known("GPU host\n"), Known(NASTY)),
        make_finding("gpu.count", "node-4", FindingKind.UNKNOWN, Known(8), Unknown("no lspci"), curable=False),
        make_finding("stack.driver.loaded", "node-4", FindingKind.REBOOT_PENDING, Known("580.95.05"), Known("570.1.2")),
        make_finding('package["htop"].version', "node-4", FindingKind.MISSING, Known("3.2.2-2"), Absent()),
        make_finding('service["docker"].active', "node-4", FindingKind.UNEXPECTED, Absent(), Known("active")),
        make_finding(
            "host.kernel.release", "node-4", FindingKind.DIFFERENT, Known("6.1.0-1"), Known("6.1.0-2"),
            parity=ParityClass.INFORMATIONAL,
        ),
    ]  # fmt: skip
    waived = make_finding(
        "stack.dcgm.version", "node-3", FindingKind.DIFFERENT, Known("4.8.2"), Known("4.7.0"),
        waiver=Waiver(facet="stack.dcgm.version", reason="the exporter is replaced in May", until="2027-05-01"),
    )  # fmt: skip
    found = {"node-4": trouble, "node-3": [moved[1], waived], "node-2": [moved[0]], "node-1": []}
    compared = [Compared(host=host, findings=tuple(findings), facets=100) for host, findings in found.items()]
    findings = [finding for host in compared for finding in host.findings]
    return Parity(
        hosts=tuple(found),
        facets=400,
        findings=tuple(finding for finding in findings if finding.waiver is None),
        waived=(waived,),
        not_compared=(
            NotObserved(host="node-5", code="GP-SSH-001", reason="no answer", detail="port 22", hint="is it on?"),
        ),
        groups=group_hosts(compared),
        rows=group_findings(finding for finding in findings if finding.counts),
        diagnostics=(
            Diagnostic(
                code="GP-PAR-004", address="pools.login", summary="the pool is not compared", severity=Severity.NOTE
            ),
        ),
        status=ExitStatus.DIFFERENT,
        waivers=(
            WaiverFinding(
                id="F-waiver",
                address="parity.waivers[1]",
                waiver=Waiver(facet="host.os", reason="old rack", until="2026-10-01"),
                trouble=WaiverTrouble.EXPIRED,
                covered=0,
                counts=False,
            ),
        ),
        drivers=(DriverRow(facts=FACTS, state=DriverState.REBOOT_PENDING, hosts=("node-4",)),),
        between=("lock", "target:onprem"),
        taken=TAKEN,
    )


def make_report() -> ParityReport:
    """The report on it, with a line of the lock and one of the spec."""
    parity = make_parity()
    spec = Span(file="site/gpuprov.yaml", line=7, column=12, end_column=19, text='  driver: {version: "580.*"}')
    lock = Span(file="site/gpuprov.lock", line=31, column=7)
    places = {finding_id(f): lock for f in parity.findings if f.address.startswith("package")}
    places |= {finding_id(f): spec for f in parity.findings if f.address.startswith("stack.driver")}
    places["F-waiver"] = Span(file="site/gpuprov.yaml", line=40, column=5)
    return ParityReport(parity=parity, diagnostics=parity.diagnostics, places=places, version="0.0.0")


def make_failure() -> ParityReport:
    """Nothing could be compared: the spec has two errors."""
    span = Span(file="site/gpuprov.yaml", line=5, column=9, end_column=14, text="  cuda: 12.10")
    wrong = Diagnostic(
        code="GP-SPEC-003", address="stack.cuda", summary="12.10 is not quoted", hint='write "12.10"', span=span
    )
    return ParityReport(parity=None, diagnostics=(wrong, Diagnostic(code="GP-LOCK-004", summary="the lock is stale")))
