"""What AWS can give is looked at before anything is made; fewer hosts, other zones and markets only as written."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from app_world import World, make_world
from ground_builders import SPEC

from gpuprov.cloud.types import Reservation
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.status import ExitStatus

HOSTS = "hosts: [HOSTS]"
BLOCK = Reservation(
    id="cr-0123456789abcdef0", type="p5.48xlarge", zone="us-east-1b", state="active", total=2, free=2,
    kind="capacity-block", ends="2026-12-01T11:30:00Z",
)  # fmt: skip
RESERVED = replace(BLOCK, kind="default", ends="")
P = "L-417A185B"
"""Running On-Demand P instances; p5.48xlarge has 192 vCPUs."""


def spec_with(pool: str = "", network: str = "") -> str:
    text = SPEC.replace(HOSTS, f"{HOSTS}, {pool}") if pool else SPEC
    return text.replace("ssh_from: [office]", f"ssh_from: [office], {network}") if network else text


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., World]:
    def made(pool: str = "", network: str = "", hosts: tuple[str, ...] = ("train-a", "train-b")) -> World:
        return make_world(tmp_path, monkeypatch, *hosts, text=spec_with(pool, network))

    return made


def refusals(world: World, **request: Any) -> list[Diagnostic]:
    with pytest.raises(GpuprovError) as caught:
        world.up(**request)
    assert "apply" not in world.stack.calls
    return list(caught.value.diagnostics)


def bought(world: World) -> dict[str, Any]:
    rows = world.stack.resources
    return {
        a.partition(".")[2]: (
            row.inputs.get("instanceMarketOptions", {}).get("marketType"),
            row.inputs.get("capacityReservationSpecification", {})
            .get("capacityReservationTarget", {})
            .get("capacityReservationId"),
            row.inputs["availabilityZone"],
        )
        for a, row in rows.items()
        if a.startswith("instance.")
    }


@pytest.mark.parametrize(
    ("market", "reserved", "found"),
    [
        ("on-demand", (), (None, None, "us-east-1a")),
        ("spot", (), ("spot", None, "us-east-1a")),
        ("{kind: capacity-block, id: cr-0123456789abcdef0}", (BLOCK,), ("capacity-block", BLOCK.id, "us-east-1b")),
        ("{kind: reservation, id: cr-0123456789abcdef0}", (RESERVED,), (None, BLOCK.id, "us-east-1b")),
    ],
)
def test_a_host_is_bought_as_the_spec_says(
    build: Callable[..., World], market: str, reserved: tuple[Reservation, ...], found: tuple[str | None, ...]
) -> None:
    world = build(f"market: {market}")
    world.account.reserved = reserved
    assert world.up().status is ExitStatus.DONE
    assert bought(world) == {"train-a": found, "train-b": found}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"state": "scheduled", "begins": "2026-12-01T11:30:00Z"}, "scheduled and begins at 2026-12-01T11:30:00Z"),
        ({"type": "p4d.24xlarge"}, "for p4d.24xlarge"),
        ({"kind": "default"}, "no capacity block"),
        ({"free": 1}, "room for 1 of 2"),
        ({"tenancy": "dedicated"}, "tenancy is dedicated"),
        ({"platform": "Windows"}, "for Windows"),
        (None, "none of that id"),
    ],
)
def test_reserved_capacity_that_cannot_hold_the_hosts_is_refused_and_nothing_else_is_bought(
    build: Callable[..., World], change: dict[str, Any] | None, words: str
) -> None:
    world = build("market: {kind: capacity-block, id: cr-0123456789abcdef0}")
    world.account.reserved = () if change is None else (replace(BLOCK, **change),)
    (told,) = refusals(world)
    assert (told.code, told.address) == ("GP-CLOUD-050", "pools.train.cloud.market")
    assert words in told.summary
    assert "never buys on demand" in told.hint


def test_a_reservation_outside_of_the_zones_of_the_spec_is_refused(build: Callable[..., World]) -> None:
    world = build("market: {kind: reservation, id: cr-0123456789abcdef0}", "zones: [us-east-1a]")
    world.account.reserved = (RESERVED,)
    (told,) = refusals(world)
    assert "us-east-1b, which targets.cloud.network.zones leaves out" in told.summary


def test_hosts_of_a_group_take_the_reservations_that_have_room(build: Callable[..., World]) -> None:
    group = '"arn:aws:resource-groups:us-east-1:111122223333:group/gpus"'
    world = build(f"market: {{kind: reservation, group: {group}}}", hosts=("a", "b", "c"))
    small = replace(RESERVED, id="cr-00000000000000001", zone="us-east-1a", total=1, free=1)
    world.account.reserved = (small, RESERVED)
    world.up()
    assert sorted((id_, zone) for _, id_, zone in bought(world).values()) == [
        (small.id, "us-east-1a"), (RESERVED.id, "us-east-1b"), (RESERVED.id, "us-east-1b"),
    ]  # fmt: skip


def test_a_host_that_stands_stays_as_it_was_bought_until_it_is_named(build: Callable[..., World]) -> None:
    world = build()
    world.up()
    world.rewrite("train-a", "train-b", text=spec_with("market: spot"))
    result = world.up()
    told = [d for d in result.diagnostics if d.code == "GP-CLOUD-052"]
    assert [(d.address, d.severity) for d in told] == [
        ("instance.train-a", Severity.NOTE), ("instance.train-b", Severity.NOTE),
    ]  # fmt: skip
    assert result.status is ExitStatus.DONE
    assert {kind for kind, *_ in bought(world).values()} == {None}
    world.up(replace=("train-a",))
    assert {name: kind for name, (kind, *_) in bought(world).items()} == {"train-a": "spot", "train-b": None}


def test_a_host_that_is_made_anew_frees_its_own_place_in_a_reservation(build: Callable[..., World]) -> None:
    world = build("market: {kind: reservation, id: cr-0123456789abcdef0}")
    world.account.reserved = (RESERVED,)
    world.up()
    world.account.reserved = (replace(RESERVED, free=0),)
    world.wanted.clear()
    world.up(replace=("train-a",))
    assert {id_ for _, id_, _ in bought(world).values()} == {RESERVED.id}
    world.rewrite(
        "train-a", "train-b", "train-c", text=spec_with("market: {kind: reservation, id: cr-0123456789abcdef0}")
    )
    world.stack.calls.clear()
    (told,) = refusals(world)
    assert "room for 0 of 1" in told.summary


def test_the_end_of_a_block_is_told(build: Callable[..., World]) -> None:
    world = build("market: {kind: capacity-block, id: cr-0123456789abcdef0}")
    world.account.reserved = (BLOCK,)
    (told,) = [d for d in world.up().diagnostics if d.code == "GP-CLOUD-054"]
    assert BLOCK.ends in told.summary
    assert "30 minutes" in told.summary


@pytest.mark.parametrize(
    ("limit", "used", "refused"), [(384, 0, False), (383, 0, True), (400, 100, True), (None, 9999, False)]
)
def test_a_quota_that_is_too_small_is_refused_before_anything_is_made(
    build: Callable[..., World], limit: int | None, used: int, *, refused: bool
) -> None:
    world = build()
    world.account.quotas = {} if limit is None else {P: limit}
    world.account.used = {("P", "on-demand"): used}
    if not refused:
        assert world.up().status is ExitStatus.DONE
        return
    (told,) = refusals(world)
    assert (told.code, told.address) == ("GP-CLOUD-051", "train-a, train-b")
    assert f"{used + 384} are needed" in told.summary
    assert f"--quota-code {P} --desired-value {used + 384}" in told.hint


def test_a_quota_does_not_count_reserved_capacity_nor_hosts_that_stand(build: Callable[..., World]) -> None:
    world = build("market: {kind: capacity-block, id: cr-0123456789abcdef0}")
    world.account.reserved = (BLOCK,)
    world.account.quotas = {P: 0}
    assert world.up().status is ExitStatus.DONE
    assert world.up().status is ExitStatus.DONE


def test_a_replaced_host_needs_no_more_of_the_quota_than_it_had(build: Callable[..., World]) -> None:
    world = build()
    world.up()
    world.account.quotas, world.account.used = {P: 384}, {("P", "on-demand"): 384}
    world.wanted.clear()
    assert world.up(replace=("train-a",)).status is ExitStatus.DONE


def test_a_quota_that_may_not_be_looked_at_is_a_warning(build: Callable[..., World]) -> None:
    world = build()
    world.account.quota_denied = GpuprovError(Diagnostic(code="GP-CLOUD-007", summary="AWS denies it"))
    result = world.up()
    assert [d.severity for d in result.diagnostics if d.code == "GP-CLOUD-056"] == [Severity.WARNING]
    assert result.status is ExitStatus.DONE


def test_without_capacity_the_next_zone_of_the_spec_is_tried_and_no_other(build: Callable[..., World]) -> None:
    """A36: no capacity in a zone."""
    world = build(network="zones: [us-east-1b, us-east-1a]")
    world.stack.full = {"us-east-1b"}
    result = world.up()
    assert {zone for *_, zone in bought(world).values()} == {"us-east-1a"}
    assert {row.inputs["availabilityZone"] for a, row in world.stack.resources.items() if a.startswith("volume.")} == {
        "us-east-1a"
    }
    assert result.status is ExitStatus.DONE
    assert "GP-CLOUD-055" in world.codes(result)
    assert result.resources is not None
    addresses = [change.address for change in result.resources.changed]
    assert len(addresses) == len(set(addresses))


@pytest.mark.parametrize("network", ["", "zones: [us-east-1a]", "zones: [us-east-1a, us-east-1c]"])
def test_without_alternatives_in_the_spec_nothing_else_is_tried(build: Callable[..., World], network: str) -> None:
    world = build(network=network)
    world.stack.full = {"us-east-1a"}
    result = world.up()
    assert world.stack.calls.count("apply") == 1
    assert result.status is ExitStatus.FAILED
    assert bought(world) == {}


def test_all_zones_without_capacity_are_tried_once_each(build: Callable[..., World]) -> None:
    """A36: the tries are bounded by the zones that the spec names."""
    world = build(network="zones: [us-east-1a, us-east-1b]")
    world.stack.full = {"us-east-1a", "us-east-1b"}
    result = world.up()
    assert world.stack.calls.count("apply") == 2
    assert result.status is ExitStatus.FAILED
    assert world.converged == []


def test_volumes_of_a_run_that_found_no_capacity_hold_their_hosts_and_the_way_out_is_told(
    build: Callable[..., World],
) -> None:
    world = build(network="zones: [us-east-1a, us-east-1b]")
    world.stack.full = {"us-east-1a", "us-east-1b"}
    assert "no other zone" not in " ".join(d.summary for d in world.up().diagnostics)
    world.stack.full = {"us-east-1a"}
    result = world.up()
    assert result.status is ExitStatus.FAILED
    (told,) = [d for d in result.diagnostics if d.summary.startswith("no other zone was tried")]
    assert (told.code, told.severity) == ("GP-CLOUD-055", Severity.NOTE)
    assert "--replace scratch/train-a --replace scratch/train-b`" in told.hint
    assert world.up(replace=("scratch/train-a", "scratch/train-b")).status is ExitStatus.DONE
    assert {zone for *_, zone in bought(world).values()} == {"us-east-1b"}


def test_a_pool_that_came_up_in_part_is_not_torn_apart(build: Callable[..., World]) -> None:
    world = build(network="zones: [us-east-1a, us-east-1b]")
    world.stack.fails["instance.train-b"] = Diagnostic(code="GP-CLOUD-008", address="instance.train-b", summary="none")
    assert world.up().status is ExitStatus.FAILED
    assert world.stack.calls.count("apply") == 1


def test_enough_hosts_go_on_and_the_missing_ones_are_told_and_tried_again(build: Callable[..., World]) -> None:
    world = build("min_hosts: 1")
    failure = Diagnostic(code="GP-CLOUD-008", address="instance.train-a", summary="no capacity")
    world.stack.fails["instance.train-a"] = failure
    result = world.up()
    assert world.converged == [["train-b"]]
    (told,) = [d for d in result.diagnostics if d.code == "GP-CLOUD-053"]
    assert "1 of 2 hosts" in told.summary
    assert "train-a" in told.detail
    assert result.status is ExitStatus.DONE
    world.stack.fails.clear()
    world.up()
    assert set(bought(world)) == {"train-a", "train-b"}


@pytest.mark.parametrize(
    ("pool", "failures"),
    [
        ("min_hosts: 2", {"instance.train-a": "GP-CLOUD-008"}),
        ("", {"instance.train-a": "GP-CLOUD-008"}),
        ("min_hosts: 1", {"instance.train-a": "GP-CLOUD-007"}),
        ("min_hosts: 1", {"instance.train-a": "GP-CLOUD-008", "instance.train-b": "GP-CLOUD-008"}),
    ],
)
def test_too_few_hosts_or_another_failure_ends_the_run(
    build: Callable[..., World], pool: str, failures: dict[str, str]
) -> None:
    world = build(pool)
    world.stack.fails = {a: Diagnostic(code=code, address=a, summary="no") for a, code in failures.items()}
    result = world.up()
    assert world.converged == []
    assert result.status is not ExitStatus.DONE
