from typing import Any

import grpc
import pytest
from aws_plugin import Engine, Kept, RefusedError
from lab_account import IMAGE, TYPE, Cloud
from pulumi.runtime.proto import provider_pb2, status_pb2

from gpuprov.lab.aws.capacity import reserve
from gpuprov.lab.aws.faults import Fault
from gpuprov.lab.aws.plugin import wire

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

VPC = "aws:ec2/vpc:Vpc"
VOLUME = "aws:ebs/volume:Volume"
INSTANCE = "aws:ec2/instance:Instance"
BUCKET = "aws:s3/bucket:Bucket"
ONE_VOLUME = {"availabilityZone": "us-east-1a", "size": 10, "type": "gp3"}


def bare(token: str, name: str = "x") -> Kept:
    """A resource that is not there yet."""
    return Kept(type=token, name=name, id="", inputs={}, outputs={})


def refused(engine: Engine, token: str, inputs: dict[str, Any]) -> list[tuple[str, str]]:
    """What Check says against inputs."""
    with pytest.raises(RefusedError) as caught:
        engine.check(bare(token), inputs)
    return list(caught.value.failures)


def failed(engine: Engine, token: str, inputs: dict[str, Any]) -> grpc.RpcError:
    """The error of a Create."""
    with pytest.raises(grpc.RpcError) as caught:
        engine.create(token, "x", inputs)
    return caught.value


@pytest.fixture
def launch(engine: Engine, plugin_cloud: Cloud) -> dict[str, Any]:
    """Inputs of an instance, in a subnet of its own."""
    subnet = plugin_cloud.subnet(plugin_cloud.client("ec2"))
    return {"ami": IMAGE, "instanceType": TYPE, "subnetId": subnet, "tags": {"Name": "x"}}


def test_an_unknown_type_is_refused_at_check(engine: Engine) -> None:
    assert refused(engine, "aws:ec2/gpu:Gpu", {}) == [("", "pulumi_aws has no resource type aws:ec2/gpu:Gpu")]


def test_an_unknown_input_is_refused_at_check(engine: Engine) -> None:
    assert refused(engine, VPC, {"cidr": "10.0.0.0/16"})[0][0] == "cidr"


def test_a_missing_required_input_is_refused_at_check(engine: Engine) -> None:
    assert refused(engine, VOLUME, {"size": 1}) == [("availabilityZone", "is required but missing")]


def test_a_known_type_that_the_plugin_does_not_implement_is_refused(engine: Engine) -> None:
    why = "aws:ec2/customerGateway:CustomerGateway is not implemented by the lab's AWS plugin"
    asked = {"bgpAsn": "65000", "type": "ipsec.1"}
    assert refused(engine, "aws:ec2/customerGateway:CustomerGateway", asked) == [("", why)]


@pytest.mark.parametrize(
    ("token", "inputs", "property_path"),
    [
        (INSTANCE, {"hibernation": True}, "hibernation"),
        (INSTANCE, {"metadataOptions": {"httpProtocolIpv6": "enabled"}}, "metadataOptions.httpProtocolIpv6"),
        ("aws:ec2/routeTable:RouteTable", {"vpcId": "v", "routes": [{"natGatewayId": "n"}]}, "routes.natGatewayId"),
    ],
)
def test_a_known_input_that_the_plugin_would_ignore_is_refused(
    engine: Engine, token: str, inputs: dict[str, Any], property_path: str
) -> None:
    assert refused(engine, token, inputs) == [(property_path, "is not implemented by the lab's AWS plugin")]


def test_what_the_provider_fills_in_is_named(engine: Engine) -> None:
    checked = engine.check(bare("aws:iam/role:Role", "role.main"), {"assumeRolePolicy": "{}"})
    filled = ["forceDetachPolicies", "maxSessionDuration", "name", "path"]
    assert checked[wire.DEFAULTS] == filled
    assert checked["name"].startswith("role.main-")
    assert checked["path"] == "/"


def test_a_made_name_stays_and_a_given_one_replaces_it(engine: Engine) -> None:
    role = bare("aws:iam/role:Role", "r")
    role.inputs = engine.check(role, {"assumeRolePolicy": "{}"})
    assert engine.check(role, {"assumeRolePolicy": '{"a": 1}'})["name"] == role.inputs["name"]
    answer = engine.diff(role, {"assumeRolePolicy": "{}", "name": "mine"})
    assert list(answer.replaces) == ["name"]
    assert answer.deleteBeforeReplace
    assert answer.detailedDiff["name"].kind == provider_pb2.PropertyDiff.UPDATE_REPLACE


