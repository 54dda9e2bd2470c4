"""Reserved capacity and quotas, asked of the lab's AWS by the calls that AWS is asked with."""

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from lab_account import IMAGE, TYPE, ZONE, Cloud, lab_account

from gpuprov.cloud import capacity_aws
from gpuprov.lab.aws import faults
from gpuprov.lab.aws.capacity import reserve

pytestmark = pytest.mark.slow  # starts AWS's stand-in: not for `make quick`

GROUP = "arn:aws:resource-groups:us-east-1:123456789012:group/gpus"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("account")
    with lab_account(folder) as cloud:
        yield cloud


def target(id_: str) -> dict[str, Any]:
    return {"CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": id_}}}


def run(cloud: Cloud, **more: Any) -> dict[str, Any]:
    ec2 = cloud.client("ec2")
    subnet = cloud.subnet(ec2)
    asked = {"ImageId": IMAGE, "InstanceType": TYPE, "SubnetId": subnet, "MinCount": 1, "MaxCount": 1, **more}
    made: dict[str, Any] = ec2.run_instances(**asked)["Instances"][0]
    return made


def refused(cloud: Cloud, **more: Any) -> str:
    with pytest.raises(ClientError) as caught:
        run(cloud, **more)
    return str(caught.value.response["Error"]["Code"])


def test_a_reservation_is_read_with_what_is_free_of_it(cloud: Cloud) -> None:
    id_ = reserve(cloud.endpoint, type=TYPE, zone=ZONE, total=2, ends="2026-12-01T11:30:00.000Z")
    made = run(cloud, **target(id_))
    (found,) = capacity_aws.reservations(cloud.client("ec2"), None, id_=id_, group="")
    assert (found.id, found.type, found.zone, found.state) == (id_, TYPE, ZONE, "active")
    assert (found.total, found.free, found.kind, found.tenancy, found.platform) == (
        2,
        1,
        "default",
        "default",
        "Linux/UNIX",
    )
    assert found.ends == "2026-12-01T11:30:00Z"
    cloud.settle(made["InstanceId"])
    assert cloud.row(cloud.client("ec2"), made["InstanceId"])["CapacityReservationId"] == id_
    assert refused(cloud, MinCount=2, MaxCount=2, **target(id_)) == "ReservationCapacityExceeded"
    cloud.client("ec2").stop_instances(InstanceIds=[made["InstanceId"]])
    cloud.settle(made["InstanceId"])
    (found,) = capacity_aws.reservations(cloud.client("ec2"), None, id_=id_, group="")
    assert found.free == 2


def test_an_unknown_reservation_is_none_at_all(cloud: Cloud) -> None:
    assert capacity_aws.reservations(cloud.client("ec2"), None, id_="cr-0123456789abcdef0", group="") == ()
    assert refused(cloud, **target("cr-0123456789abcdef0")) == "InvalidCapacityReservationId.NotFound"


def test_a_group_gives_its_reservations(cloud: Cloud) -> None:
    ids = {reserve(cloud.endpoint, type=TYPE, zone=ZONE, group="gpus") for _ in range(2)}
    groups = cloud.client("resource-groups")
    assert {r.id for r in capacity_aws.reservations(cloud.client("ec2"), groups, id_="", group=GROUP)} == ids
    assert capacity_aws.reservations(cloud.client("ec2"), groups, id_="", group=GROUP.replace("gpus", "none")) == ()


@pytest.mark.parametrize(
    ("held", "market", "code"),
    [
        (
            {"kind": "capacity-block", "state": "scheduled"},
            "capacity-block",
            "InvalidCapacityReservationState.PendingActivation",
        ),
        ({"kind": "capacity-block"}, "", "InvalidParameterCombination"),
        ({}, "capacity-block", "InvalidParameterCombination"),
        ({"zone": "us-east-1b"}, "", "InvalidParameterValue"),
        ({"type": "g6.2xlarge"}, "", "InvalidParameterValue"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_reservation_is_refused(cloud: Cloud, held: dict[str, str], market: str, code: str) -> None:
    id_ = reserve(cloud.endpoint, **{"type": TYPE, "zone": ZONE, **held})
    more: dict[str, Any] = {"InstanceMarketOptions": {"MarketType": market}} if market else {}
    assert refused(cloud, **more, **target(id_)) == code


def test_a_block_needs_its_id_and_shows_in_the_lifecycle(cloud: Cloud) -> None:
    market = {"InstanceMarketOptions": {"MarketType": "capacity-block"}}
    assert refused(cloud, **market) == "InvalidParameterCombination"
    id_ = reserve(cloud.endpoint, type=TYPE, zone=ZONE, kind="capacity-block")
    made = run(cloud, **market, **target(id_))
    assert cloud.row(cloud.client("ec2"), made["InstanceId"])["InstanceLifecycle"] == "capacity-block"


def test_a_spot_host_is_one_and_cannot_be_stopped(cloud: Cloud) -> None:
    made = run(cloud, InstanceMarketOptions={"MarketType": "spot"})["InstanceId"]
    cloud.settle(made)
    assert cloud.row(cloud.client("ec2"), made)["InstanceLifecycle"] == "spot"
    with pytest.raises(ClientError, match="one-time"):
        cloud.client("ec2").stop_instances(InstanceIds=[made])


def test_reserved_capacity_is_there_where_the_zone_has_none(cloud: Cloud) -> None:
    id_ = reserve(cloud.endpoint, type=TYPE, zone=ZONE)
    with faults.fault(cloud.endpoint, kind="capacity"):
        assert refused(cloud) == "InsufficientInstanceCapacity"
        assert run(cloud, **target(id_))["InstanceId"]


def test_a_quota_is_read_and_its_use_counted(cloud: Cloud) -> None:
    client = cloud.client("service-quotas")
    with faults.fault(cloud.endpoint, kind="service-quota", limit=8):
        assert capacity_aws.quota(client, "L-DB2E81BA") == 8
    assert (capacity_aws.quota(client, "L-DB2E81BA") or 0) > 8
    types = {TYPE: ("G", 4)}
    before = capacity_aws.in_use(cloud.client("ec2"), types)
    run(cloud)
    run(cloud, InstanceMarketOptions={"MarketType": "spot"})
    run(cloud, **target(reserve(cloud.endpoint, type=TYPE, zone=ZONE)))
    after = capacity_aws.in_use(cloud.client("ec2"), types)
    assert {key: after[key] - before[key] for key in after} == {("G", "on-demand"): 4, ("G", "spot"): 4}
    assert capacity_aws.in_use(cloud.client("ec2"), {}) == {}


@pytest.mark.parametrize(
    "sent", [[], {"type": TYPE}, {"type": TYPE, "zone": ZONE, "colour": "red"}, {"type": 1, "zone": ZONE}]
)
def test_the_lab_refuses_a_reservation_that_is_none(cloud: Cloud, sent: Any) -> None:
    with pytest.raises(OSError, match="400"):
        faults.ask(cloud.endpoint, "/gpuprov-lab/reservations", method="POST", body=sent)


def test_a_reservation_can_be_let_go(cloud: Cloud) -> None:
    id_ = reserve(cloud.endpoint, type=TYPE, zone=ZONE)
    listed = faults.ask(cloud.endpoint, "/gpuprov-lab/reservations")["reservations"]
    assert id_ in {row["id"] for row in listed}
    assert faults.ask(cloud.endpoint, f"/gpuprov-lab/reservations/{id_}", method="DELETE") == {"removed": True}
    assert capacity_aws.reservations(cloud.client("ec2"), None, id_=id_, group="") == ()
