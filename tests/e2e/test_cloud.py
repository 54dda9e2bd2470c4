"""Both targets end to end on the lab: instances made, brought to the lock, killed half-way, baked anew, gone."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from gpuprov.cloud.types import StackPlace
from tests.e2e.account import Account, storage_names
from tests.e2e.site import LabSite, touched
from tests.e2e.striking import IN_THE_MIDDLE, LIMIT, engine_at, strike

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1800)]
CLOUD = "cloud"


@pytest.fixture(scope="module")
def cloud(fresh_lab: Callable[..., LabSite]) -> LabSite:
    """One rack host and two instances of one pool, locked and brought up."""
    site = fresh_lab("cloud", train=1, cloud=True)
    site.run("lock")
    return site


@pytest.fixture(scope="module")
def account(cloud: LabSite) -> Account:
    return Account(cloud.env)


@pytest.fixture(scope="module")
def before(account: Account) -> frozenset[str]:
    """The account before gpuprov came."""
    return account.listing()


@pytest.fixture(scope="module")
def first(cloud: LabSite, before: frozenset[str]) -> Any:
    """The first `up` of both targets."""
    del before
    rack = cloud.up()
    assert set(touched(rack).values()) == {"changed"}
    made = cloud.up(target=CLOUD)
    assert set(touched(made).values()) == {"changed"}
    return made.body


def hosts(site: LabSite) -> list[str]:
    """Names of the cloud hosts."""
    return list(site.lab.description.cloud.hosts)


def place(site: LabSite) -> StackPlace:
    """Where the stack's files are."""
    spec = yaml.safe_load((site.folder / "gpuprov.yaml").read_text(encoding="utf-8"))
    folder = site.folder / ".gpuprov" / "cloud"
    return StackPlace(name=spec["name"], folder=folder, environment={}, region=site.lab.description.cloud.region)


def ids(account: Account) -> dict[str, str]:
    """Name tag -> id of the instances that are there."""
    found = {}
    for identity, instance in account.instances().items():
        name = next(tag["Value"] for tag in instance["Tags"] if tag["Key"] == "Name")
        assert name not in found, f"two instances are called {name}"
        found[name] = identity
    return found


def test_cloud_and_rack_carry_the_same_stack(cloud: LabSite, first: Any, account: Account) -> None:
    assert {host["host"] for host in first["hosts"]} == set(hosts(cloud)) == set(ids(account))
    assert cloud.run("parity").status == 0
    side_by_side = cloud.run("parity", "target:cloud", "target:onprem", "--json").body
    assert (side_by_side["status"], side_by_side["not_compared"]) == (0, [])
    assert set(cloud.names) < set(side_by_side["hosts"])


def test_a_second_up_changes_no_resource_and_runs_no_task(cloud: LabSite, first: Any) -> None:
    second = cloud.up(target=CLOUD).body
    assert second["resources"]["changed"] == []
    assert {host["host"]: (host["state"], host["tasks"]) for host in second["hosts"]} == dict.fromkeys(
        hosts(cloud), ("satisfied", 0)
    )


def test_instances_are_closed_and_answer_only_to_tokens(account: Account, first: Any) -> None:
    for instance in account.instances().values():
        assert instance["MetadataOptions"]["HttpTokens"] == "required"
        assert "KeyName" not in instance
    for volume in account.client("ec2").describe_volumes()["Volumes"]:
        assert volume["Encrypted"], volume["VolumeId"]
    for rule in account.client("ec2").describe_security_group_rules()["SecurityGroupRules"]:
        if not rule["IsEgress"]:
            assert rule.get("CidrIpv4") != "0.0.0.0/0"


def test_a_drift_on_one_side_is_found_and_repaired_alone(cloud: LabSite, first: Any) -> None:
    name = hosts(cloud)[0]
    cloud.run("ssh", name, "--", "sudo rm -f /etc/modprobe.d/gpuprov-nouveau.conf")
    drift = cloud.run("parity", expect=7)
    assert name in drift.stdout
    repaired = cloud.up(target=CLOUD)
    assert {host for host, state in touched(repaired).items() if state == "changed"} == {name}
    assert cloud.run("parity").status == 0


def test_an_instance_keeps_its_image_when_the_lock_moves_on(cloud: LabSite, first: Any, account: Account) -> None:
    """A newer base image and an image build between two `up` runs: nothing that runs is touched, both are told."""
    from gpuprov.lab.aws import faults  # noqa: PLC0415 - the lab's own door, beside AWS's

    running = ids(account)
    faults.publish_image(cloud.env["AWS_ENDPOINT_URL"])
    cloud.run("lock", "--upgrade", "*")
    cloud.run("image", "build")
    second = cloud.up(target=CLOUD)
    assert ids(account) == running
    assert second.body["resources"]["changed"] == []
    for name in hosts(cloud):
        assert any(
            d["code"] == "GP-CLOUD-020" and name in (d["address"] + d["summary"]) for d in second.body["diagnostics"]
        )


