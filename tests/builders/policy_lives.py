"""More lives in the lab's account without nodes: what each spec is about, and what its operator and others do."""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from cloud_builders import cloud_network, cloud_pool, cloud_spec
from lab_account import IMAGE, REGION, TYPE, ZONE, Cloud
from moto.core import DEFAULT_ACCOUNT_ID
from policy_life import Life, Rights, the_ground, the_spec, whole_life

from gpuprov.cloud.decide.document import standing_document
from gpuprov.cloud.decide.grants import Ground
from gpuprov.cloud.decide.names import role_name
from gpuprov.cloud.decide.standing import StandingBucket
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.cloud.decide.zones import subnet_cidr
from gpuprov.cloud.importing import Import, Importing
from gpuprov.model.progress import ignore_progress
from gpuprov.spec.base_image import BaseImageSpec
from gpuprov.spec.cloud import CloudImageSpec, CloudNetworkSpec
from gpuprov.spec.cloud_network import ExistingNetworkSpec
from gpuprov.spec.cloud_state import CloudStateSpec
from gpuprov.spec.existing import ExistingSpec
from gpuprov.spec.market import MarketSpec
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.types import PoolSpec, Spec

STATES, PREFIX, KEY = "gpuprov-states", "gpu/train", "alias/gpuprov"
GROUP = f"arn:aws:resource-groups:{REGION}:{DEFAULT_ACCOUNT_ID}:group/gpus"
PARAMETER = "/golden/debian-12"
BROUGHT = "web-hosts"
NETWORK_TAGS, HOST_TAGS = {"role": "gpu"}, {"team": "ml"}
TAKEN = "team-datasets"
"""A bucket that somebody made before."""
_TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}
_EXTRA = [{"Key": "extra", "Value": "x"}]
_RANGES = {"office": ("203.0.113.0/24",)}
FABRIC = "g6.8xlarge"
"""A type with EFA, on one interface."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A spec, the ground of its policies, and a life with it."""

    name: str
    spec: Callable[[], Spec]
    ground: Callable[[], Ground]
    commands: tuple[str, ...]
    lived: Callable[[Life, Rights], None]
    before: Callable[[Cloud], None] = lambda _: None


def private_spec() -> Spec:
    """Hosts behind NAT, bought in three ways, one with EFA, and shared storage; the state in a bucket under KMS."""
    pools = (
        _pool("near", placement="cluster", market=MarketSpec(kind="spot")),
        _pool("held", market=MarketSpec(kind="reservation", group=GROUP)),
        _pool("web", role=BROUGHT),
        _pool("fabric", instance=FABRIC, efa="ip"),
    )
    return cloud_spec(
        *pools,
        storage={"home": StorageSpec(kind="shared", mount="/shared")},
        account=DEFAULT_ACCOUNT_ID,
        network=cloud_network(public=False, endpoints=("ecr.api",), zones=(ZONE,)),
        state=CloudStateSpec(backend=f"s3://{STATES}/{PREFIX}", secrets=f"awskms://{KEY}"),
        image=CloudImageSpec(bases={"debian-12": BaseImageSpec(parameter=PARAMETER)}),
    )


def private_ground() -> Ground:
    """What the policies of it are about."""
    return replace(
        _bare(),
        types=(TYPE, FABRIC),
        efa=True,
        brought=(BROUGHT,),
        parameters=(PARAMETER,),
        nat=True,
        services=True,
        spot=True,
        placement=True,
        shares=True,
        reservations=("*",),
        reservation_groups=(GROUP,),
        state=(STATES, PREFIX),
        key=f"awskms://{KEY}",
    )


def before_private(cloud: Cloud) -> None:
    """A bucket and a key for the state, reserved capacity, a role with a profile, a parameter with an image's id."""
    cloud.client("s3").create_bucket(Bucket=STATES)
    kms = cloud.client("kms")
    with suppress(kms.exceptions.AlreadyExistsException):
        kms.create_alias(AliasName=KEY, TargetKeyId=kms.create_key()["KeyMetadata"]["KeyId"])
    cloud.account.capacity.add({"type": TYPE, "zone": ZONE, "total": 2, "group": "gpus"})
    _role(cloud, BROUGHT)
    cloud.client("ssm").put_parameter(Name=PARAMETER, Value=IMAGE, Type="String", Overwrite=True)