def test_the_region_of_the_configuration_is_an_input_and_its_change_replaces(engine: Engine) -> None:
    kept = bare(VOLUME)
    kept.inputs = engine.check(kept, ONE_VOLUME)
    assert kept.inputs["region"] == "us-east-1"
    answer = engine.diff(kept, {**ONE_VOLUME, "region": "eu-central-1"})
    assert list(answer.replaces) == ["region"]
    assert not answer.deleteBeforeReplace


def test_a_resource_is_made_in_its_own_region(engine: Engine, plugin_cloud: Cloud) -> None:
    inputs = {**ONE_VOLUME, "availabilityZone": "eu-central-1a", "region": "eu-central-1"}
    kept = engine.create(VOLUME, "v", inputs)
    there = plugin_cloud.client("ec2", region="eu-central-1").describe_volumes(VolumeIds=[kept.id])["Volumes"]
    assert there[0]["AvailabilityZone"] == "eu-central-1a"
    engine.delete(kept)


def test_a_preview_makes_nothing_and_knows_its_inputs(engine: Engine, plugin_cloud: Cloud) -> None:
    ec2 = plugin_cloud.client("ec2")
    before = len(ec2.describe_vpcs()["Vpcs"])
    kept = bare(VPC)
    properties = wire.write(engine.check(kept, {"cidrBlock": "10.1.0.0/16"}))
    request = provider_pb2.CreateRequest(urn=kept.urn, properties=properties, preview=True)
    planned = wire.read(engine.stub.Create(request).properties)
    assert planned["cidrBlock"] == "10.1.0.0/16"
    assert planned["mainRouteTableId"] == wire.UNKNOWN
    assert len(ec2.describe_vpcs()["Vpcs"]) == before


def test_a_secret_stays_one(engine: Engine) -> None:
    hidden = wire.secret("10.2.0.0/16")
    kept = engine.create(VPC, "s", {"cidrBlock": hidden})
    assert kept.inputs["cidrBlock"] == hidden
    assert kept.outputs["cidrBlock"] == hidden
    assert wire.read(engine.read(kept).properties)["cidrBlock"] == hidden
    engine.delete(kept)


def test_what_was_made_by_hand_can_be_imported(engine: Engine, plugin_cloud: Cloud) -> None:
    made = plugin_cloud.client("ec2").create_volume(AvailabilityZone="us-east-1a", Size=10, VolumeType="gp3")
    kept = bare(VOLUME)
    kept.id = made["VolumeId"]
    found = engine.read(kept)
    kept.inputs, kept.outputs = wire.read(found.inputs), wire.read(found.properties)
    assert kept.inputs["size"] == 10
    answer = engine.diff(kept, ONE_VOLUME)
    assert not answer.replaces
    engine.delete(kept)


def test_a_refresh_shows_what_was_changed_by_hand(engine: Engine, plugin_cloud: Cloud) -> None:
    kept = engine.create(VOLUME, "v", {**ONE_VOLUME, "tags": {"Name": "v"}})
    ec2 = plugin_cloud.client("ec2")
    ec2.create_tags(Resources=[kept.id], Tags=[{"Key": "Name", "Value": "theirs"}])
    assert engine.log[-1] == f"created {kept.id}: {kept.urn}"
    found = engine.read(kept)
    assert wire.read(found.inputs)["tags"] == {"Name": "theirs"}
    ec2.delete_volume(VolumeId=kept.id)
    assert engine.read(kept).id == ""


def test_aws_refuses_in_the_words_of_the_real_provider(engine: Engine) -> None:
    error = failed(engine, BUCKET, {"bucket": "Upper"})
    assert error.code() == grpc.StatusCode.UNKNOWN
    text = error.details()
    assert text.startswith("1 error occurred:\n\t* creating S3 Bucket: operation error ")
    assert ": CreateBucket, https response error StatusCode: 400, RequestID: " in text
    assert "api error InvalidBucketName: bucket: must be lower case letters" in text


def test_an_error_of_the_account_passes_with_code_and_message(engine: Engine) -> None:
    text = failed(engine, "aws:ec2/subnet:Subnet", {"vpcId": "vpc-0", "cidrBlock": "10.0.0.0/24"}).details()
    assert "creating EC2 Subnet: operation error EC2: CreateSubnet" in text
    assert "api error InvalidVpcID.NotFound: " in text


def test_no_capacity_leaves_nothing_behind(engine: Engine, plugin_cloud: Cloud, launch: dict[str, Any]) -> None:
    fault = plugin_cloud.account.book.add(Fault(kind="capacity"))
    try:
        error = failed(engine, INSTANCE, launch)
    finally:
        plugin_cloud.account.book.remove(fault)
    assert "operation error EC2: RunInstances, https response error StatusCode: " in error.details()
    assert "api error InsufficientInstanceCapacity: " in error.details()
    assert "grpc-status-details-bin" not in dict(error.trailing_metadata())
    assert engine.log[-1].startswith("error: urn:pulumi:test::gpuprov-aws::aws:ec2/instance:Instance::x: creating EC2")


