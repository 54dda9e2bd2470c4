import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi
import pytest
from cloud_builders import (
    STORAGE,
    cloud_document,
    cloud_lock,
    cloud_network,
    cloud_pool,
    cloud_spec,
)

from gpuprov.cloud.decide.document import builder_document, data_document
from gpuprov.cloud.decide.market import bought_of, differs
from gpuprov.cloud.decide.natural_keys import NATURAL_KEYS, recovery_key
from gpuprov.cloud.decide.standing import standing_of
from gpuprov.cloud.decide.surroundings import INTERNET, FoundNetwork, FoundService, FoundSubnet, Surroundings
from gpuprov.cloud.types import Reservation
from gpuprov.spec.cloud import OpenPortSpec
from gpuprov.spec.cloud_network import ExistingNetworkSpec
from gpuprov.spec.market import MarketSpec
from gpuprov.spec.storage import StorageSpec

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

Run = Callable[[Any], Any]

GOLDEN = Path(__file__).parents[2] / "golden" / "stack-urns.txt"
ALLOWED_TYPES = {
    *("ec2/vpc:Vpc", "ec2/subnet:Subnet", "ec2/internetGateway:InternetGateway", "ec2/routeTable:RouteTable"),
    "ec2/launchTemplate:LaunchTemplate",
    *("ec2/placementGroup:PlacementGroup", "ec2/eip:Eip", "ec2/natGateway:NatGateway", "ec2/vpcEndpoint:VpcEndpoint"),
    *("ec2/route:Route", "ec2/routeTableAssociation:RouteTableAssociation", "ec2/securityGroup:SecurityGroup"),
    *("vpc/securityGroupIngressRule:SecurityGroupIngressRule", "vpc/securityGroupEgressRule:SecurityGroupEgressRule"),
    *("ec2/instance:Instance", "ebs/volume:Volume", "ec2/volumeAttachment:VolumeAttachment"),
    *("iam/role:Role", "iam/rolePolicy:RolePolicy", "iam/instanceProfile:InstanceProfile", "s3/bucket:Bucket"),
    *("s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "s3/bucketOwnershipControls:BucketOwnershipControls"),
    "s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    *("s3/bucketVersioning:BucketVersioning", "s3/bucketPolicy:BucketPolicy"),
    "s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
}
"""Types that the lab's plugin and the recovery know."""


def whole_document() -> Any:
    """A document with everything in it: two pools, a second port, two kinds of storage."""
    network = cloud_network(open=(OpenPortSpec(port=9400, ranges=("site",)),))
    storage = {**STORAGE, "models": StorageSpec(kind="object")}
    pools = (cloud_pool(), cloud_pool("web", hosts=("web-1",), instance="c7i.2xlarge"))
    return cloud_document(cloud_spec(*pools, network=network, storage=storage))


def private_document(**changes: Any) -> Any:
    """The same for hosts without public addresses, with an interface endpoint."""
    service = FoundService(name="com.amazonaws.us-east-1.ecr.api", zones=("us-east-1a",))
    network = cloud_network(public=False, endpoints=("ecr.api",), **changes)
    train = cloud_pool()
    assert train.cloud is not None
    near = replace(train, cloud=replace(train.cloud, placement="cluster", metadata_hops=1))
    pools = (near, cloud_pool("web", hosts=("web-1",), instance="c7i.2xlarge"))
    zones = {"p5.48xlarge": ("us-east-1a",), "c7i.2xlarge": ("us-east-1c",)}
    around = Surroundings(services={"ecr.api": service})
    return cloud_document(cloud_spec(*pools, network=network), zones=zones, around=around)


def fabric_document() -> Any:
    """Hosts with EFA, close together."""
    train = cloud_pool()
    assert train.cloud is not None
    near = replace(train, cloud=replace(train.cloud, placement="cluster", efa="ip"))
    return cloud_document(cloud_spec(near, network=cloud_network(public=False, egress="endpoints")))


def json_of(text: str) -> Any:
    return json.loads(text)


def test_every_resource_has_the_urn_it_always_had(run: Run) -> None:
    # A line that changes is a resource that is deleted and made anew in every stack that stands.
    found = [r.urn for r in run(whole_document()).resources.values()]
    assert sorted(found) == GOLDEN.read_text().splitlines()


def test_private_hosts_ways_have_the_urns_they_always_had(run: Run) -> None:
    found = [r.urn for r in run(private_document()).resources.values()]
    known = GOLDEN.with_name("stack-urns-private.txt").read_text().splitlines()
    assert sorted(urn for urn in found if urn not in GOLDEN.read_text()) == known


def test_hosts_with_efa_have_the_urns_they_always_had(run: Run) -> None:
    found = [r.urn for r in run(fabric_document()).resources.values()]
    known = GOLDEN.with_name("stack-urns-efa.txt").read_text().splitlines()
    others = GOLDEN.read_text() + GOLDEN.with_name("stack-urns-private.txt").read_text()
    assert sorted(urn for urn in found if urn not in others) == known


def test_a_host_with_efa_leaves_its_network_to_its_template(run: Run) -> None:
    """A41: a way out to everywhere is not enough for EFA, so that the group names itself in both directions."""
    found = run(fabric_document()).resources
    instance = found["instance.train-a"].inputs
    name = "gpuprov-train-train-p5.48xlarge-us-east-1a"
    assert instance["launchTemplate"] == {"name": name, "version": "$Latest"}
    # EC2 refuses these beside interfaces.
    assert not {"subnetId", "vpcSecurityGroupIds"} & set(instance)
    # The template gives the address; a change of it is seen here, and is another instance.
    assert instance["associatePublicIpAddress"] is False
    interfaces = found[f"launch_template.{name}"].inputs["networkInterfaces"]
    assert len(interfaces) == 33
    assert {each["deleteOnTermination"] for each in interfaces} == {"true"}
    assert not any("associatePublicIpAddress" in each for each in interfaces)
    assert interfaces[1]["interfaceType"] == "efa-only"
    for direction in ("ingress.members", "egress.members"):
        rule = found[direction].inputs
        assert rule["referencedSecurityGroupId"] == rule["securityGroupId"]
        assert rule["ipProtocol"] == "-1"


def test_only_agreed_types_are_used(run: Run) -> None:
    documents = (whole_document(), private_document(), fabric_document())
    found = [resource for document in documents for resource in run(document).resources.values()]
    assert {r.type.removeprefix("aws:") for r in found} == ALLOWED_TYPES


@pytest.mark.parametrize("document", [whole_document, private_document, fabric_document])
def test_all_that_takes_tags_has_them_and_the_rest_has_a_natural_key(run: Run, document: Callable[[], Any]) -> None:
    resources = run(document()).resources.values()
    for resource in resources:
        if resource.type in NATURAL_KEYS:
            assert "tags" not in resource.inputs
        else:
            assert {"Name", "gpuprov:spec", "gpuprov:id"} <= set(resource.inputs["tags"])
            kind, _, name = resource.name.partition(".")
            assert resource.inputs["tags"]["gpuprov:id"] == f"train/{kind}/{name}"
    keys = [(r.type, recovery_key(r.type, r.inputs)) for r in resources]
    assert None not in dict(keys).values()
    assert len(set(keys)) == len(keys)


def test_what_is_of_one_pool_says_so(run: Run) -> None:
    found = run(whole_document()).resources
    pools = {name: r.inputs["tags"].get("gpuprov:pool") for name, r in found.items() if "tags" in r.inputs}
    assert pools["instance.web-1"] == pools["volume.scratch/web-1"] == "web"
    assert pools["vpc.main"] is None
    assert found["instance.web-1"].inputs["rootBlockDevice"]["tags"]["gpuprov:pool"] == "web"


def test_an_instance_keeps_image_and_user_data_unless_it_is_made_anew(run: Run) -> None:
    """A35: a newer image is no reason to replace a host that stands."""
    found = run(cloud_document(replace=("train-b",))).resources
    assert found["instance.train-a"].ignored == (
        "ami",
        "userData",
        "instanceMarketOptions",
        "capacityReservationSpecification",
        "launchTemplate",
    )
    assert found["instance.train-b"].ignored == ()


CR = "cr-0123456789abcdef0"


@pytest.mark.parametrize(
    ("market", "reservation", "written"),
    [
        (MarketSpec(), None, {}),
        (
            MarketSpec(kind="spot", max_price="12.50"),
            None,
            {
                "instanceMarketOptions": {
                    "marketType": "spot",
                    "spotOptions": {
                        "maxPrice": "12.50",
                        "spotInstanceType": "one-time",
                        "instanceInterruptionBehavior": "terminate",
                    },
                }
            },
        ),
        (
            MarketSpec(kind="capacity-block", id=CR),
            "capacity-block",
            {
                "instanceMarketOptions": {"marketType": "capacity-block"},
                "capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": CR}},
            },
        ),
        (
            MarketSpec(kind="reservation", id=CR),
            "default",
            {"capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": CR}}},
        ),
    ],
)
def test_a_host_is_bought_as_the_document_says_and_is_read_back_so(
    run: Run, market: MarketSpec, reservation: str | None, written: dict[str, Any]
) -> None:
    pool = cloud_pool()
    assert pool.cloud is not None
    spec = cloud_spec(replace(pool, cloud=replace(pool.cloud, market=market)))
    held = Reservation(
        id=CR, type="p5.48xlarge", zone="us-east-1b", state="active", total=2, free=2, kind=reservation or ""
    )
    document = cloud_document(spec, reservations={"train": [held]} if reservation else {})
    inputs = run(document).resources["instance.train-a"].inputs
    keys = ("instanceMarketOptions", "capacityReservationSpecification")
    assert {key: inputs[key] for key in keys if key in inputs} == written
    assert inputs["availabilityZone"] == ("us-east-1b" if reservation else "us-east-1a")
    bought = bought_of(inputs)
    assert (bought.kind, bought.max_price, bought.reservation) == (market.kind, market.max_price, market.id)
    assert not differs(market, bought)


