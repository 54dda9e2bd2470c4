import pytest
from host_builders import VERSIONS, edit, make_want, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.model.fact import Known, Observation
from gpuprov.plan.plan import plan_host
from gpuprov.plan.removal import Removal, removals
from gpuprov.want.empty import empty_want
from gpuprov.want.expectations import expectations
from gpuprov.want.host import host_want
from gpuprov.want.owned import owned_of
from gpuprov.want.types import HostWant

BEFORE = make_want({**VERSIONS, "htop": "3.2-1"}, files={"/etc/motd": "GPU host\n", "/etc/x": "x"})


def removals_to(want: HostWant) -> Removal:
    host = satisfied(BEFORE)
    return removals(plan_host(compare_want(expectations(want, owned_of(host)), host), want, host))


def test_what_the_spec_dropped_goes() -> None:
    gone = removals_to(make_want())
    assert gone == Removal(packages=("htop",), files=("/etc/x",), sources=(), release=())


def test_a_hand_back_takes_files_sources_and_holds_and_no_package() -> None:
    gone = removals_to(host_want(empty_want("train", "onprem", "debian-12", "amd64"), "node-1"))
    assert gone.packages == ()
    assert gone.sources == ("nvidia",)
    assert gone.release == tuple(sorted({*VERSIONS, "htop"}))
    assert gone.files == (
        "/etc/apt/apt.conf.d/52gpuprov-unattended-upgrades",
        "/etc/apt/preferences.d/gpuprov.pref",
        "/etc/modprobe.d/gpuprov-nouveau.conf",
        "/etc/motd",
        "/etc/systemd/system/gpuprov-cdi.service",
        "/etc/x",
    )


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({"stack.container.runtimes": Known([])}, ("docker",)),
        ({'exporter["node"].answers': Known(value=False)}, ("prometheus-node-exporter",)),
        ({"stack.container.runtimes": Known([]), 'service["docker"].active': Known("failed")}, ()),
        ({"stack.container.runtimes": Known([]), "stack.driver.loaded": Known("570.172.08")}, ()),
    ],
)
def test_units_that_must_start_anew_are_told(edits: dict[str, Observation], expected: tuple[str, ...]) -> None:
    host = edit(satisfied(BEFORE), edits)
    plan = plan_host(compare_want(expectations(BEFORE, owned_of(host)), host), BEFORE, host)
    assert removals(plan).restart == expected


def test_a_satisfied_host_loses_nothing() -> None:
    assert removals_to(BEFORE) == Removal()
