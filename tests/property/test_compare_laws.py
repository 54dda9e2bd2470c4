"""Laws of comparing two hosts."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprov.compare.compare import compare_snapshots
from gpuprov.model.fact import Absent, Fact, Known, Observation, Unknown
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.snapshot import Snapshot

ADDRESSES = (
    "host.os",
    "gpu.count",
    "gpu.models",
    "stack.driver.nvml",
    "stack.driver.loaded",
    "stack.driver.on_disk",
    "stack.cuda.toolkits",
    "host.kernel.release",
    "host.uptime",
    "stack.container.runtimes",
    "something.new",
    'package["docker.io"].version',
    'package["vim"].version',
    'package["vim"].held',
    'file["/etc/motd"].sha256',
    'file["/etc/docker/daemon.json"].text',
    'service["docker"].active',
)
VALUES = st.one_of(
    st.sampled_from(["1.0", "1.0-0", "580.95.05", "580.95", "1.0-1", '{"a": 1}', "no version_"]),
    st.booleans(),
    st.integers(0, 2),
    st.lists(st.sampled_from(["a", "b"]), max_size=3),
)
OBSERVATIONS = st.one_of(VALUES.map(Known), st.just(Absent()), st.sampled_from(["x", "y"]).map(Unknown))
FAMILIES = st.dictionaries(
    st.sampled_from(["package", "file", "service"]), st.one_of(st.just(Absent()), st.just(Unknown("failed")))
)


@st.composite
def snapshots(draw: st.DrawFn, host: str = "a") -> Snapshot:
    facts: dict[str, Observation] = draw(st.dictionaries(st.sampled_from(ADDRESSES), OBSERVATIONS))
    return Snapshot(
        host=host,
        taken="2026-11-30T00:00:00Z",
        facts={address: Fact(address=address, observation=seen) for address, seen in facts.items()},
        families=draw(FAMILIES),
    )


def compared(first: Snapshot, second: Snapshot) -> tuple[Finding, ...]:
    return compare_snapshots(
        first, second, component_of=lambda name: "engine" if name == "docker.io" else None
    ).findings


MIRRORED = {
    FindingKind.MISSING: FindingKind.UNEXPECTED,
    FindingKind.UNEXPECTED: FindingKind.MISSING,
    FindingKind.DIFFERENT: FindingKind.DIFFERENT,
    FindingKind.UNKNOWN: FindingKind.UNKNOWN,
    FindingKind.REBOOT_PENDING: FindingKind.REBOOT_PENDING,
}


BOTH_KNOWN = set(MIRRORED) - {FindingKind.UNKNOWN}


@settings(deadline=None)
@given(snapshots())
def test_a_host_does_not_differ_from_itself_but_its_unknowns_stay(snapshot: Snapshot) -> None:
    unknown = {address for address in snapshot.facts if isinstance(snapshot.observe(address), Unknown)}
    found = compared(snapshot, snapshot)
    assert {finding.address for finding in found} == unknown
    assert all(finding.kind is FindingKind.UNKNOWN for finding in found)


@settings(deadline=None)
@given(snapshots(), snapshots("b"))
def test_the_other_way_round_says_the_same_mirrored(first: Snapshot, second: Snapshot) -> None:
    there, back = compared(first, second), compared(second, first)
    assert [(f.address, MIRRORED[f.kind], f.observed, f.expected, f.parity) for f in there if f.kind in BOTH_KNOWN] == [
        (f.address, f.kind, f.expected, f.observed, f.parity) for f in back if f.kind in BOTH_KNOWN
    ]
    assert [f.address for f in there] == [f.address for f in back]


@settings(deadline=None)
@given(snapshots(), snapshots("b"))
def test_an_unknown_on_either_side_is_a_finding(first: Snapshot, second: Snapshot) -> None:
    found = {finding.address: finding.kind for finding in compared(first, second)}
    for address in {*first.facts, *second.facts}:
        sides = (first.observe(address), second.observe(address))
        if any(isinstance(side, Unknown) for side in sides):
            assert found[address] is FindingKind.UNKNOWN
        elif repr(sides[0]) == repr(sides[1]):
            assert address not in found
