"""What an AWS account holds, asked with boto3 past gpuprov: each resource as one line. Here the lab's account."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import boto3

_EC2 = (
    ("describe_vpcs", "Vpcs", "VpcId"),
    ("describe_subnets", "Subnets", "SubnetId"),
    ("describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
    ("describe_route_tables", "RouteTables", "RouteTableId"),
    ("describe_security_groups", "SecurityGroups", "GroupId"),
    ("describe_security_group_rules", "SecurityGroupRules", "SecurityGroupRuleId"),
    ("describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId"),
    ("describe_addresses", "Addresses", "AllocationId"),
    ("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId"),
    ("describe_placement_groups", "PlacementGroups", "GroupId"),
    ("describe_launch_templates", "LaunchTemplates", "LaunchTemplateId"),
    ("describe_volumes", "Volumes", "VolumeId"),
    ("describe_key_pairs", "KeyPairs", "KeyPairId"),
    ("describe_launch_templates", "LaunchTemplates", "LaunchTemplateId"),
)
_NO_GATEWAY = {"deleting", "deleted", "failed"}
_GONE = {"terminated", "shutting-down"}
"""An instance in these states is listed for a while yet and costs nothing (EC2, instance lifecycle)."""


class Account:
    """The account of a lab.

    Args:
        environment: what the lab's `aws.env` sets.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        keys = (environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"])
        self._session = _session(*keys, environment["AWS_REGION"])
        self._endpoint: str | None = environment["AWS_ENDPOINT_URL"]
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """A client of one service."""
        if service not in self._clients:
            self._clients[service] = self._session.client(service, endpoint_url=self._endpoint)
        return self._clients[service]

    def instances(self) -> dict[str, dict[str, Any]]:
        """Instances that are not gone, by id."""
        pages = _rows(self.client("ec2"), "describe_instances", "Reservations")
        found = [instance for page in pages for instance in page["Instances"]]
        return {i["InstanceId"]: i for i in found if i["State"]["Name"] not in _GONE}

    def listing(self) -> frozenset[str]:
        """Everything, as `kind id`."""
        ec2, iam, s3 = self.client("ec2"), self.client("iam"), self.client("s3")
        found = [f"instance {identity}" for identity in self.instances()]
        for call, field, key in _EC2:
            found += [f"{field} {row[key]}" for row in _rows(ec2, call, field)]
        gateways = _rows(ec2, "describe_nat_gateways", "NatGateways")
        found += [f"NatGateways {g['NatGatewayId']}" for g in gateways if g["State"] not in _NO_GATEWAY]
        found += [f"image {i['ImageId']}" for i in _rows(ec2, "describe_images", "Images", Owners=["self"])]
        snapshots = _rows(ec2, "describe_snapshots", "Snapshots", OwnerIds=["self"])
        found += [f"snapshot {s['SnapshotId']}" for s in snapshots]
        found += [f"bucket {b['Name']}" for b in _rows(s3, "list_buckets", "Buckets")]
        found += [f"role {r['RoleName']}" for r in _rows(iam, "list_roles", "Roles")]
        profiles = _rows(iam, "list_instance_profiles", "InstanceProfiles")
        found += [f"profile {p['InstanceProfileName']}" for p in profiles]
        found += [f"policy {p['Arn']}" for p in _rows(iam, "list_policies", "Policies", Scope="Local")]
        return frozenset(found)


@functools.cache
def _session(key: str, secret: str, region: str) -> boto3.Session:
    """One for all that ask with these keys: it keeps the services' models, which take half a second to read."""
    return boto3.Session(aws_access_key_id=key, aws_secret_access_key=secret, region_name=region)


def _rows(client: Any, call: str, field: str, **asked: object) -> list[dict[str, Any]]:
    """All rows of an answer, over all its pages: a real account's are more than one (IAM gives 100 at a time)."""
    if not client.can_paginate(call):
        return list(getattr(client, call)(**asked)[field])
    return [row for page in client.get_paginator(call).paginate(**asked) for row in page.get(field, ())]


def storage_names(left: Iterable[str]) -> list[str]:
    """Names of the spec's storage, out of the addresses of what `destroy` left (`bucket.NAME`, `volume.NAME/HOST`)."""
    parts = (address.partition(".") for address in left)
    return sorted({name.partition("/")[0] for kind, _, name in parts if kind in {"bucket", "volume"}})
