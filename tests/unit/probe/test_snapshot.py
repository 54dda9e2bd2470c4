"""A recording becomes the same snapshot wherever it is replayed."""

from gpuprov.compare.compare import compare_snapshots
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.finding import FindingKind
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collectors import COLLECTORS
from gpuprov.probe.snapshot import snapshot_of


def recording(**outputs: CollectorOutput) -> Recording:
    return Recording(host="gpu-1", os="debian-12", arch="amd64", taken="2026-11-30T03:00:00Z", collectors=outputs)


def said(stdout: str, status: int = 0) -> CollectorOutput:
    return CollectorOutput(command="c", stdout=stdout, stderr="", status=status)


def test_facts_carry_their_evidence() -> None:
    snapshot = snapshot_of(recording(name=said("gpu-1\n")))
    fact = snapshot.facts["host.name"]
    assert fact.observation == Known("gpu-1")
    assert fact.evidence.collector == "name"
    assert fact.evidence.status == 0
    assert fact.evidence.digest.startswith("sha256:")
    other = snapshot_of(recording(name=said("gpu-2\n"))).facts["host.name"]
    assert other.evidence.digest != fact.evidence.digest


def test_a_package_that_dpkg_does_not_list_is_absent_and_a_file_nobody_asked_for_is_unknown() -> None:
    snapshot = snapshot_of(
        recording(packages=said("install ok installed amd64 1.0 htop\naudit\nend\n"), files=said("end \n"))
    )
    assert snapshot.observe('package["htop"].version') == Known("1.0")
    assert snapshot.observe('package["vim"].version') == Absent()
    assert isinstance(snapshot.observe('package["htop"].colour'), Unknown)
    assert isinstance(snapshot.observe('file["/etc/motd"].sha256'), Unknown)


def test_an_empty_recording_knows_nothing_and_says_so() -> None:
    snapshot = snapshot_of(recording())
    assert {a for c in COLLECTORS for a in c.gives} == set(snapshot.facts)
    assert all(isinstance(f.observation, Unknown) for f in snapshot.facts.values())
    assert all(isinstance(o, Unknown) for o in snapshot.families.values())
    families = {a.partition("[")[0] for c in COLLECTORS for a in c.gives if "[*]" in a}
    assert set(snapshot.families) == families >= {"package", "service", "file", "exporter", "mount", "user"}


def test_a_replay_is_equal_to_the_first_look() -> None:
    one = recording(name=said("gpu-1\n"), kernel=said("6.1.0-25-amd64\n"))
    assert snapshot_of(one) == snapshot_of(one)


def test_two_hosts_that_could_not_be_looked_at_are_not_equal() -> None:
    hosts = [recording(name=said("gpu-1\n"), limits=said("", status=1)) for _ in range(2)]
    first, second = (snapshot_of(host) for host in hosts)
    found = compare_snapshots(first, second, component_of=lambda _: None).findings
    limits = [finding for finding in found if finding.address == "limit[*].value"]
    assert [(finding.kind, finding.counts) for finding in limits] == [(FindingKind.UNKNOWN, True)]


def test_what_was_not_asked_for_is_no_failure() -> None:
    facts = snapshot_of(recording(files=said("end \n"), limits=said("end\n"))).facts
    assert not {a for a in facts if a.startswith(("file[", "limit["))}