def test_another_type_is_another_instance(run: Run) -> None:
    # In place it would be a stop and a start, which nobody confirmed, and the local disks would come back empty.
    assert run(cloud_document()).resources["instance.train-a"].another == ("instanceType",)


def test_an_instance_is_closed_encrypted_and_where_it_should_be(run: Run) -> None:
    document = cloud_document(images={"train": "ami-1"})
    inputs = run(document).resources["instance.train-a"].inputs
    assert inputs["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 2,
    }
    root = inputs["rootBlockDevice"]
    assert (root["encrypted"], root["volumeType"], root["volumeSize"], root["deleteOnTermination"]) == (
        *(True, "gp3"),
        *(200, True),
    )
    assert (inputs["ami"], inputs["instanceType"], inputs["availabilityZone"]) == ("ami-1", "p5.48xlarge", "us-east-1a")
    assert (inputs["subnetId"], inputs["vpcSecurityGroupIds"]) == ("id:subnet.us-east-1a", ["id:security_group.main"])
    assert inputs["iamInstanceProfile"] == "gpuprov-train-us-east-1"
    assert inputs["userData"].startswith("#cloud-config\n")
    assert "keyName" not in inputs


@pytest.mark.parametrize("public", [True, False])
def test_hosts_without_public_addresses_have_no_route_to_the_internet_gateway(run: Run, *, public: bool) -> None:
    found = run(cloud_document(cloud_spec(network=cloud_network(public=public)))).resources
    assert found["instance.train-a"].inputs["associatePublicIpAddress"] is public
    table = "id:route_table.main"
    assert found["route.internet"].inputs["routeTableId"] == table
    assert (found["route_table_association.us-east-1a"].inputs["routeTableId"] == table) is public
    assert found["subnet.us-east-1a"].inputs["mapPublicIpOnLaunch"] is False


