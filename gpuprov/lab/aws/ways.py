"""Where moto is kinder than EC2 about elastic addresses, NAT gateways and endpoints.

Read in moto 5.2.5 and compared with the Amazon VPC User Guide (NAT gateways, Troubleshoot NAT gateways), the AWS
PrivateLink Guide (Gateway endpoints, Interface endpoints) and EC2's list of error codes (2026-11-30). The lab's router
translates for every instance without a public address: it reads no route tables, and asks for no NAT gateway.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from moto.core.base_backend import BaseBackend
from moto.ec2.models import EC2Backend
from moto.ec2.models.vpcs import AWS_ENDPOINT_SERVICES

from gpuprov.lab.aws.errors import refusal
from gpuprov.lab.aws.hooks import Hook

_ENDED = ("deleting", "deleted", "failed")
_GATEWAYS = ("dynamodb", "s3")
"""The services with gateway endpoints (AWS PrivateLink Guide, Gateway endpoints)."""


def ways_hooks() -> tuple[Hook, ...]:
    """Return the hooks of what leads out of a network."""
    return (
        Hook(EC2Backend, "create_nat_gateway", _create_nat_gateway),
        Hook(EC2Backend, "describe_nat_gateways", _describe_nat_gateways),
        Hook(EC2Backend, "delete_nat_gateway", _delete_nat_gateway),
        Hook(EC2Backend, "release_address", _release_address),
        Hook(EC2Backend, "_collect_default_endpoint_services", _services),
        Hook(EC2Backend, "create_vpc_endpoint", _create_vpc_endpoint),
        Hook(EC2Backend, "modify_vpc_endpoint", _modify_vpc_endpoint),
        Hook(EC2Backend, "describe_vpc_endpoints", _describe_vpc_endpoints),
        Hook(EC2Backend, "delete_vpc_endpoints", _delete_vpc_endpoints),
        Hook(EC2Backend, "delete_vpc", _delete_vpc),
    )


def _create_nat_gateway(original: Any, backend: Any, subnet_id: str, *args: Any, **kwargs: Any) -> Any:
    """EC2: it has an address of its subnet, and fails without an internet gateway, or with an address that is taken."""
    allocation = kwargs.get("allocation_id")
    if allocation:
        (address,) = backend.address_by_allocation([allocation])
        if address.association_id:
            raise refusal("Resource.AlreadyAssociated", f"Elastic IP address [{allocation}] is already associated")
    made = original(backend, subnet_id, *args, **kwargs)
    subnet = backend.get_subnet(subnet_id)
    made._eni.private_ip_address = made.private_ip = subnet.get_available_subnet_ip(made._eni)  # noqa: SLF001 (moto has no other way)
    made.address_set[0]["privateIp"] = made.private_ip
    attached = [g for g in backend.internet_gateways.values() if g.vpc is not None and g.vpc.id == made.vpc_id]
    if allocation and not attached:
        made.state = "failed"
        made.failure_code = "Gateway.NotAttached"
        made.failure_message = f"Network {made.vpc_id} has no Internet gateway attached"
        _let_go(backend, made)
    return made


def _describe_nat_gateways(original: Any, backend: Any, filters: Any, ids: Sequence[str] | None) -> Any:
    """EC2: an unknown id is an error, and tags can be asked for."""
    for identity in ids or ():
        if identity not in backend.nat_gateways:
            raise _no_nat(identity)
    return [row for row in original(backend, filters, ids) if _has_tags(row, filters)]


def _delete_nat_gateway(original: Any, backend: Any, nat_gateway_id: str) -> Any:
    """EC2: an unknown id is an error; the gateway's interface goes, and its address is free again."""
    if nat_gateway_id not in backend.nat_gateways:
        raise _no_nat(nat_gateway_id)
    _let_go(backend, backend.nat_gateways[nat_gateway_id])
    return original(backend, nat_gateway_id)


def _release_address(original: Any, backend: Any, address: Any = None, allocation_id: Any = None) -> Any:
    """EC2: an address that something has stays; moto takes it away."""
    if allocation_id and backend.address_by_allocation([allocation_id])[0].association_id:
        raise refusal("InvalidIPAddress.InUse", f"Address {allocation_id} is in use.")
    return original(backend, address, allocation_id)


def _services(original: Any, backend: Any, *_: Any) -> list[dict[str, Any]]:
    """EC2: the region's services; moto asks all of its services for them, and some need libraries that are not here."""
    del original
    region = backend.region_name
    zones = [zone.name for zone in backend.describe_availability_zones()]
    kinds = [(name, "Interface") for name in sorted({*AWS_ENDPOINT_SERVICES, *_GATEWAYS})]
    kinds += [(name, "Gateway") for name in _GATEWAYS]
    make = BaseBackend.default_vpc_endpoint_service_factory
    return [row for name, kind in kinds for row in make(region, zones, name, kind)]