def test_from_the_baked_image_no_package_moves(cloud: LabSite, first: Any, account: Account) -> None:
    names = hosts(cloud)
    replaced = cloud.up(*(word for name in names for word in ("--replace", name)), target=CLOUD)
    assert set(ids(account)) == set(names)
    assert all(host["packages"] == [] for host in replaced.body["hosts"])
    assert cloud.run("parity").status == 0


def test_without_its_name_nothing_is_replaced(cloud: LabSite, first: Any, account: Account) -> None:
    running = ids(account)
    text = (cloud.folder / "gpuprov.yaml").read_text(encoding="utf-8")
    cidr = cloud.lab.description.cloud.cidr
    moved = "10.199.0.0/16" if not cidr.startswith("10.199.") else "10.198.0.0/16"
    try:
        cloud.edit(cidr, moved)
        refused = cloud.up(target=CLOUD, expect=5)
        assert "GP-CLOUD-014" in refused.codes
    finally:
        (cloud.folder / "gpuprov.yaml").write_text(text, encoding="utf-8")
    assert ids(account) == running


FULL = {
    "kill -9 of gpuprov": {"kind": "gone"},
    "kill -9 of the engine": {"kind": "killed"},
    "one Ctrl-C": {"kind": "stopped"},
    "two Ctrl-C": {"kind": "stopped twice"},
    "connection cut": {"kind": "cut", "times": 1},
}
"""Fault -> how it strikes. One of them in `make test`; of the others that has the real engine and a plugin of paper."""


@pytest.mark.parametrize(
    "fault", [next(iter(FULL)), *(pytest.param(name, marks=pytest.mark.matrix) for name in list(FULL)[1:])]
)
def test_after_a_fault_at_an_instance_there_is_one_of_each_and_all_are_equal(
    cloud: LabSite, first: Any, account: Account, fault: str
) -> None:
    from gpuprov.lab.aws import faults  # noqa: PLC0415 - the lab's own door, beside AWS's

    name, endpoint = hosts(cloud)[-1], cloud.env["AWS_ENDPOINT_URL"]
    told = {"action": "RunInstances", **FULL[fault]}
    middle = told["kind"] in IN_THE_MIDDLE
    if middle:
        told = {"action": "RunInstances", "kind": "slow", "seconds": 6, "times": 1}
    with faults.fault(endpoint, **told):
        process = cloud.start("up", "--target", CLOUD, "--yes", "--json", "--replace", name, start_new_session=True)
        if middle:
            strike(
                process,
                FULL[fault]["kind"],
                waiting=lambda: faults.in_progress(endpoint, action="RunInstances"),
                engine=lambda: engine_at(place(cloud)),
            )
        out, err = process.communicate(timeout=LIMIT)
    assert process.returncode != 0, out + err
    after = cloud.up(target=CLOUD)
    assert set(ids(account)) == set(hosts(cloud))
    assert after.status == 0
    assert cloud.run("parity").status == 0


def test_ssh_goes_where_output_says(cloud: LabSite, first: Any) -> None:
    body = cloud.run("output", "--json").body
    for name in hosts(cloud):
        assert cloud.run("ssh", name, "--", "hostname").stdout.strip() == name
        assert body["hosts"][name]["instance"].startswith("i-")


def test_destroy_leaves_what_holds_data_and_names_it(
    cloud: LabSite, first: Any, account: Account, before: frozenset[str]
) -> None:
    """The last test: the account is as it was before."""
    done = cloud.run("destroy", "--target", CLOUD, "--yes", "--json")
    left = account.listing() - before
    named = done.body["resources"]["left"]
    assert named
    kinds = {line.split()[0] for line in left}
    assert kinds <= {"bucket", "Volumes", "image", "snapshot"}, left
    data = {line.split()[1] for line in left if line.split()[0] in {"bucket", "Volumes", "image"}}
    assert data == set(named.values())
    delete = [word for name in storage_names(named) for word in ("--delete-data", name)]
    cloud.run("destroy", "--target", CLOUD, "--yes", *delete)
    cloud.run("image", "prune", "--keep", "0", "--yes")
    assert account.listing() == before


def test_plain_ssh_knows_the_lab(cloud: LabSite) -> None:
    done = subprocess.run(
        ["ssh", "-F", str(cloud.folder / "ssh_config"), cloud.train[0], "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