def test_a_host_comes_after_its_way_its_rules_its_policy_and_its_volumes(run: Run) -> None:
    """A39 among them: an instance profile comes with its role before the host that is started with it."""
    after = set(run(whole_document()).resources["instance.train-a"].after)
    assert after >= {
        *("route.internet", "route_table_association.us-east-1a", "ingress.22/203.0.113.0/24", "egress.all"),
        *("ingress.members", "role_policy.main", "instance_profile.main", "volume.scratch/train-a"),
    }
    assert "volume.scratch/train-b" not in after


def test_a_host_made_anew_goes_before_the_next_comes(run: Run) -> None:
    found = run(cloud_document()).resources
    assert found["instance.train-a"].first_away
    assert found["volume_attachment.scratch/train-a"].first_away
    assert not found["volume.scratch/train-a"].first_away


def test_private_hosts_reach_out_by_a_nat_gateway_of_their_zone(run: Run) -> None:
    found = run(private_document()).resources
    for zone in ("us-east-1a", "us-east-1c"):
        gateway = found[f"nat_gateway.{zone}"]
        assert gateway.inputs["subnetId"] == f"id:subnet.nat/{zone}"
        assert gateway.inputs["allocationId"] == f"id:elastic_ip.{zone}"
        # A gateway that is made before there is a way to the internet fails.
        assert {"route.internet", f"route_table_association.nat/{zone}"} <= set(gateway.after)
        assert found[f"route.{zone}"].inputs["natGatewayId"] == f"id:nat_gateway.{zone}"
        assert found[f"route_table_association.{zone}"].inputs["routeTableId"] == f"id:route_table.{zone}"
        assert found[f"route_table_association.nat/{zone}"].inputs["routeTableId"] == "id:route_table.main"
    assert found["route.internet"].inputs["gatewayId"] == "id:gateway.main"
    assert found["instance.train-a"].inputs["associatePublicIpAddress"] is False
    assert {"route.us-east-1a", "endpoint.ecr.api", "endpoint.s3"} <= set(found["instance.train-a"].after)


