"""Hosts of a stack: which run, where they are reached now, which are waited for, and whose keys are forgotten."""

from dataclasses import replace
from pathlib import Path

import pytest
from app_world import World

from gpuprov.app.access import Access
from gpuprov.app.cloud_hosts import as_last_reached, coming_up, forget_gone, not_made, sort_hosts, stack_hosts
from gpuprov.app.named import site_hosts
from gpuprov.cloud.ssh_keys import PublicKey, find_key
from gpuprov.cloud.types import InstanceHealth, InstanceState, Made, MadeHost
from gpuprov.model.diagnostic import Severity
from gpuprov.provision.host_keys import HostKeys, read_record, update_record

KEY = find_key("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl")


def host(name: str, number: int, *, public: bool = True) -> MadeHost:
    return MadeHost(
        name=name,
        pool="train",
        instance_id=f"i-{number}",
        type="t",
        image="ami",
        zone="z",
        private_address=f"10.0.0.{number}",
        public_address=f"198.18.0.{number}" if public else "",
    )


def health(number: int, state: InstanceState, *, public: str = "") -> InstanceHealth:
    return InstanceHealth(
        id=f"i-{number}", state=state, checks="ok", private_address=f"10.0.0.{number}", public_address=public
    )


def keep(folder: Path, **addresses: str) -> None:
    assert isinstance(KEY, PublicKey)
    record = {name: HostKeys(address=address, keys=(KEY,)) for name, address in addresses.items()}
    update_record(folder, lambda _: record)


MADE = Made(hosts=(host("a", 1), host("b", 2), host("c", 3)))


def test_running_hosts_are_reached_where_ec2_says_they_are() -> None:
    said = {
        "i-1": health(1, InstanceState.RUNNING, public="198.18.9.9"),
        "i-2": health(2, InstanceState.STOPPED),
        "i-3": health(3, InstanceState.PENDING),
    }
    found = sort_hosts(MADE, said, region="r")
    assert [(h.name, h.public_address) for h in found.running.hosts] == [("a", "198.18.9.9"), ("c", "")]
    assert list(found.absent) == ["b"]


@pytest.mark.parametrize(
    ("state", "reason", "off"),
    [
        (InstanceState.STOPPED, "Client.UserInitiatedShutdown: User initiated shutdown", True),
        (InstanceState.STOPPING, "User initiated (2026-11-30 20:00:00 GMT)", True),
        (InstanceState.STOPPED, "Client.UserInitiatedHibernate: User initiated hibernate", True),
        (InstanceState.STOPPED, "Client.InstanceInitiatedShutdown: Instance initiated shutdown", False),
        (InstanceState.STOPPED, "Server.ScheduledStop: Stopped due to a scheduled retirement", False),
        (InstanceState.STOPPED, "", False),
        (InstanceState.TERMINATED, "Client.UserInitiatedShutdown: User initiated shutdown", False),
    ],
)
def test_only_what_somebody_asked_aws_to_stop_is_no_trouble(state: InstanceState, reason: str, *, off: bool) -> None:
    made = Made(hosts=(host("a", 1),))
    found = sort_hosts(made, {"i-1": replace(health(1, state), reason=reason)}, region="r").absent["a"]
    assert (found.off, found.code) == (off, "GP-CLOUD-088" if off else "GP-CLOUD-016")
    assert found.diagnostic.severity is (Severity.NOTE if off else Severity.ERROR)
    assert found.detail == reason


def test_a_host_whose_address_moved_is_reached_where_it_was_last(tmp_path: Path) -> None:
    keep(tmp_path, **{"i-1": "198.18.9.9", "i-2": ""})
    private = Made(hosts=(*MADE.hosts, host("p", 1, public=False)))
    found = {h.name: h.public_address for h in as_last_reached(private, folder=tmp_path).hosts}
    assert found == {"a": "198.18.9.9", "b": "198.18.0.2", "c": "198.18.0.3", "p": ""}


def test_hosts_that_nobody_reached_yet_or_that_start_are_waited_for(tmp_path: Path) -> None:
    keep(tmp_path, **{"i-1": "198.18.0.1", "i-3": "198.18.0.3"})
    said = {f"i-{n}": health(n, InstanceState.RUNNING) for n in (1, 2)} | {"i-3": health(3, InstanceState.PENDING)}
    assert [h.name for h in coming_up(MADE, said, folder=tmp_path).hosts] == ["b", "c"]


def test_keys_of_instances_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    keep(tmp_path, **{"i-1": "198.18.0.1", "i-2": "198.18.0.2"})
    forget_gone(MADE, Made(hosts=(host("a", 7), host("b", 2))), folder=tmp_path)
    assert set(read_record(tmp_path)) == {"i-2"}
    assert "198.18.0.1 " not in (tmp_path / "known_hosts").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("limit", "names"),
    [
        (None, ["train-a", "train-b"]),
        ("train-b", ["train-b"]),
        ("train", ["train-a", "train-b"]),
        ("train-b,", ["train-b"]),
    ],
)
def test_hosts_come_in_the_specs_order_within_the_limit(world: World, limit: str | None, names: list[str]) -> None:
    made = Made(hosts=(host("train-b", 2), replace(host("train-a", 1), name="train-a"), host("stranger", 3)))
    assert [h.name for h in stack_hosts(made, world.site, Access(limit=limit))] == names


def test_a_host_that_moved_to_another_pool_is_of_the_pool_that_the_spec_says(world: World) -> None:
    made = Made(hosts=(replace(host("train-a", 1), pool="another-before"),))
    assert [h.pool for h in stack_hosts(made, world.site, Access())] == ["train"]


def test_the_sudo_password_of_the_command_line_is_for_cloud_hosts_too(world: World) -> None:
    made = Made(hosts=(host("train-a", 1),))
    (found,) = stack_hosts(made, world.site, Access(become_password="p"))
    assert found.connection.become.password == "p"


def test_hosts_that_are_not_made_say_what_makes_them(world: World) -> None:
    found = not_made(world.site, ["train-a"])
    assert [(name, f.code) for name, f in found.items()] == [("train-b", "GP-CLOUD-026")]


def test_hosts_outside_the_limit_are_not_missing(world: World) -> None:
    assert set(site_hosts(world.site, Access(), ("cloud",)).absent) == {"train-a", "train-b"}
    assert set(site_hosts(world.site, Access(limit="train-a"), ("cloud",)).absent) == {"train-a"}
