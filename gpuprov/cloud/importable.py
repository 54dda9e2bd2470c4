"""What of an account fits into a stack's document: each resource with its address there, or why it does not fit."""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any, Final, cast

from gpuprov.cloud.aws_errors import code_of
from gpuprov.cloud.decide.tags import ID
from gpuprov.cloud.importing import Import
from gpuprov.cloud.lookup_natural import Client
from gpuprov.cloud.state import BUCKET
from gpuprov.cloud.types import Document
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

_VPC: Final = "aws:ec2/vpc:Vpc"
_SUBNET: Final = "aws:ec2/subnet:Subnet"
_GATEWAY: Final = "aws:ec2/internetGateway:InternetGateway"
_ROLE: Final = "aws:iam/role:Role"
_PROFILE: Final = "aws:iam/instanceProfile:InstanceProfile"
_NOT_THERE: Final = frozenset(
    {"InvalidVpcID.NotFound", "InvalidVpcID.Malformed", "NoSuchEntity", "404", "NoSuchBucket"}
)
_ELSEWHERE: Final = frozenset({"301", "PermanentRedirect"})


def find_bucket(client: Client, document: Document, name: str, bucket: str, region: str) -> tuple[Import, ...]:
    """A bucket as the storage `name` of a document.

    Raises:
        GpuprovError: GP-CLOUD-075 when it is not there, elsewhere, or another stack's.
    """
    s3 = client("s3")
    try:
        s3.head_bucket(Bucket=bucket)
        there = s3.get_bucket_location(Bucket=bucket).get("LocationConstraint") or "us-east-1"
    except s3.exceptions.ClientError as error:
        if code_of(error) not in _NOT_THERE | _ELSEWHERE:
            raise
        raise _refuse(bucket, "the account has no such bucket in the spec's region") from error
    if there != region:
        raise _refuse(bucket, f"the bucket is in {there}, and the spec's hosts are in {region}")
    entry = next(entry for entry in _entries(document, "buckets") if entry["name"] == name)
    found = Import(address=f"bucket.{name}", type=BUCKET, id=bucket, tags=_bucket_tags(s3, bucket))
    _refuse_taken(found, entry["tags"])
    return (found,)


def find_network(client: Client, document: Document, vpc: str) -> tuple[Import, ...]:
    """A VPC as a document's network, with its gateway and the subnets that are the document's.

    Raises:
        GpuprovError: GP-CLOUD-075 when it is not there, another stack's, or of other address ranges.
    """
    network = document.get("network")
    if not isinstance(network, Mapping) or network.get("vpc") is not None:
        raise _refuse(
            vpc,
            "the spec makes no network, so none can take its place",
            hint="a network that stays somebody else's is written as targets.cloud.network.existing",
        )
    ec2 = client("ec2")
    row = _one_vpc(ec2, vpc)
    if row["CidrBlock"] != network["cidr"]:
        raise _refuse(
            vpc,
            f"its range is {row['CidrBlock']}, and the spec's network is {network['cidr']}",
            hint=f"write `cidr: {row['CidrBlock']}`, or targets.cloud.network.existing for one that stays as it is",
        )
    found = [(Import(address="vpc.main", type=_VPC, id=vpc, tags=_tags(row)), network["tags"])]
    found += _gateway(ec2, vpc, network)
    found += list(_subnets(ec2, vpc, network))
    for one, wants in found:
        _refuse_taken(one, wants)
    return tuple(one for one, _ in found)


def find_role(client: Client, document: Document, name: str) -> tuple[Import, ...]:
    """A role as one of a document's, with the instance profile of its name where there is one.

    Raises:
        GpuprovError: GP-CLOUD-075 when it is not there, another stack's, or of a name that the document has no role of.
    """
    main = document.get("identity")
    identities = [main] if isinstance(main, Mapping) else []
    identities += _entries(document, "pool_identities")
    entry = next((one for one in identities if one["name"] == name), None)
    if entry is None:
        names = ", ".join(str(one["name"]) for one in identities) or "none"
        raise _refuse(
            name,
            "the spec has no role of this name, and a role cannot be renamed",
            detail=f"roles of the spec: {names}",
            hint="a role that stays somebody else's is written as pools.NAME.cloud.role",
        )
    iam = client("iam")
    try:
        role = iam.get_role(RoleName=name)["Role"]
    except iam.exceptions.ClientError as error:
        if code_of(error) not in _NOT_THERE:
            raise
        raise _refuse(name, "the account has no such role") from error
    found = Import(address=f"role.{entry['key']}", type=_ROLE, id=name, tags=_tags(role))
    _refuse_taken(found, entry["tags"])
    return (found, *_profile(iam, name, entry))


