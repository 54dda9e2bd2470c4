"""Groups: what several hosts have in common is said once."""

from collections.abc import Iterable, Sequence

from gpuprov.document.canonical import canonical_json
from gpuprov.document.snapshot_text import observation_value
from gpuprov.model.finding import Finding
from gpuprov.parity.types import Compared, Group, Row


def group_hosts(compared: Sequence[Compared]) -> tuple[Group, ...]:
    """Put hosts with the same findings together; the largest group first, hosts in the order given.

    Findings without a say in the status do not part hosts: names and uptimes differ between any two.
    """
    groups: dict[tuple[str, ...], list[Compared]] = {}
    for host in compared:
        key = tuple(sorted(_key(finding) for finding in host.findings if finding.counts))
        groups.setdefault(key, []).append(host)
    ordered = sorted(groups.values(), key=len, reverse=True)
    return tuple(
        Group(
            hosts=tuple(member.host for member in members),
            findings=tuple(finding for finding in members[0].findings if finding.counts),
        )
        for members in ordered
    )


def group_findings(findings: Iterable[Finding]) -> tuple[Row, ...]:
    """Put equal disagreements of several hosts into one row, in the order in which they first occur."""
    rows: dict[str, list[Finding]] = {}
    for finding in findings:
        rows.setdefault(_key(finding), []).append(finding)
    return tuple(
        Row(finding=members[0], hosts=tuple(dict.fromkeys(member.host for member in members)))
        for members in rows.values()
    )


def _key(finding: Finding) -> str:
    """What makes two disagreements the same: everything but the host that has it."""
    sides = [observation_value(finding.expected), observation_value(finding.observed)]
    return canonical_json([finding.address, finding.kind.value, finding.sides[0], sides])