def test_an_instance_that_does_not_come_up_is_kept_with_its_id(
    engine: Engine, plugin_cloud: Cloud, launch: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    make = plugin_cloud.account.make_machine

    def broken(instance: str) -> Any:
        machine = make(instance)
        machine.refuses = True
        return machine

    monkeypatch.setattr(plugin_cloud.account, "make_machine", broken)
    error = failed(engine, INSTANCE, launch)
    status = status_pb2.Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
    detail = provider_pb2.ErrorResourceInitFailed()
    assert status.details[0].Unpack(detail)
    assert detail.id.startswith("i-")
    assert "creating EC2 Instance: waiting for EC2 Instance (i-" in detail.reasons[0]
    assert "wanted target 'running, stopped'" in detail.reasons[0]
    assert wire.read(detail.inputs)["instanceType"] == TYPE


def test_a_volume_of_another_zone_is_refused_by_the_account(
    engine: Engine, plugin_cloud: Cloud, launch: dict[str, Any]
) -> None:
    instance = engine.create(INSTANCE, "i", launch)
    volume = engine.create(VOLUME, "v", {**ONE_VOLUME, "availabilityZone": "us-east-1b"})
    inputs = {"deviceName": "/dev/sdf", "instanceId": instance.id, "volumeId": volume.id}
    assert (
        "api error InvalidVolume.ZoneMismatch: "
        in failed(engine, "aws:ec2/volumeAttachment:VolumeAttachment", inputs).details()
    )
    engine.delete(volume)
    engine.delete(instance)


def test_configuration_is_refused_where_it_would_be_ignored(engine: Engine) -> None:
    def failures(values: dict[str, Any]) -> list[tuple[str, str]]:
        answer = engine.stub.CheckConfig(provider_pb2.CheckRequest(urn="urn:x", news=wire.write(values)))
        return [(each.property, each.reason) for each in answer.failures]

    assert failures({"region": "us-east-1", "version": "7.51.1"}) == []
    assert failures({"regoin": "us-east-1"})[0] == ("regoin", "ProviderArgs has no such property")
    tags = {"region": "us-east-1", "defaultTags": '{"tags": {"a": "b"}}'}
    assert failures(tags) == [("defaultTags", "is not implemented by the lab's AWS plugin")]
    assert failures({}) == [("region", "is required: set aws:region or AWS_REGION")]


def test_the_plugin_says_which_sdk_it_compares_with(engine: Engine) -> None:
    from google.protobuf import empty_pb2  # noqa: PLC0415 (one test's)

    assert engine.stub.GetPluginInfo(empty_pb2.Empty()).version.startswith("7.")


@pytest.mark.parametrize("kind", ["default", "capacity-block"])
def test_an_instance_is_bought_as_it_says_and_read_back_so(plugin_cloud: Cloud, engine: Engine, kind: str) -> None:
    id_ = reserve(plugin_cloud.endpoint, type=TYPE, zone="us-east-1a", kind=kind)
    target = {"capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": id_}}}
    market: dict[str, Any] = {"instanceMarketOptions": {"marketType": kind}} if kind != "default" else {}
    inputs = {"ami": IMAGE, "instanceType": TYPE, "subnetId": plugin_cloud.subnet(plugin_cloud.client("ec2"))}
    made = engine.create(INSTANCE, "x", inputs | market | target)
    found = wire.plain(wire.read(engine.read(made).inputs))
    assert {key: found[key] for key in (*market, *target)} == market | target
    with pytest.raises(grpc.RpcError) as caught:
        engine.create(INSTANCE, "y", inputs | market | target)
    assert "ReservationCapacityExceeded" in str(caught.value.details())


def test_a_spot_instance_keeps_its_options(plugin_cloud: Cloud, engine: Engine) -> None:
    options = {"spotInstanceType": "one-time", "instanceInterruptionBehavior": "terminate", "maxPrice": "1.5"}
    market = {"instanceMarketOptions": {"marketType": "spot", "spotOptions": options}}
    inputs = {"ami": IMAGE, "instanceType": TYPE, "subnetId": plugin_cloud.subnet(plugin_cloud.client("ec2"))}
    made = engine.create(INSTANCE, "z", inputs | market)
    assert plugin_cloud.row(plugin_cloud.client("ec2"), made.id)["InstanceLifecycle"] == "spot"
    assert wire.plain(wire.read(engine.read(made).inputs))["instanceMarketOptions"] == market["instanceMarketOptions"]