def test_without_a_way_out_there_is_no_gateway_at_all(run: Run) -> None:
    found = run(private_document(egress="endpoints")).resources
    assert not [name for name in found if name.startswith(("gateway", "nat_gateway", "elastic_ip", "route."))]
    assert found["route_table_association.us-east-1a"].inputs["routeTableId"] == "id:route_table.main"


def test_endpoints_are_for_every_table_or_stand_in_the_hosts_subnets(run: Run) -> None:
    found = run(private_document()).resources
    s3, registry = found["endpoint.s3"].inputs, found["endpoint.ecr.api"].inputs
    assert (s3["vpcEndpointType"], s3["serviceName"]) == ("Gateway", "com.amazonaws.us-east-1.s3")
    tables = {"id:route_table.main", "id:route_table.us-east-1a", "id:route_table.us-east-1c"}
    assert set(s3["routeTableIds"]) == tables
    assert (registry["vpcEndpointType"], registry["privateDnsEnabled"]) == ("Interface", True)
    assert registry["subnetIds"] == ["id:subnet.us-east-1a"]
    assert registry["securityGroupIds"] == ["id:security_group.main"]
    assert not {"routeTableIds"} & set(registry)


def test_a_pools_hosts_stand_close_together_where_the_spec_says_so(run: Run) -> None:
    found = run(private_document()).resources
    name = "gpuprov-train-train"
    assert found[f"placement_group.{name}"].inputs["strategy"] == "cluster"
    assert found["instance.train-a"].inputs["placementGroup"] == name
    assert f"placement_group.{name}" in found["instance.train-a"].after
    assert "placementGroup" not in found["instance.web-1"].inputs
    hops = [
        found[f"instance.{host}"].inputs["metadataOptions"]["httpPutResponseHopLimit"] for host in ("train-a", "web-1")
    ]
    assert hops == [1, 2]


def test_of_a_network_that_is_there_only_the_security_group_is_made(run: Run) -> None:
    subnet = FoundSubnet(id="subnet-0a1b2c3d", zone="us-east-1b", cidr="172.31.0.0/24", free=99, way=INTERNET)
    around = Surroundings(network=FoundNetwork(vpc="vpc-0a1b2c3d", cidrs=("172.31.0.0/16",), subnets=(subnet,)))
    network = cloud_network(cidr=None, existing=ExistingNetworkSpec(subnets=(subnet.id,)))
    found = run(cloud_document(cloud_spec(network=network), around=around)).resources
    kinds = {resource.type.rpartition(":")[2] for resource in found.values()}
    made = {"Vpc", "Subnet", "RouteTable", "Route", "RouteTableAssociation", "InternetGateway", "VpcEndpoint"}
    assert not kinds & made
    assert found["security_group.main"].inputs["vpcId"] == "vpc-0a1b2c3d"
    assert found["instance.train-a"].inputs["subnetId"] == "subnet-0a1b2c3d"