def _create_vpc_endpoint(original: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
    """EC2: the service must be one of the region's; an interface has an address of its subnet, and groups."""
    name, interface = kwargs["service_name"], (kwargs.get("endpoint_type") or "").lower() == "interface"
    known = backend.describe_vpc_endpoint_services([], [], 0, None, backend.region_name)["servicesDetails"]
    kinds = {kind["ServiceType"] for row in known if row["ServiceName"] == name for kind in row["ServiceType"]}
    if ("Interface" if interface else "Gateway") not in kinds:
        raise refusal("InvalidServiceName", f"The Vpc Endpoint Service '{name}' does not exist")
    made = original(backend, *args, **kwargs)
    if interface:
        _settle(backend, made)
    return made


def _modify_vpc_endpoint(original: Any, backend: Any, **kwargs: Any) -> Any:
    """EC2: interfaces come and go with the subnets, routes with the tables."""
    original(backend, **kwargs)
    (made,) = backend.describe_vpc_endpoints(vpc_end_point_ids=[kwargs["vpc_id"]])
    if made.vpc_endpoint_type.lower() == "interface":
        for subnet_id in kwargs.get("add_subnets") or ():
            made.network_interface_ids.append(backend.create_network_interface(subnet_id, None).id)
        there = {each: backend.enis[each].subnet.id for each in made.network_interface_ids}
        for identity in [each for each, subnet in there.items() if subnet not in made.subnet_ids]:
            made.network_interface_ids.remove(identity)
            backend.enis.pop(identity)
        _settle(backend, made)
        return
    prefixes = made.destination_prefix_list_id
    for table in kwargs.get("add_route_tables") or ():
        backend.create_route(table, None, gateway_id=made.id, destination_prefix_list_id=prefixes)
    for table in kwargs.get("remove_route_tables") or ():
        backend.delete_route(table, prefixes)


def _describe_vpc_endpoints(
    original: Any, backend: Any, vpc_end_point_ids: Sequence[str] | None = None, filters: Any = None
) -> Any:
    """EC2: one that was deleted is not listed; asked for, it is an error."""
    rows = original(backend, vpc_end_point_ids, filters)
    gone = [row.id for row in rows if row.state in _ENDED]
    if vpc_end_point_ids and gone:
        raise refusal("InvalidVpcEndpointId.NotFound", f"The Vpc Endpoint Id '{gone[0]}' does not exist")
    return [row for row in rows if row.id not in gone]


def _delete_vpc_endpoints(original: Any, backend: Any, vpce_ids: Sequence[str] | None = None) -> Any:
    """EC2: one that is gone is passed over; moto deletes its routes a second time, which fails."""
    live = [each for each in vpce_ids or () if getattr(backend.vpc_end_points.get(each), "state", "") not in _ENDED]
    return original(backend, live)


def _delete_vpc(original: Any, backend: Any, vpc_id: str) -> Any:
    """EC2: a VPC with an endpoint in it cannot go."""
    if any(each.vpc_id == vpc_id and each.state not in _ENDED for each in backend.vpc_end_points.values()):
        raise refusal("DependencyViolation", f"The vpc '{vpc_id}' has dependencies and cannot be deleted.")
    return original(backend, vpc_id)


def _settle(backend: Any, endpoint: Any) -> None:
    """Give an endpoint's interfaces addresses of their subnets, and the endpoint's groups."""
    groups = [backend.get_security_group_from_id(each) for each in endpoint.security_group_ids]
    for identity in endpoint.network_interface_ids:
        eni = backend.enis[identity]
        if eni.private_ip_address not in eni.subnet._subnet_ips:  # noqa: SLF001 (moto has no other way)
            eni.private_ip_address = eni.subnet.get_available_subnet_ip(eni)
        eni._group_set = list(groups)  # noqa: SLF001 (moto has no other way)


def _let_go(backend: Any, gateway: Any) -> None:
    """Take away a NAT gateway's interface, and free its address."""
    for address in backend.addresses:
        if address.eni is gateway._eni:  # noqa: SLF001 (moto has no other way)
            backend.disassociate_address(address=address.public_ip)
    backend.enis.pop(gateway._eni.id, None)  # noqa: SLF001 (moto has no other way)


def _has_tags(row: Any, filters: Mapping[str, Sequence[str]] | None) -> bool:
    """Whether a resource has the tags that a filter asks for."""
    tags = {tag["key"]: tag["value"] for tag in row.get_tags()}
    asked = {name.removeprefix("tag:"): values for name, values in (filters or {}).items() if name.startswith("tag:")}
    return all(tags.get(key) in values for key, values in asked.items())


def _no_nat(identity: str) -> Exception:
    return refusal("NatGatewayNotFound", f"The Nat Gateway {identity} was not found")
