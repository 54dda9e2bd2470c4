"""Laws of compare and plan together, over hosts that drifted in any way."""

from dataclasses import dataclass, replace

from host_builders import VERSIONS, FakeHost, edit, fresh, make_want, satisfied
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuprov.compare.compare import compare_want
from gpuprov.compare.waive import waive
from gpuprov.model.address import pattern_of, split_address
from gpuprov.model.change import Action, HostPlan
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.snapshot import Snapshot
from gpuprov.model.waiver import Waiver
from gpuprov.plan.guard import moved
from gpuprov.plan.plan import plan_host
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of
from gpuprov.want.types import HostWant

WANT = make_want()
NO_GPUS = make_want(gpus=False)
SETTLED = make_want(settled=True)
KERNEL = make_want(kernel="6.1.0-37-amd64")
BASES = {
    "satisfied": (WANT, satisfied(WANT)),
    "by hand": (WANT, satisfied(WANT, owned=False)),
    "fresh": (WANT, fresh(WANT)),
    "nouveau": (WANT, edit(fresh(WANT), {"host.nouveau": Known(value=True)})),
    "older": (WANT, satisfied(make_want({**VERSIONS, "libcuda1": "570.1.2-1"}))),
    "larger": (
        WANT,
        satisfied(make_want({**VERSIONS, "htop": "3.2-1"}, files={"/etc/motd": "GPU host\n", "/etc/x": "x"})),
    ),
    "no gpus": (NO_GPUS, satisfied(NO_GPUS)),
    "kernel": (KERNEL, satisfied(KERNEL)),
    "settled": (SETTLED, satisfied(SETTLED)),
    "settled fresh": (SETTLED, fresh(SETTLED)),
}
OTHER = {
    "package[*].version": st.sampled_from(["0.1-1", "999:1-1", "580.82.07-1"]),
    "package[*].state": st.sampled_from(["half-configured", "unpacked"]),
    "apt.dpkg": st.just(["docker.io"]),
    "host.kernel.release": st.just("6.1.0-40-amd64"),
    "host.kernel.next": st.just("6.1.0-40-amd64"),
    "stack.driver.on_disk": st.sampled_from(["570.172.08", "535.261.03"]),
    "stack.driver.loaded": st.sampled_from(["570.172.08", "535.261.03"]),
    "stack.driver.nvml": st.sampled_from(["570.172.08", "580.95"]),
    "stack.driver.modules": st.just("proprietary"),
    "gpu.models": st.just(["NVIDIA A100-SXM4-80GB"]),
    "gpu.count": st.just(7),
    "stack.container.runtimes": st.sampled_from([[], ["kata"]]),
    "service[*].active": st.sampled_from(["inactive", "failed"]),
    "service[*].enabled": st.sampled_from(["disabled", "masked"]),
    "apt.unattended_blacklist": st.sampled_from([[], ["^htop$"]]),
    "host.ssh.keys": st.sampled_from([[], [".ssh/authorized_keys", "/etc/keys/%u"]]),
    "user[*].state": st.just("locked"),
    "user[*].uid": st.just(1005),
    "group[*].gid": st.just(1005),
    "group[*].members": st.sampled_from([[], ["ana"], ["eve"]]),
    "gpu.power_limit": st.sampled_from([700, {"0": 500, "1": 700}]),
    "file[*].text": st.sampled_from(["{}", '{"runtimes": {"kata": {"path": "/k"}}}', "[1]", "no json"]),
}


ADDRESSES = {
    base: sorted({e.address for e in expectations(want, owned_of(host))} - {"host.os", "host.arch"})
    for base, (want, host) in BASES.items()
}
MEMBER = {a: (split_address(a) or (a,))[:2] for addresses in ADDRESSES.values() for a in addresses}
MEMBERS = {
    base: {a: [b for b in addresses if MEMBER[b] == MEMBER[a]] for a in addresses}
    for base, addresses in ADDRESSES.items()
}
"""For each address those of the same member: a member that is there has all its leaves."""


@dataclass(frozen=True)
class Case:
    """A host that was one of the bases and then drifted at some addresses; short in a failure's report."""

    base: str
    edits: dict[str, Observation]

    @property
    def want(self) -> HostWant:
        return BASES[self.base][0]

    @property
    def snapshot(self) -> Snapshot:
        return edit(BASES[self.base][1], self.edits)


@st.composite
def drifted(draw: st.DrawFn) -> Case:
    """Draw a case."""
    base = draw(st.sampled_from(sorted(BASES)))
    snapshot = BASES[base][1]
    edits: dict[str, Observation] = {}
    for address in draw(st.lists(st.sampled_from(ADDRESSES[base]), max_size=6, unique=True)):
        others = OTHER.get(
            pattern_of(address), st.just(False) if "held" in address or "answers" in address else st.just("x")
        )
        edits[address] = draw(st.one_of(others.map(Known), st.just(Absent()), st.just(Unknown("timed out"))))
        parts = split_address(address)
        if parts is not None and parts[0] == "package" and isinstance(edits[address], Absent):
            edits |= {f'package["{parts[1]}"].{leaf}': Absent() for leaf in ("version", "held", "state")}
        elif parts is not None:
            edits |= {a: snapshot.observe(a) for a in MEMBERS[base][address] if a not in edits}
    return Case(base, edits)