def private_life(life: Life, rights: Rights) -> None:
    """Look an image up, make everything, put right what others changed, switch off and on, and end it."""
    spec = private_spec()
    with rights("lock"):
        assert life.account.find_base_image("debian-12", "amd64").id == IMAGE
    with rights("up"):
        life.up(spec)
    with rights(""):
        _change_private(life)
    with rights("preview"):
        life.stack.preview(life.document(spec), report=ignore_progress, refresh=True)
    with rights("up"):
        life.up(spec, refresh=True)
    with rights("stop"):
        hosts = [host.instance_id for host in life.stack.state().made.hosts if host.name != "near-a"]
        for on in (False, True):
            life.account.switch(hosts, on=on, seconds=60)
    with rights("destroy"):
        life.destroy(spec)
        life.destroy(spec, delete=("home",))


def _change_private(life: Life) -> None:
    """As somebody with all rights: a NAT gateway is gone, a subnet has another table, a template other interfaces."""
    ec2, efs, rows = life.cloud.client("ec2"), life.cloud.client("efs"), life.stack.state().resources
    ec2.delete_nat_gateway(NatGatewayId=rows[f"nat_gateway.{ZONE}"].id)
    for table in ec2.describe_route_tables()["RouteTables"]:
        for each in table["Associations"]:
            if each.get("SubnetId") == rows[f"subnet.{ZONE}"].id:
                ec2.replace_route_table_association(
                    AssociationId=each["RouteTableAssociationId"], RouteTableId=rows["route_table.main"].id
                )
    table = rows[f"route_table.{ZONE}"].id
    ec2.modify_vpc_endpoint(VpcEndpointId=rows["endpoint.s3"].id, RemoveRouteTableIds=[table])
    ec2.modify_vpc_attribute(VpcId=rows["vpc.main"].id, EnableDnsHostnames={"Value": False})
    template = next(row.id for address, row in rows.items() if address.startswith("launch_template."))
    ec2.create_launch_template_version(
        LaunchTemplateId=template,
        LaunchTemplateData={"NetworkInterfaces": [{"DeviceIndex": 0, "InterfaceType": "interface"}]},
    )
    share = rows["share.home"].id
    efs.tag_resource(ResourceId=share, Tags=_EXTRA)
    efs.untag_resource(ResourceId=share, TagKeys=["gpuprov:id"])


def there_spec() -> Spec:
    """Hosts in a network that is there, and hosts that are there."""
    old = cloud_pool("old", hosts=(), instance=TYPE)
    assert old.cloud is not None
    old = replace(old, cloud=replace(old.cloud, existing=ExistingSpec(tags=HOST_TAGS)))
    network = CloudNetworkSpec(ranges=_RANGES, ssh_from=("office",), existing=ExistingNetworkSpec(tags=NETWORK_TAGS))
    return cloud_spec(
        _pool("train"),
        old,
        storage={},
        account=DEFAULT_ACCOUNT_ID,
        network=network,
    )


def there_ground() -> Ground:
    """What the policies of it are about."""
    return replace(_bare(), own_network=False, subnet_tags=NETWORK_TAGS, existing_tags=(HOST_TAGS,))


def before_there(cloud: Cloud) -> None:
    """A subnet that leads out, and an instance in it."""
    ec2 = cloud.client("ec2")
    subnet = cloud.subnet(ec2, zone=ZONE)
    vpc = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
    ec2.create_tags(Resources=[subnet], Tags=_listed(NETWORK_TAGS))
    ec2.create_tags(Resources=[cloud.run(ec2, subnet)], Tags=_listed(HOST_TAGS))


def there_life(life: Life, rights: Rights) -> None:
    """Make a host beside the one that is there, bake an image, and end it."""
    spec = there_spec()
    with rights("up"):
        (old,) = life.account.instances_with(HOST_TAGS)
        life.account.console(old.id)
        life.up(spec)
    with rights("image"):
        image = life.image(spec)
        life.account.remove_image(image)
    with rights("destroy"):
        life.destroy(spec)
        life.stack.remove(report=ignore_progress)


