"""A security group whose making was cut off: EC2 lets everything out of a new one, until its maker says otherwise."""

from typing import Any, Final

from gpuprov.cloud.lookup_natural import Client

GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
_EVERYTHING: Final = ("-1", "0.0.0.0/0")
"""Protocol and range of the rule that EC2 gives to a new group (EC2 API Reference, CreateSecurityGroup, 2026-12-01)."""


def finish_taken_over(client: Client, type_token: str, identity: str) -> None:
    """Finish what was cut off with the making of a resource that is taken over; only a group leaves something.

    Args:
        client: gives the client of a service.
        type_token: Pulumi's.
        identity: the resource's id.
    """
    if type_token == GROUP:
        _close(client("ec2"), identity)


def _close(ec2: Any, group: str) -> None:
    """Take away EC2's own rule from a group, as the AWS provider does right after it has made one.

    A rule of the stack carries tags, and stays. The provider: terraform-provider-aws, vpc_security_group.go,
    resourceSecurityGroupCreate, read 2026-12-01.
    """
    filters = [{"Name": "group-id", "Values": [group]}]
    for page in ec2.get_paginator("describe_security_group_rules").paginate(Filters=filters):
        for rule in page["SecurityGroupRules"]:
            if rule["IsEgress"] and (rule["IpProtocol"], rule.get("CidrIpv4")) == _EVERYTHING and not rule.get("Tags"):
                protocol, cidr = _EVERYTHING
                permission = {"IpProtocol": protocol, "IpRanges": [{"CidrIp": cidr}]}
                ec2.revoke_security_group_egress(GroupId=group, IpPermissions=[permission])
