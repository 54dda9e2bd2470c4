"""Networks that are there already and services with endpoints, as EC2 tells of them; nothing is changed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.surroundings import ELSEWHERE, INTERNET, FoundNetwork, FoundService, FoundSubnet, Surroundings
from gpuprov.spec.cloud import CloudNetworkSpec
from gpuprov.spec.cloud_network import ExistingNetworkSpec

_AT: Final = "targets.cloud.network"
_ANYWHERE: Final = "0.0.0.0/0"
_TARGETS: Final = (
    "NatGatewayId", "TransitGatewayId", "VpcPeeringConnectionId", "NetworkInterfaceId", "InstanceId", "LocalGatewayId",
    "CarrierGatewayId", "CoreNetworkArn",
)  # fmt: skip
"""Where a route may lead, besides a gateway (EC2 API Reference, Route, read 2026-11-30)."""


def surroundings(ec2: Any, network: CloudNetworkSpec, region: str) -> Surroundings:
    """What the spec's network names in the account; see `Account.surroundings`."""
    return Surroundings(
        network=None if network.existing is None else find_network(ec2, network.existing),
        services=find_services(ec2, region, network.endpoints),
    )


def find_network(ec2: Any, existing: ExistingNetworkSpec) -> FoundNetwork:
    """Look up the subnets that a spec means, their VPC, and where their default routes lead.

    Raises:
        GpuprovError: GP-CLOUD-030 when one is missing or not ready; GP-CLOUD-031 when they are in several VPCs.
    """
    rows = _subnets(ec2, existing)
    owners = sorted({str(row["VpcId"]) for row in rows})
    if len(owners) > 1:
        raise refuse(
            "GP-CLOUD-031",
            f"the subnets are in {len(owners)} VPCs: {', '.join(owners)}",
            address=f"{_AT}.existing",
            detail="\n".join(f"{row['SubnetId']} is in {row['VpcId']}" for row in rows),
            hint="name the VPC: `existing: {vpc: vpc-..., tags: {...}}`",
        )
    vpc = owners[0]
    ways = _ways(ec2, vpc)
    return FoundNetwork(
        vpc=vpc,
        cidrs=_ranges(ec2, vpc),
        subnets=tuple(
            FoundSubnet(
                id=str(row["SubnetId"]),
                zone=str(row["AvailabilityZone"]),
                cidr=str(row["CidrBlock"]),
                free=int(row["AvailableIpAddressCount"]),
                way=ways.get(str(row["SubnetId"]), ways[""]),
            )
            for row in rows
        ),
    )


def find_services(ec2: Any, region: str, names: Iterable[str]) -> dict[str, FoundService]:
    """Name -> the AWS service of the region that an interface endpoint can be made for; none for an unknown name."""
    wanted = set(names)
    if not wanted:
        return {}
    found: dict[str, FoundService] = {}
    pages = ec2.get_paginator("describe_vpc_endpoint_services").paginate(
        Filters=[{"Name": "service-type", "Values": ["Interface"]}]
    )
    for page in pages:
        for row in page["ServiceDetails"]:
            # Ours are AWS's own, com.amazonaws.REGION.NAME; in China some begin with cn. (AWS PrivateLink Guide, AWS
            # services that integrate with AWS PrivateLink, read 2026-11-30).
            whole = str(row["ServiceName"])
            name = whole.removeprefix("cn.").removeprefix(f"com.amazonaws.{region}.")
            kinds = {kind["ServiceType"] for kind in row.get("ServiceType", [])}
            if name in wanted and name != whole and "Interface" in kinds:
                found[name] = FoundService(name=whole, zones=tuple(sorted(row.get("AvailabilityZones", []))))
    return found


def _subnets(ec2: Any, existing: ExistingNetworkSpec) -> list[Mapping[str, Any]]:
    # Filters, not SubnetIds: with these one unknown id fails the whole request.
    filters = [{"Name": f"tag:{key}", "Values": [value]} for key, value in sorted(existing.tags.items())]
    if existing.subnets:
        filters = [{"Name": "subnet-id", "Values": list(existing.subnets)}]
    if existing.vpc is not None:
        filters.append({"Name": "vpc-id", "Values": [existing.vpc]})
    pages = ec2.get_paginator("describe_subnets").paginate(Filters=filters)
    found = {str(row["SubnetId"]): row for page in pages for row in page["Subnets"]}
    rows = [found[name] for name in existing.subnets or sorted(found) if name in found]
    missing = [name for name in existing.subnets if name not in found]
    within = f" in {existing.vpc}" if existing.vpc is not None else ""
    if missing or not rows:
        tags = ", ".join(f"{key}={value}" for key, value in existing.tags.items())
        raise refuse(
            "GP-CLOUD-030",
            f"there is no subnet {', '.join(missing)}{within}" if missing else f"no subnet{within} has the tags {tags}",
            address=f"{_AT}.existing",
            hint="`aws ec2 describe-subnets` lists them; account and region are the spec's",
        )
    pending = [row for row in rows if row.get("State") != "available"]
    if pending:
        told = ", ".join(f"{row['SubnetId']} is {row.get('State')}" for row in pending)
        raise refuse("GP-CLOUD-030", f"not every subnet can be used: {told}", address=f"{_AT}.existing")
    return rows


def _ranges(ec2: Any, vpc: str) -> tuple[str, ...]:
    row = ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]
    more = [
        str(one["CidrBlock"])
        for one in row.get("CidrBlockAssociationSet", [])
        if one.get("CidrBlockState", {}).get("State") == "associated"
    ]
    return tuple(dict.fromkeys([str(row["CidrBlock"]), *more]))


def _ways(ec2: Any, vpc: str) -> dict[str, str]:
    """Subnet -> where its default route leads; the empty name stands for subnets without a table of their own."""
    ways = {"": ""}
    pages = ec2.get_paginator("describe_route_tables").paginate(Filters=[{"Name": "vpc-id", "Values": [vpc]}])
    for page in pages:
        for table in page["RouteTables"]:
            way = _way(table.get("Routes", []))
            for association in table.get("Associations", []):
                if association.get("Main"):
                    ways[""] = way
                elif association.get("SubnetId"):
                    ways[str(association["SubnetId"])] = way
    return ways


def _way(routes: Sequence[Mapping[str, Any]]) -> str:
    for route in routes:
        if route.get("DestinationCidrBlock") != _ANYWHERE or route.get("State") == "blackhole":
            continue
        gateway = str(route.get("GatewayId") or "")
        if gateway.startswith("igw-"):
            return INTERNET
        if gateway or any(route.get(target) for target in _TARGETS):
            return ELSEWHERE
    return ""
