"""From moto's security groups to what each instance of a VPC lets pass."""

from collections.abc import Iterable, Iterator
from typing import Any

from gpuprov.lab.aws.securitygroups import InstanceRules, Rule


def rules_of_vpc(backend: Any, vpc_id: str, instances: Iterable[Any]) -> tuple[InstanceRules, ...]:
    """Return the rules of each of these instances of a VPC.

    Args:
        backend: moto's backend of EC2.
        vpc_id: the VPC; instances of others are passed over.
        instances: the instances that have a link.
    """
    inside = [instance for instance in instances if instance.vpc_id == vpc_id]
    return tuple(rules_of(backend, instance) for instance in inside)


def rules_of(backend: Any, instance: Any) -> InstanceRules:
    """Return what all groups of an instance let pass, together."""
    groups = {group.id: group for nic in instance.nics.values() for group in nic.group_set}
    ordered = [groups[name] for name in sorted(groups)]
    return InstanceRules(
        instance_id=instance.id,
        ingress=tuple(
            _unique(rule for group in ordered for row in group.ingress_rules for rule in _rules(backend, row))
        ),
        egress=tuple(_unique(rule for group in ordered for row in group.egress_rules for rule in _rules(backend, row))),
    )


def members(backend: Any, group_id: str) -> tuple[str, ...]:
    """Return the private addresses of all interfaces in a group, sorted."""
    found = [eni for eni in list(backend.enis.values()) if any(group.id == group_id for group in eni.group_set)]
    return tuple(sorted(str(eni.private_ip_address) for eni in found))


def _rules(backend: Any, row: Any) -> Iterator[Rule]:
    """Return a rule of moto as permissions by range: one for each member where the other side is a group.

    A range of IPv6 gives none: the lab has no IPv6. Prefix lists are refused when they are authorised.
    """
    sides = [row.ip_range["CidrIp"]] if row.ip_range.get("CidrIp") else []
    if row.source_group.get("GroupId"):
        sides += [f"{address}/32" for address in members(backend, row.source_group["GroupId"])]
    for side in sides:
        ports = (
            None if row.from_port is None else int(row.from_port),
            None if row.to_port is None else int(row.to_port),
        )
        yield Rule(protocol=str(row.ip_protocol), from_port=ports[0], to_port=ports[1], cidr=side)


def _unique(rules: Iterable[Rule]) -> Iterator[Rule]:
    """Return each rule once, in order."""
    return iter(dict.fromkeys(rules))