def findings_of(want: HostWant, snapshot: Snapshot) -> tuple[Finding, ...]:
    return compare_want(expectations(want, owned_of(snapshot)), snapshot)


def left(plan: HostPlan) -> set[str]:
    return {finding.address for finding in (*plan.not_curable, *plan.unknown)}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drifted())
def test_a_plan_ends_every_finding_that_it_does_not_list(case: Case) -> None:
    want, snapshot = case.want, case.snapshot
    plan = plan_host(findings_of(want, snapshot), want, snapshot)
    after = FakeHost(snapshot, want).carry_out(plan)
    still = {f.address for f in findings_of(want, after)}
    assert still - left(plan) == set()


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drifted())
def test_every_finding_is_ended_by_the_changes_or_listed_once_as_what_it_is(case: Case) -> None:
    want, snapshot = case.want, case.snapshot
    findings = {f.address: f for f in findings_of(want, snapshot)}
    plan = plan_host(findings.values(), want, snapshot)
    listed = [f.address for f in (*plan.not_curable, *plan.unknown)]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(findings)
    assert not set(listed) & {change.address for change in plan.changes}
    assert {f.kind for f in plan.unknown} <= {FindingKind.UNKNOWN}
    assert FindingKind.UNKNOWN not in {f.kind for f in plan.not_curable}
    assert not any(f.curable for f in (*plan.not_curable, *plan.unknown))
    after = FakeHost(snapshot, want).carry_out(plan)
    still = {f.address for f in findings_of(want, after)}
    assert still <= set(listed)
    # What is not known may become known by the way; what is called not curable must not be cured.
    assert {f.address for f in plan.not_curable} <= still


@settings(deadline=None)
@given(drifted())
def test_the_next_plan_is_empty(case: Case) -> None:
    want, snapshot = case.want, case.snapshot
    after = FakeHost(snapshot, want).carry_out(plan_host(findings_of(want, snapshot), want, snapshot))
    again = plan_host(findings_of(want, after), want, after)
    assert not [change for change in again.changes if change.action in {Action.REBOOT, Action.RESTART, Action.LOAD}]
    assert again.changes == ()


@settings(deadline=None)
@given(drifted())
def test_no_finding_means_no_change(case: Case) -> None:
    want, snapshot = case.want, case.snapshot
    waivers = [Waiver(facet=f.address, reason="r", until="2027-01-01") for f in findings_of(want, snapshot)]
    findings = waive(findings_of(want, snapshot), waivers, today="2026-11-30")
    plan = plan_host(findings, want, snapshot)
    assert plan.changes == ()
    assert left(plan) == set()


@settings(deadline=None)
@given(drifted())
def test_every_change_stands_at_a_finding_or_follows_from_another_change(case: Case) -> None:
    want, snapshot = case.want, case.snapshot
    findings = findings_of(want, snapshot)
    plan = plan_host(findings, want, snapshot)
    addresses = {f.address for f in findings}
    own = [change for change in plan.changes if change.address in addresses]
    follows = [change for change in plan.changes if change.address not in addresses]
    assert all(change.action is Action.RESTART for change in follows)
    assert own or not follows


@settings(deadline=None)
@given(drifted())
def test_an_unknown_never_vanishes_and_is_never_acted_upon(case: Case) -> None:
    want, snapshot = case.want, case.snapshot
    findings = findings_of(want, snapshot)
    unknown = {f.address for f in findings if f.kind is FindingKind.UNKNOWN}
    expected = {e.address for e in expectations(want, owned_of(snapshot))}
    assert {a for a in expected if isinstance(snapshot.observe(a), Unknown)} <= unknown
    plan = plan_host(findings, want, snapshot)
    assert not unknown & {change.address for change in plan.changes}


@settings(deadline=None)
@given(drifted(), drifted())
def test_a_plan_holds_exactly_while_what_it_read_stays(case: Case, other: Case) -> None:
    want, snapshot = case.want, case.snapshot
    plan = plan_host(findings_of(want, snapshot), want, snapshot)
    assert moved(plan, replace(snapshot, taken="later", seconds=9.0)) == ()
    now = other.snapshot
    differs = {
        a
        for a in plan.reads
        if snapshot.observe(a) != now.observe(a)
        and not (isinstance(snapshot.observe(a), Unknown) and isinstance(now.observe(a), Unknown))
    }
    assert set(moved(plan, now)) == differs


def test_a_foreign_os_gets_no_change() -> None:
    snapshot = edit(fresh(WANT), {"host.os": Known("ubuntu-24.04")})
    plan = plan_host(findings_of(WANT, snapshot), WANT, snapshot)
    assert plan.changes == ()
    assert "host.os" in left(plan)
