from host_builders import edit, make_want, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.model.change import HostPlan
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.snapshot import Snapshot
from gpuprov.plan.guard import moved
from gpuprov.plan.plan import plan_host
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of

WANT = make_want()
HELD = 'package["libcuda1"].held'
HOST = edit(satisfied(WANT), {HELD: Known(value=False), "host.uptime": Known(10)})


def plan_of(snapshot: Snapshot) -> HostPlan:
    return plan_host(compare_want(expectations(WANT, owned_of(snapshot)), snapshot), WANT, snapshot)


def test_a_host_that_stayed_did_not_move() -> None:
    assert moved(plan_of(HOST), HOST) == ()


def test_what_the_plan_did_not_read_may_move() -> None:
    later = edit(HOST, {"host.uptime": Known(99), 'package["bash"].version': Known("5.3-1")})
    assert moved(plan_of(HOST), later) == ()


def test_what_moved_is_named() -> None:
    for now in (Known(value=True), Absent(), Unknown("timed out")):
        assert moved(plan_of(HOST), edit(HOST, {HELD: now})) == (HELD,)


def test_a_reboot_in_between_is_a_move() -> None:
    assert moved(plan_of(HOST), edit(HOST, {"host.boot_id": Known("boot-2")})) == ("host.boot_id",)


def test_another_run_in_between_is_a_move() -> None:
    record = HOST.observe("gpuprov.owned")
    assert isinstance(record, Known)
    assert isinstance(record.value, dict)
    later = edit(HOST, {"gpuprov.owned": Known({**record.value, "want": "sha256:other"})})
    assert moved(plan_of(HOST), later) == ("gpuprov.owned",)


def test_two_unknowns_are_the_same_whatever_their_reasons_say() -> None:
    first = edit(HOST, {"stack.driver.loaded": Unknown("process 12 hangs")})
    second = edit(HOST, {"stack.driver.loaded": Unknown("process 13 hangs")})
    assert moved(plan_of(first), second) == ()


def test_the_guard_is_one_digest_over_all() -> None:
    guards = {
        plan_of(HOST).guard,
        plan_of(edit(HOST, {"stack.driver.loaded": Absent()})).guard,
        plan_of(edit(HOST, {"host.boot_id": Known("boot-2")})).guard,
    }
    assert len(guards) == 3
