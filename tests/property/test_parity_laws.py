"""Laws of parity over hosts that differ in any way, in memory and by way of their files."""

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpuprov.compare.compare import compare_snapshots
from gpuprov.compare.finding_id import finding_id
from gpuprov.compare.finding_text import finding_value, read_finding
from gpuprov.compare.waive import covers
from gpuprov.document.shape import Fields
from gpuprov.document.snapshot_rows import RowCache, read_snapshot_rows
from gpuprov.document.snapshot_text import read_snapshot, write_snapshot
from gpuprov.model.address import split_address
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.facet import ParityClass
from gpuprov.model.facets import FACETS
from gpuprov.model.fact import Absent, Evidence, Fact, Known, Observation, Unknown
from gpuprov.model.finding import FindingKind
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.model.status import ExitStatus
from gpuprov.model.waiver import Waiver
from gpuprov.parity.report import report_body
from gpuprov.parity.types import Compared, FailOn, Parity, Terms
from gpuprov.parity.verdict import judge

LAW = settings(deadline=None, max_examples=60)
COUNTED = {ParityClass.MUST_EQUAL, ParityClass.MUST_BE_COMPATIBLE}
# Every facet there is, with two members of each family: a new row of the table is under the laws at once.
ADDRESSES = sorted(
    address
    for facet in FACETS
    for address in (
        [facet.pattern.replace("[*]", f'["{member}"]') for member in ("docker.io", "vim")]
        if "[*]" in facet.pattern
        else [facet.pattern]
    )
)
FAIL_ON = (frozenset[FailOn](), frozenset(FailOn))
VALUES = st.one_of(
    st.sampled_from(["1.0", "1.0-0", "580.95.05", "580.95", "570.124.06", '{"a": 1}', "no version_", "", "}, {"]),
    st.booleans(),
    st.integers(0, 2),
    st.lists(st.sampled_from(["12.4", "13.0", "99.9"]), max_size=3),
    st.dictionaries(st.sampled_from(["a", "b"]), st.lists(st.integers(0, 1), max_size=1), max_size=2),
)
OBSERVATIONS = st.one_of(VALUES.map(Known), st.just(Absent()), st.sampled_from(["x", "y"]).map(Unknown))
FAMILIES = st.dictionaries(
    st.sampled_from(["package", "file", "service"]), st.one_of(st.just(Absent()), st.just(Unknown("failed")))
)
EVIDENCE = st.sampled_from(
    [None, Evidence(collector="a", status=0, digest="sha256:1"), Evidence(collector="b", status=1, digest="sha256:2")]
)


@st.composite
def snapshots(draw: st.DrawFn, host: str = "a") -> Snapshot:
    addresses = draw(st.lists(st.sampled_from(ADDRESSES), max_size=8, unique=True))
    return Snapshot(
        host=host,
        taken="2026-11-30T00:00:00Z",
        facts={a: Fact(address=a, observation=draw(OBSERVATIONS), evidence=draw(EVIDENCE)) for a in addresses},
        families=draw(FAMILIES),
    )


def component(name: str) -> str | None:
    return "engine" if name == "docker.io" else None


def compared(first: Snapshot, second: Snapshot) -> Compared:
    found = compare_snapshots(first, second, component_of=component)
    return Compared(host=second.host, findings=found.findings, facets=found.facets)


def verdict(*hosts: Compared, missing: int = 0, **terms: object) -> Parity:
    lost = [NotObserved(host=f"lost-{n}", code="GP-SSH-001", reason="x") for n in range(missing)]
    return judge(hosts, Terms(**{"today": "2026-11-30", **terms}), not_observed=lost)  # type: ignore[arg-type]


@LAW
@given(snapshots())
def test_a_host_and_itself_give_nothing_but_what_could_not_be_seen(host: Snapshot) -> None:
    known = {a: fact for a, fact in host.facts.items() if not isinstance(host.observe(a), Unknown)}
    itself = compared(replace(host, facts=known), replace(host, facts=known))
    assert itself.findings == ()
    assert verdict(itself).status is (ExitStatus.DONE if known else ExitStatus.INCOMPLETE)


@LAW
@given(snapshots(), snapshots("b"))
def test_the_status_of_two_hosts_is_the_same_the_other_way_round(first: Snapshot, second: Snapshot) -> None:
    there, back = verdict(compared(first, second)), verdict(compared(second, first))
    assert there.status is back.status
    assert {f.address for f in there.findings if f.counts} == {f.address for f in back.findings if f.counts}