def test_a_volume_is_encrypted_and_never_taken_off_a_running_host(run: Run) -> None:
    found = run(cloud_document()).resources
    volume = found["volume.scratch/train-a"].inputs
    assert (volume["encrypted"], volume["type"], volume["size"]) == (True, "gp3", 500)
    assert (volume["iops"], volume["throughput"], volume["availabilityZone"]) == (3000, 125, "us-east-1a")
    attachment = found["volume_attachment.scratch/train-a"].inputs
    assert (attachment["volumeId"], attachment["instanceId"]) == ("id:volume.scratch/train-a", "id:instance.train-a")
    assert attachment["skipDestroy"] is True


def test_a_bucket_is_private_encrypted_versioned_and_speaks_tls(run: Run) -> None:
    found = run(cloud_document()).resources
    assert found["bucket.datasets"].inputs["forceDestroy"] is False
    block = found["bucket_public_access_block.datasets"].inputs
    assert [block[key] for key in block if key != "bucket"] == [True] * 4
    assert found["bucket_versioning.datasets"].inputs["versioningConfiguration"] == {"status": "Enabled"}
    assert found["bucket_ownership.datasets"].inputs["rule"] == {"objectOwnership": "BucketOwnerEnforced"}
    (rule,) = found["bucket_encryption.datasets"].inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"] == {"sseAlgorithm": "AES256"}
    (statement,) = json_of(found["bucket_policy.datasets"].inputs["policy"])["Statement"]
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    (unfinished,) = found["bucket_lifecycle.datasets"].inputs["rules"]
    assert unfinished["abortIncompleteMultipartUpload"] == {"daysAfterInitiation": 7}
    assert "expiration" not in unfinished


def test_the_role_is_the_documents(run: Run) -> None:
    document = cloud_document()
    identity: Any = document["identity"]
    found = run(document).resources
    assert json_of(found["role.main"].inputs["assumeRolePolicy"]) == identity["assume_role_policy"]
    assert json_of(found["role_policy.main"].inputs["policy"]) == identity["policy"]
    assert found["instance_profile.main"].inputs["role"] == found["role.main"].inputs["name"] == identity["name"]


def test_a_pools_own_role_stands_beside_the_one_of_all_pools(run: Run) -> None:
    storage = {"data": StorageSpec(kind="object"), "secret": StorageSpec(kind="object", pools=("train",))}
    pools = (cloud_pool(hosts=("train-a",)), cloud_pool("web", hosts=("web-1",), instance="c7i.2xlarge"))
    bound = "arn:aws:iam::111122223333:policy/team"
    document: Any = cloud_document(cloud_spec(*pools, storage=storage, permissions_boundary=bound))
    found = run(document).resources
    (own,) = document["pool_identities"]
    assert json_of(found["role_policy.pool/train"].inputs["policy"]) == own["policy"]
    assert {found[f"role.{key}"].inputs["permissionsBoundary"] for key in ("main", "pool/train")} == {bound}
    acting = {name: found[f"instance.{name}"].inputs["iamInstanceProfile"] for name in ("train-a", "web-1")}
    assert acting == {"train-a": own["name"], "web-1": "gpuprov-train-us-east-1"}
    assert "role_policy.pool/train" in found["instance.train-a"].after
    assert recovery_key(found["role_policy.pool/train"].type, found["role_policy.pool/train"].inputs) is not None


def test_a_role_of_the_account_is_used_and_not_made(run: Run) -> None:
    pool = cloud_pool(hosts=("train-a",))
    assert pool.cloud is not None
    named = replace(pool, cloud=replace(pool.cloud, role="gpu-hosts"))
    found = run(cloud_document(cloud_spec(named), profiles={"gpu-hosts": "gpu-profile"})).resources
    assert found["instance.train-a"].inputs["iamInstanceProfile"] == "gpu-profile"
    assert not [name for name in found if name.startswith(("role", "instance_profile"))]


def test_every_rule_is_a_resource_of_its_own(run: Run) -> None:
    found = run(whole_document()).resources
    assert found["security_group.main"].ignored == ("description",)
    assert not {"ingress", "egress"} & set(found["security_group.main"].inputs)
    ssh = found["ingress.22/203.0.113.0/24"].inputs
    assert (ssh["cidrIpv4"], ssh["fromPort"], ssh["toPort"], ssh["ipProtocol"]) == ("203.0.113.0/24", 22, 22, "tcp")
    members = found["ingress.members"].inputs
    assert members["referencedSecurityGroupId"] == members["securityGroupId"] == "id:security_group.main"
    assert not {"fromPort", "toPort", "cidrIpv4"} & set(members)
    assert found["egress.all"].inputs["cidrIpv4"] == "0.0.0.0/0"