def taken_spec() -> Spec:
    """A network, a role and a bucket that somebody made before, and that are taken in."""
    return cloud_spec(
        _pool("train"),
        storage={"data": StorageSpec(kind="object")},
        account=DEFAULT_ACCOUNT_ID,
        network=cloud_network(zones=(ZONE,)),
    )


def taken_ground() -> Ground:
    """What the policies of it are about, with `--bucket data=NAME`."""
    return replace(_bare(), buckets=(TAKEN,), roles=(_taken_role(),))


def before_taken(cloud: Cloud) -> None:
    """They differ from what the spec says, where that can be changed."""
    ec2, network = cloud.client("ec2"), taken_spec().cloud
    assert network is not None
    assert network.network.cidr is not None
    vpc = ec2.create_vpc(CidrBlock=network.network.cidr)["Vpc"]["VpcId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    cidr = subnet_cidr(network.network.cidr, ZONE, REGION)
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=ZONE)["Subnet"]["SubnetId"]
    ec2.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": True})
    _role(cloud, _taken_role())
    cloud.client("s3").create_bucket(Bucket=TAKEN)


def taken_life(life: Life, rights: Rights) -> None:
    """Take in the bucket, the network and the role; make what is missing; end it."""
    spec, importing = taken_spec(), Importing(life.place, life.engine)
    entry = StandingBucket(bucket=TAKEN, tags=tags(Owner(spec="train", stack="train"), "bucket", "data"))
    with rights(""):
        (vpc,) = [row["VpcId"] for row in life.cloud.client("ec2").describe_vpcs()["Vpcs"] if not row["IsDefault"]]
    with rights("import"):
        bucket = standing_document(spec, replace(life.standing, buckets={"data": entry}))
        _take(importing, bucket, life.account.importable_bucket(bucket, "data", TAKEN))
        document = life.document(spec)
        _take(importing, document, life.account.importable_network(document, vpc))
        _take(importing, document, life.account.importable_role(document, _taken_role()))
    with rights("up"):
        life.up(spec)
    with rights("destroy"):
        life.destroy(spec)
        life.destroy(spec, delete=("data",))


def _take(importing: Importing, document: Any, found: tuple[Import, ...]) -> None:
    assert found
    importing.preview(document, found, ignore_progress)
    importing.apply(document, found, ignore_progress, threading.Event())


def _pool(name: str, **cloud: Any) -> PoolSpec:
    made = cloud_pool(name, hosts=(f"{name}-a",), instance=TYPE)
    assert made.cloud is not None
    return replace(made, cloud=replace(made.cloud, **cloud))


def _bare() -> Ground:
    return Ground(
        spec="train",
        account=DEFAULT_ACCOUNT_ID,
        region=REGION,
        types=(TYPE,),
        builder="c7i.2xlarge",
        images=(IMAGE,),
        delete_data=True,
    )


def _role(cloud: Cloud, name: str) -> None:
    iam = cloud.client("iam")
    with suppress(iam.exceptions.EntityAlreadyExistsException):
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(_TRUST), Description="by hand")
        iam.create_instance_profile(InstanceProfileName=name)
        iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)


def _taken_role() -> str:
    return role_name("train", REGION)


def _listed(tags_: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags_.items()]


TRIALS = (
    Trial(
        name="its own network, public",
        spec=the_spec,
        ground=the_ground,
        commands=("preview", "up", "stop", "destroy", "image"),
        lived=whole_life,
    ),
    Trial(
        name="private, NAT, EFS, EFA, three ways to buy, state in S3 under KMS",
        spec=private_spec,
        ground=private_ground,
        commands=("preview", "up", "stop", "destroy", "lock"),
        lived=private_life,
        before=before_private,
    ),
    Trial(
        name="network and hosts that are there",
        spec=there_spec,
        ground=there_ground,
        commands=("up", "destroy", "image"),
        lived=there_life,
        before=before_there,
    ),
    Trial(
        name="network, role and bucket taken in",
        spec=taken_spec,
        ground=taken_ground,
        commands=("import", "up", "destroy"),
        lived=taken_life,
        before=before_taken,
    ),
)
