"""Finding what an interrupted run made: by the tag `gpuprov:id`, or by its natural key where a type takes no tags."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuprov.cloud.aws_errors import code_of
from gpuprov.cloud.decide.names import ROLE_PREFIX
from gpuprov.cloud.instances_aws import find_instances
from gpuprov.cloud.lookup_natural import FINDERS, Client
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

Tags = dict[str, str]

_TAG: Final = "gpuprov:id"
_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException"})
_UNTAGGED: Final = frozenset({"NoSuchTagSet", "NoSuchBucket", "AccessDenied"})


@dataclass(frozen=True, slots=True)
class _Listing:
    """How EC2 lists a kind of resource, filtered by tag."""

    operation: str
    rows: str
    id: str
    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    asked: str = "Filters"
    """The request's name for its filters."""


_EC2: Final[Mapping[str, _Listing]] = {
    "aws:ec2/vpc:Vpc": _Listing("describe_vpcs", "Vpcs", "VpcId"),
    "aws:ec2/subnet:Subnet": _Listing("describe_subnets", "Subnets", "SubnetId"),
    "aws:ec2/internetGateway:InternetGateway": _Listing(
        "describe_internet_gateways", "InternetGateways", "InternetGatewayId"
    ),
    "aws:ec2/routeTable:RouteTable": _Listing("describe_route_tables", "RouteTables", "RouteTableId"),
    "aws:ec2/placementGroup:PlacementGroup": _Listing("describe_placement_groups", "PlacementGroups", "GroupName"),
    "aws:ec2/launchTemplate:LaunchTemplate": _Listing(
        "describe_launch_templates", "LaunchTemplates", "LaunchTemplateId"
    ),
    "aws:ec2/eip:Eip": _Listing("describe_addresses", "Addresses", "AllocationId"),
    "aws:ec2/natGateway:NatGateway": _Listing(
        "describe_nat_gateways", "NatGateways", "NatGatewayId", (("state", ("pending", "available")),), asked="Filter"
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": _Listing(
        "describe_vpc_endpoints",
        "VpcEndpoints",
        "VpcEndpointId",
        (("vpc-endpoint-state", ("pendingAcceptance", "pending", "available")),),
    ),
    "aws:ec2/securityGroup:SecurityGroup": _Listing("describe_security_groups", "SecurityGroups", "GroupId"),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _Listing(
        "describe_security_group_rules", "SecurityGroupRules", "SecurityGroupRuleId"
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _Listing(
        "describe_security_group_rules", "SecurityGroupRules", "SecurityGroupRuleId"
    ),
    "aws:ebs/volume:Volume": _Listing(
        "describe_volumes", "Volumes", "VolumeId", (("status", ("creating", "available", "in-use")),)
    ),
}


def find(client: Client, type_token: str, key: str) -> str | None:
    """The physical id of a resource, or None; see `Account.find`."""
    ids = sorted(set(_candidates(client, type_token, key)))
    if len(ids) > 1:
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-015",
                address=key,
                summary=f"{len(ids)} resources of the account are the same one of the spec: {', '.join(ids)}",
                detail=f"each is a {type_token} that is looked up by {key}",
                hint="find out which one is in use, delete the other or take its tag away, then run the same command"
                " again",
            )
        )
    return ids[0] if ids else None


def _candidates(client: Client, type_token: str, key: str) -> Iterable[str]:
    if type_token in _EC2:
        listing = _EC2[type_token]
        return (row[listing.id] for row in _listed(client("ec2"), listing, _TAG, key))
    by_name = _BY_KEY.get(type_token)
    if by_name is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-015",
                address=key,
                summary=f"nothing is known of how to find a {type_token} that an interrupted run may have made",
                hint="look for it in the AWS console; delete it there, then run the same command again",
            )
        )
    return by_name(client, key)


def tagged_listings(client: Client, tag: str, value: str) -> Iterator[tuple[str, Iterator[tuple[str, Tags]]]]:
    """For each type that EC2 lists: ids and tags of the resources whose tag has a value; instances are not among them.

    A type token stands for its listing, which for the rules of a security group is one for both directions.
    """
    ec2 = client("ec2")
    for token, listing in _EC2.items():
        rows = _listed(ec2, listing, tag, value)
        yield token, ((row[listing.id], tags_of(row.get("Tags", ()))) for row in rows)