@LAW
@given(snapshots(), snapshots("b"), st.sampled_from(ADDRESSES), OBSERVATIONS)
def test_one_fact_more_gives_at_most_the_findings_of_its_member_and_of_what_a_rule_reads(
    first: Snapshot, second: Snapshot, address: str, seen: Observation
) -> None:
    assume(address not in second.facts)
    more = replace(second, facts={**second.facts, address: Fact(address=address, observation=seen)})
    before = {f.address for f in compared(first, second).findings}
    after = {f.address for f in compared(first, more).findings}
    parts = split_address(address)
    own = {a for a in ADDRESSES if parts is not None and (split_address(a) or ())[:2] == parts[:2]} | {address}
    assert after - before - own == set()


@LAW
@given(snapshots(), snapshots("b"), st.integers(0, 2), st.sampled_from(FAIL_ON))
def test_what_was_not_seen_never_gives_status_0(
    first: Snapshot, second: Snapshot, missing: int, fail_on: frozenset[FailOn]
) -> None:
    host = compared(first, second)
    ask = bool(fail_on)
    found = verdict(host, missing=missing, fail_on=fail_on)
    counted = [f for f in host.findings if f.kind is FindingKind.UNKNOWN and (ask or f.parity in COUNTED)]
    different = [f for f in host.findings if f.kind is not FindingKind.UNKNOWN and (ask or f.parity in COUNTED)]
    if host.facets == 0 or missing or counted:
        assert found.status in {ExitStatus.INCOMPLETE, ExitStatus.DIFFERENT}
    if host.facets and different:
        assert found.status is ExitStatus.DIFFERENT
    assert (found.status is ExitStatus.DIFFERENT) is bool(host.facets and different)


@LAW
@given(
    snapshots(),
    snapshots("b"),
    st.lists(st.sampled_from(ADDRESSES), max_size=3, unique=True),
    st.sampled_from(["2026-11-29", "2026-11-30"]),
)
def test_a_waiver_takes_the_say_of_what_it_covers_and_of_nothing_else(
    first: Snapshot, second: Snapshot, facets: list[str], until: str
) -> None:
    late = until < "2026-11-30"
    waivers = tuple(Waiver(facet=facet, reason="r", until=until) for facet in facets)
    host = replace(compared(first, second), facets=1)
    found = verdict(host, waivers=waivers)
    covered = [f for f in host.findings if any(covers(w, f.address) for w in waivers)]
    assert [f.address for f in found.waived] == ([] if late else [f.address for f in covered])
    assert len(found.findings) + len(found.waived) == len(host.findings)
    idle = {w.facet for w in waivers if not any(covers(w, f.address) for f in host.findings)}
    in_trouble = {w.waiver.facet for w in found.waivers}
    assert in_trouble == (set(facets) if late else idle)


@LAW
@given(snapshots(), st.lists(snapshots("b"), min_size=1, max_size=4))
def test_every_host_is_in_one_group_and_every_counting_finding_in_one_row(
    first: Snapshot, others: list[Snapshot]
) -> None:
    hosts = [compared(first, replace(other, host=f"b{n}")) for n, other in enumerate(others)]
    found = verdict(*hosts)
    assert sorted(name for group in found.groups for name in group.hosts) == sorted(found.hosts)
    in_rows = sorted((row.finding.address, name) for row in found.rows for name in row.hosts)
    assert in_rows == sorted((f.address, f.host) for f in found.findings if f.counts)
    ids = {finding_id(finding) for finding in found.findings}
    assert len(ids) == len(found.findings)
    body = report_body(found)
    assert {name for group in body["groups"] for name in group["findings"]} <= ids


@LAW
@given(snapshots(), snapshots("b"))
def test_a_finding_comes_back_from_its_document(first: Snapshot, second: Snapshot) -> None:
    for finding in compared(first, second).findings:
        assert read_finding(Fields(finding_value(finding), "r.json")) == finding


@LAW
@given(snapshots(), snapshots("b"))
def test_hosts_read_with_one_cache_compare_as_they_do_in_memory(first: Snapshot, second: Snapshot) -> None:
    cache = RowCache()
    read = [read_snapshot_rows(write_snapshot(side), "x.json", cache) for side in (first, second)]
    assert read == [first, second]
    assert compared(read[0], read[1]) == compared(first, second)


@LAW
@given(snapshots(), st.data())
def test_a_mutated_snapshot_is_read_as_the_plain_reader_reads_it(host: Snapshot, data: st.DataObject) -> None:
    text, cache = write_snapshot(host), RowCache()
    read_snapshot_rows(text, "x.json", cache)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    mutated = (
        text[:start] + data.draw(st.sampled_from(["", '"', "}", "},\n      {", "1", "null", text[:end]])) + text[end:]
    )
    assert _read(lambda: read_snapshot_rows(mutated, "x.json", cache)) == _read(
        lambda: read_snapshot(mutated, "x.json")
    )


def _read(read: object) -> object:
    try:
        return read()  # type: ignore[operator]
    except GpuprovError as error:
        return error.diagnostics