def _one_vpc(ec2: Any, vpc: str) -> Mapping[str, Any]:
    try:
        rows = ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"]
    except ec2.exceptions.ClientError as error:
        if code_of(error) not in _NOT_THERE:
            raise
        rows = []
    if not rows:
        raise _refuse(vpc, "the account has no such VPC in the spec's region")
    return cast("Mapping[str, Any]", rows[0])


_Found = tuple[Import, Mapping[str, str]]
"""A resource, and the tags that the document gives it."""


def _gateway(ec2: Any, vpc: str, network: Mapping[str, Any]) -> list[_Found]:
    """A VPC has one gateway to the internet: a second one could not be attached."""
    asked = [{"Name": "attachment.vpc-id", "Values": [vpc]}]
    rows = ec2.describe_internet_gateways(Filters=asked)["InternetGateways"]
    if not rows or network["gateway"] is None:
        return []
    found = Import(address="gateway.main", type=_GATEWAY, id=rows[0]["InternetGatewayId"], tags=_tags(rows[0]))
    return [(found, network["gateway"]["tags"])]


def _subnets(ec2: Any, vpc: str, network: Mapping[str, Any]) -> Iterator[_Found]:
    """Subnets of the document's ranges and zones; one that overlaps with another of the document is in its way."""
    asked = [{"Name": "vpc-id", "Values": [vpc]}]
    rows = [row for page in ec2.get_paginator("describe_subnets").paginate(Filters=asked) for row in page["Subnets"]]
    bound = _bound_subnets(ec2, vpc)
    for wanted in network["subnets"]:
        for row in rows:
            if not IPv4Network(row["CidrBlock"]).overlaps(IPv4Network(wanted["cidr"])):
                continue
            subnet = row["SubnetId"]
            if (row["CidrBlock"], row["AvailabilityZone"]) != (wanted["cidr"], wanted["zone"]):
                raise _refuse(
                    subnet,
                    f"the subnet {row['CidrBlock']} in {row['AvailabilityZone']} is in the way of the spec's"
                    f" {wanted['cidr']} in {wanted['zone']}",
                    hint="write targets.cloud.network.existing for a network that stays as it is",
                )
            if subnet in bound:
                raise _refuse(
                    subnet,
                    f"the subnet belongs to the route table {bound[subnet]}, and the spec gives it one of its own",
                    hint=f"take it out of {bound[subnet]} first, or write targets.cloud.network.existing",
                )
            found = Import(address=f"subnet.{wanted['name']}", type=_SUBNET, id=subnet, tags=_tags(row))
            yield found, wanted["tags"]


def _bound_subnets(ec2: Any, vpc: str) -> dict[str, str]:
    asked = [{"Name": "vpc-id", "Values": [vpc]}]
    pages = ec2.get_paginator("describe_route_tables").paginate(Filters=asked)
    return {
        association["SubnetId"]: table["RouteTableId"]
        for page in pages
        for table in page["RouteTables"]
        for association in table["Associations"]
        if association.get("SubnetId")
    }


def _profile(iam: Any, name: str, entry: Mapping[str, Any]) -> tuple[Import, ...]:
    """The console of AWS makes a profile of the same name with each role for EC2; another could not be made."""
    try:
        profile = iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
    except iam.exceptions.ClientError as error:
        if code_of(error) not in _NOT_THERE:
            raise
        return ()
    found = Import(address=f"instance_profile.{entry['key']}", type=_PROFILE, id=name, tags=_tags(profile))
    _refuse_taken(found, entry["profile_tags"])
    return (found,)


def _bucket_tags(s3: Any, bucket: str) -> dict[str, str]:
    try:
        return {tag["Key"]: tag["Value"] for tag in s3.get_bucket_tagging(Bucket=bucket)["TagSet"]}
    except s3.exceptions.ClientError as error:
        if code_of(error) != "NoSuchTagSet":
            raise
        return {}


def _tags(row: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in row.get("Tags") or ()}


def _refuse_taken(found: Import, wants: Mapping[str, str]) -> None:
    """What carries another stack's tag is that stack's: two that manage one resource undo each other's changes."""
    if found.tags.get(ID, wants[ID]) != wants[ID]:
        raise _refuse(
            found.id,
            f"it is {found.tags[ID]} of another stack by its tag {ID}",
            hint=f"take it out of that stack, and its tag {ID} away, first",
        )


def _entries(document: Document, key: str) -> list[Mapping[str, Any]]:
    return list(cast("Iterable[Mapping[str, Any]]", document.get(key) or ()))


def _refuse(address: str, summary: str, *, detail: str = "", hint: str = "") -> GpuprovError:
    return GpuprovError(
        Diagnostic(
            code="GP-CLOUD-075",
            address=address,
            summary=summary,
            detail=f"{detail}\nnothing was changed" if detail else "nothing was changed",
            hint=hint,
        )
    )