def _listed(ec2: Any, listing: _Listing, tag: str, value: str) -> Iterator[Mapping[str, Any]]:
    filters = [
        {"Name": f"tag:{tag}", "Values": [value]},
        *({"Name": name, "Values": list(values)} for name, values in listing.filters),
    ]
    for page in pages(ec2, listing.operation, {listing.asked: filters}):
        # Looked at again: what is taken over by mistake would be changed, or deleted, as ours.
        yield from (row for row in page[listing.rows] if tags_of(row.get("Tags", ())).get(tag) == value)


def pages(ec2: Any, operation: str, asked: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """All pages of an answer; some operations of EC2 have one page only, and no paginator."""
    if ec2.can_paginate(operation):
        return ec2.get_paginator(operation).paginate(**asked)  # type: ignore[no-any-return]
    return (getattr(ec2, operation)(**asked),)


def tags_of(rows: Iterable[Mapping[str, str]]) -> Tags:
    """Tags as AWS gives them, by their keys."""
    return {row["Key"]: row["Value"] for row in rows}


def _instances(client: Client, key: str) -> Iterator[str]:
    yield from find_instances(client("ec2"), key)


def tagged_roles(client: Client) -> Iterator[tuple[str, Tags]]:
    """Names and tags of the account's roles: IAM cannot list by tag, but ours begin alike."""
    iam = client("iam")
    for page in iam.get_paginator("list_roles").paginate():
        for role in page["Roles"]:
            name = role["RoleName"]
            if name.startswith(ROLE_PREFIX):
                yield name, _tags(iam, "get_role", "Role", RoleName=name)


def tagged_profiles(client: Client) -> Iterator[tuple[str, Tags]]:
    """Names and tags of the account's instance profiles."""
    iam = client("iam")
    for page in iam.get_paginator("list_instance_profiles").paginate():
        for profile in page["InstanceProfiles"]:
            name = profile["InstanceProfileName"]
            if name.startswith(ROLE_PREFIX):
                yield name, _tags(iam, "get_instance_profile", "InstanceProfile", InstanceProfileName=name)


def tagged_buckets(client: Client) -> Iterator[tuple[str, Tags]]:
    """Names and tags of the region's buckets.

    A bucket whose tags the caller may not even read is not one that the caller made.
    """
    s3 = client("s3")
    for page in s3.get_paginator("list_buckets").paginate(BucketRegion=s3.meta.region_name):
        for bucket in page["Buckets"]:
            try:
                tags = s3.get_bucket_tagging(Bucket=bucket["Name"])["TagSet"]
            except s3.exceptions.ClientError as error:
                if code_of(error) not in _UNTAGGED:
                    raise
                continue
            yield bucket["Name"], tags_of(tags)


def tagged_shares(client: Client) -> Iterator[tuple[str, Tags]]:
    """Ids and tags of the region's file systems; who may not list them has made none."""
    efs = client("efs")
    try:
        for page in efs.get_paginator("describe_file_systems").paginate():
            for row in page["FileSystems"]:
                if row["LifeCycleState"] not in {"deleting", "deleted"}:
                    yield row["FileSystemId"], tags_of(row.get("Tags", ()))
    except efs.exceptions.ClientError as error:
        if code_of(error) not in _DENIED:
            raise


def _tags(iam: Any, operation: str, kind: str, **request: str) -> Tags:
    try:
        return tags_of(getattr(iam, operation)(**request)[kind].get("Tags", []))
    except iam.exceptions.ClientError as error:
        if code_of(error) != "NoSuchEntity":  # deleted while we were listing
            raise
        return {}


def _by_tag(listed: Callable[[Client], Iterator[tuple[str, Tags]]]) -> Callable[[Client, str], Iterator[str]]:
    return lambda client, key: (name for name, tags in listed(client) if tags.get(_TAG) == key)


_BY_KEY: Final[Mapping[str, Callable[[Client, str], Iterator[str]]]] = {
    "aws:ec2/instance:Instance": _instances,
    "aws:iam/role:Role": _by_tag(tagged_roles),
    "aws:iam/instanceProfile:InstanceProfile": _by_tag(tagged_profiles),
    "aws:s3/bucket:Bucket": _by_tag(tagged_buckets),
    "aws:efs/fileSystem:FileSystem": _by_tag(tagged_shares),
    **FINDERS,
}
