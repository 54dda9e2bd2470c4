"""`parity` over targets: alone it holds every host of every target against the lock; two targets go pool by pool."""

from dataclasses import replace
from typing import Any

import pytest
from app_world import World
from ground_builders import BOTH, cloud_lock
from host_builders import edit, satisfied

from gpuprov.app import named, parity_sides
from gpuprov.app import parity as module
from gpuprov.app.access import Access
from gpuprov.app.hosts import wants_of
from gpuprov.app.parity import ParityRequest, parity
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.fact import Known
from gpuprov.model.finding import FindingKind
from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import ignore_progress
from gpuprov.model.status import ExitStatus
from gpuprov.provision.onprem import Inventory

LOGIN = "  login:\n    gpu: none\n    onprem: {group: login}\nstorage:\n"
BEHIND = 'package["libcuda1"].version'


def rack_host(name: str, pool: str = "train") -> Host:
    return Host(name=name, pool=pool, target="onprem", connection=Connection(host=name, address=name))


@pytest.fixture
def both(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A rack with two hosts beside the cloud's two, all as wanted; a host of `behind` has an older package."""
    world.up()
    world.rewrite(text=BOTH.replace("storage:\n", LOGIN))
    racked = (rack_host("rack-1"), rack_host("rack-2"), rack_host("head", "login"))
    lock = cloud_lock()
    lock = replace(lock, pools={**lock.pools, "login": replace(lock.pools["train"], pool="login")})

    def observe(hosts: Any, *_: Any) -> dict[str, Any]:
        seen = {name: satisfied(want) for name, want in wants_of(world.site, lock, hosts).items()}
        return {n: edit(s, {BEHIND: Known("570.1-1")}) if n in world.wanted else s for n, s in seen.items()}

    world.wanted.clear()
    for place in (module, parity_sides):
        monkeypatch.setattr(place, "observe", observe)
    monkeypatch.setattr(module, "open_lock", lambda _site: (lock, "lock"))
    monkeypatch.setattr(module, "refuse_stale_lock", lambda _site, _lock: None)
    monkeypatch.setattr(named, "pool_hosts", lambda _site, _access: (racked, ()))
    inventory = Inventory(path=world.site.path, hosts=racked)
    for place in (named, parity_sides):
        monkeypatch.setattr(place, "open_inventory", lambda _site, _access: inventory)
    monkeypatch.setattr("gpuprov.app.cloud_site.read_stack", lambda _site: world.stack.state())
    return world


def compare(world: World, *operands: str, against_lock: bool = False) -> Any:
    request = ParityRequest(operands=operands, against_lock=against_lock, site=world.site, access=Access())
    return parity(request, ignore_progress)


def test_alone_it_compares_cloud_rack_and_lock(both: World) -> None:
    found = compare(both)
    assert found.hosts == ("rack-1", "rack-2", "head", "train-a", "train-b")
    assert found.status is ExitStatus.DONE


def test_a_drift_on_one_side_is_found_beside_the_other(both: World) -> None:
    both.wanted.add("train-b")
    found = compare(both)
    assert [(row.finding.address, row.hosts) for row in found.rows] == [(BEHIND, ("train-b",))]
    assert found.status is ExitStatus.DIFFERENT


def test_a_host_that_was_never_made_is_not_compared(both: World) -> None:
    both.stack.resources.pop("instance.train-b")
    found = compare(both)
    assert [(n.host, n.code) for n in found.not_compared] == [("train-b", "GP-CLOUD-026")]
    assert found.status is ExitStatus.INCOMPLETE


@pytest.mark.parametrize(
    ("operand", "hosts"),
    [
        ("target:cloud", ("train-a", "train-b")),
        ("target:onprem", ("rack-1", "rack-2", "head")),
        ("pool:train", ("rack-1", "rack-2", "train-a", "train-b")),
        ("host:train-b", ("train-b",)),
        ("rack-2", ("rack-2",)),
    ],
)
def test_an_operand_narrows_the_comparison_with_the_lock(both: World, operand: str, hosts: tuple[str, ...]) -> None:
    assert compare(both, operand, against_lock=True).hosts == hosts


def test_two_targets_are_compared_pool_by_pool(both: World) -> None:
    found = compare(both, "target:onprem", "target:cloud")
    assert found.hosts == ("rack-2", "train-a", "train-b")
    assert found.status is ExitStatus.DONE
    assert [(d.code, d.address) for d in found.diagnostics] == [("GP-PAR-004", "pools.login")]
    both.wanted |= {"train-a", "train-b"}
    found = compare(both, "target:onprem", "target:cloud")
    assert [(row.finding.address, row.hosts) for row in found.rows] == [(BEHIND, ("train-a", "train-b"))]
    assert {group.hosts for group in found.groups} == {("rack-2",), ("train-a", "train-b")}
    assert found.status is ExitStatus.DIFFERENT


def test_targets_of_which_one_cannot_be_seen_are_not_in_sync(both: World) -> None:
    both.stack.resources.clear()
    found = compare(both, "target:onprem", "target:cloud")
    assert found.status is ExitStatus.INCOMPLETE
    assert {n.host for n in found.not_compared} == {"rack-1", "rack-2", "train-a", "train-b"}


def test_hosts_are_held_against_the_spec_alone(both: World) -> None:
    found = compare(both, "spec", "pool:train")
    assert found.hosts == ("rack-1", "rack-2", "train-a", "train-b")
    assert (found.status, found.between) == (ExitStatus.DONE, ("spec", "pool:train"))
    both.wanted.add("train-b")
    assert compare(both, "spec", "target:cloud").status is ExitStatus.DONE  # libcuda1 is the lock's, not the spec's
    other = both.site.path.read_text().replace('"580.*"', '"570.*"')
    both.rewrite(text=other)
    found = compare(both, "host:train-a", "spec")
    assert {(row.finding.kind, row.finding.address) for row in found.rows} == {
        (FindingKind.DIFFERENT, f"stack.driver.{leaf}") for leaf in ("on_disk", "loaded", "nvml")
    }


def test_one_operand_beside_the_spec_is_needed(both: World) -> None:
    for operands in (("spec",), ("spec", "spec")):
        with pytest.raises(GpuprovError) as caught:
            compare(both, *operands)
        assert caught.value.diagnostics[0].code == "GP-PAR-003"


def test_fleets_that_share_hosts_are_refused(both: World) -> None:
    with pytest.raises(GpuprovError) as caught:
        compare(both, "pool:train", "target:cloud")
    assert "on both sides" in caught.value.diagnostics[0].summary


def test_the_usual_host_of_a_pool_is_what_others_are_held_against(both: World) -> None:
    both.wanted.add("rack-1")
    found = compare(both, "target:onprem", "target:cloud")
    # rack-1 is the odd one of two in the rack: the first counts where no group is larger.
    assert found.hosts == ("rack-2", "train-a", "train-b")
    assert {row.hosts for row in found.rows} == {("rack-2", "train-a", "train-b")}


def test_a_host_of_the_rack_is_held_against_one_in_the_cloud(both: World) -> None:
    both.wanted.add("train-b")
    found = compare(both, "rack-1", "train-b")
    assert [(row.finding.sides, row.hosts) for row in found.rows] == [(("rack-1", "train-b"), ("train-b",))]