def test_the_outputs_are_what_gpuprov_reads(run: Run) -> None:
    outputs = run(cloud_document()).outputs
    assert set(outputs) == {"hosts", "buckets", "volumes", "shares"}
    assert outputs["hosts"]["train-a"] == {
        "pool": "train",
        "instance_id": "id:instance.train-a",
        "type": "p5.48xlarge",
        "image": "ami-0base",
        "zone": "us-east-1a",
        "private_address": "10.20.0.5",
        "public_address": "198.51.100.5",
    }
    assert outputs["buckets"] == {"datasets": "train-datasets-111122223333-us-east-1"}
    assert outputs["volumes"]["scratch/train-b"] == "id:volume.scratch/train-b"


def test_what_destroy_leaves_is_as_it_was(run: Run) -> None:
    before = dict(run(cloud_document()).resources)
    left = run(data_document(cloud_document(), delete={"scratch/train-b"}))
    kept = {
        n: r for n, r in before.items() if n.partition(".")[0].startswith("bucket") or n == "volume.scratch/train-a"
    }
    assert {name: left.resources[name] for name in kept} == kept
    assert left.outputs["hosts"] == {}


def test_what_destroy_leaves_makes_nothing_else(run: Run) -> None:
    left = run(data_document(cloud_document(), delete={"datasets"}))
    assert set(left.resources) == {"volume.scratch/train-a", "volume.scratch/train-b"}


def test_a_builder_has_no_role(run: Run) -> None:
    spec = cloud_spec()
    zones = {"c7i.2xlarge": ("us-east-1a",)}
    found = run(builder_document(spec, cloud_lock(), spec.pools["train"], zones=zones, login_keys=("k",))).resources
    assert "iamInstanceProfile" not in found["instance.builder"].inputs
    assert not [name for name in found if name.startswith(("role", "bucket", "volume", "instance_profile"))]


def test_a_role_that_stands_stays_with_its_hosts_when_the_buckets_go(run: Run) -> None:
    before = standing_of({name: resource.inputs for name, resource in run(cloud_document()).resources.items()})
    found = run(cloud_document(cloud_spec(storage={"scratch": STORAGE["scratch"]}), standing=before)).resources
    assert found["instance.train-a"].inputs["iamInstanceProfile"] == "gpuprov-train-us-east-1"


def test_a_second_decision_from_the_state_is_the_same(run: Run) -> None:
    document = whole_document()
    standing = standing_of({name: resource.inputs for name, resource in run(document).resources.items()})
    network = cloud_network(zones=("us-east-1b", "us-east-1c"), open=(OpenPortSpec(port=9400, ranges=("site",)),))
    storage = {"archive": StorageSpec(kind="volume", size="1TiB"), **STORAGE, "models": StorageSpec(kind="object")}
    pools = (cloud_pool(), cloud_pool("web", hosts=("web-1",), instance="c7i.2xlarge"))
    later: Any = cloud_document(cloud_spec(*pools, network=network, storage=storage), standing=standing)
    assert later["instances"] == document["instances"]
    kept = {entry["name"]: entry for entry in later["volumes"]}
    assert {entry["name"]: kept[entry["name"]] for entry in document["volumes"]} == {
        entry["name"]: entry for entry in document["volumes"]
    }
    assert later["network"] == document["network"]


@pytest.mark.parametrize(("key", "value"), [("kind", "Other"), ("apiVersion", "gpuprov/v2"), ("kind", None)])
def test_a_document_of_another_kind_is_refused(run: Run, key: str, value: object) -> None:
    with pytest.raises(pulumi.RunError, match="this program takes a StackDocument of gpuprov/v1"):
        run(copy.deepcopy(dict(cloud_document())) | {key: value})


def test_a_document_for_another_region_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi.Config, "get", lambda *_: "eu-west-1")
    with pytest.raises(pulumi.RunError, match="is for us-east-1, but aws:region is eu-west-1"):
        run(cloud_document())
