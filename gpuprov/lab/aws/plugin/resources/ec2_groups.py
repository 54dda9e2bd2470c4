"""Security group, and its rules as resources of their own."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_map
from gpuprov.lab.aws.plugin.resources.handler import (
    DEPENDENCY_SECONDS,
    Known,
    Values,
    changed,
    tag_outputs,
    tag_specification,
    update_ec2_tags,
)

_NO_GROUP = ("InvalidGroup.NotFound",)
_NO_RULE = ("InvalidSecurityGroupRuleId.NotFound", "InvalidPermission.NotFound", *_NO_GROUP)
_OPEN = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
_RULE_INPUTS = ("ipProtocol", "fromPort", "toPort", "cidrIpv4", "cidrIpv6", "referencedSecurityGroupId", "description")


class SecurityGroup:
    """aws:ec2/securityGroup:SecurityGroup."""

    noun = "Security Group"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateSecurityGroup, then take away the rule that lets everything out, as the real provider does."""
        made = call.ec2(
            "create_security_group",
            GroupName=inputs["name"],
            Description=inputs["description"],
            VpcId=inputs.get("vpcId"),
            TagSpecifications=tag_specification("security-group", inputs.get("tags")),
        )
        call.made = str(made["GroupId"])
        call.ec2("revoke_security_group_egress", GroupId=call.made, IpPermissions=_OPEN)

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeSecurityGroups."""
        found = absent(lambda: call.ec2("describe_security_groups", GroupIds=[identity])["SecurityGroups"], _NO_GROUP)
        if not found:
            return None
        group = found[0]
        return {
            "arn": call.arn("ec2", f"security-group/{identity}", account=group["OwnerId"]),
            "description": group["Description"],
            "name": group["GroupName"],
            "namePrefix": "",
            "ownerId": group["OwnerId"],
            "ingress": [_inline(each) for each in group.get("IpPermissions", [])],
            "egress": [_inline(each) for each in group.get("IpPermissionsEgress", [])],
            "vpcId": group.get("VpcId"),
            "region": call.region,
            **tag_outputs(tag_map(group.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Tags; everything else makes a new group."""
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteSecurityGroup, once no interface and no rule of another group uses it."""
        call.retry(
            lambda: gone(lambda: call.ec2("delete_security_group", GroupId=identity), _NO_GROUP),
            while_code="DependencyViolation",
            seconds=DEPENDENCY_SECONDS,
        )


class SecurityGroupRule:
    """aws:vpc/securityGroupIngressRule and securityGroupEgressRule."""

    def __init__(self, direction: str) -> None:
        """Take "ingress" or "egress"."""
        self._direction = direction
        self.noun = f"EC2 Security Group {direction.title()} Rule"

    def create(self, call: Call, inputs: Known) -> None:
        """AuthorizeSecurityGroupIngress or -Egress with the rule's tags."""
        made = call.ec2(
            f"authorize_security_group_{self._direction}",
            GroupId=inputs["securityGroupId"],
            IpPermissions=[_permission(inputs)],
            TagSpecifications=tag_specification("security-group-rule", inputs.get("tags")),
        )
        call.made = str(made["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeSecurityGroupRules."""
        found = absent(
            lambda: call.ec2("describe_security_group_rules", SecurityGroupRuleIds=[identity])["SecurityGroupRules"],
            _NO_RULE,
        )
        if not found or found[0]["IsEgress"] is not (self._direction == "egress"):
            return None
        rule = found[0]
        return {
            "arn": call.arn("ec2", f"security-group-rule/{identity}"),
            "cidrIpv4": rule.get("CidrIpv4"),
            "cidrIpv6": rule.get("CidrIpv6"),
            "description": rule.get("Description"),
            "ipProtocol": rule["IpProtocol"],
            # AWS answers -1 for a port that the rule does not have.
            "fromPort": rule["FromPort"] if rule["FromPort"] != -1 or known.get("fromPort") == -1 else None,
            "toPort": rule["ToPort"] if rule["ToPort"] != -1 or known.get("toPort") == -1 else None,
            "referencedSecurityGroupId": rule.get("ReferencedGroupInfo", {}).get("GroupId"),
            "securityGroupId": rule["GroupId"],
            "securityGroupRuleId": identity,
            "region": call.region,
            **tag_outputs(tag_map(rule.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """ModifySecurityGroupRules and tags."""
        if any(changed(name, olds, news) for name in _RULE_INPUTS):
            rule = {
                "IpProtocol": news["ipProtocol"],
                "FromPort": news.get("fromPort", -1),
                "ToPort": news.get("toPort", -1),
                "CidrIpv4": news.get("cidrIpv4"),
                "CidrIpv6": news.get("cidrIpv6"),
                "ReferencedGroupId": news.get("referencedSecurityGroupId"),
                "Description": news.get("description"),
            }
            given = {name: value for name, value in rule.items() if value is not None}
            call.ec2(
                "modify_security_group_rules",
                GroupId=news["securityGroupId"],
                SecurityGroupRules=[{"SecurityGroupRuleId": identity, "SecurityGroupRule": given}],
            )
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """RevokeSecurityGroupIngress or -Egress by the rule's id."""
        gone(
            lambda: call.ec2(
                f"revoke_security_group_{self._direction}",
                GroupId=known["securityGroupId"],
                SecurityGroupRuleIds=[identity],
            ),
            _NO_RULE,
        )


def _permission(inputs: Known) -> Values:
    """Return a rule as the Authorize calls take it."""
    about = {"Description": inputs["description"]} if inputs.get("description") else {}
    permission: Values = {"IpProtocol": inputs["ipProtocol"]}
    if inputs.get("fromPort") is not None:
        permission |= {"FromPort": inputs["fromPort"], "ToPort": inputs["toPort"]}
    if inputs.get("cidrIpv4"):
        permission["IpRanges"] = [{"CidrIp": inputs["cidrIpv4"], **about}]
    elif inputs.get("cidrIpv6"):
        permission["Ipv6Ranges"] = [{"CidrIpv6": inputs["cidrIpv6"], **about}]
    else:
        permission["UserIdGroupPairs"] = [{"GroupId": inputs["referencedSecurityGroupId"], **about}]
    return permission


def _inline(permission: dict[str, Any]) -> Values:
    """Return a rule as the group's own outputs show it."""
    return {
        "protocol": permission["IpProtocol"],
        "fromPort": permission.get("FromPort", 0),
        "toPort": permission.get("ToPort", 0),
        "cidrBlocks": [each["CidrIp"] for each in permission.get("IpRanges", [])],
        "ipv6CidrBlocks": [each["CidrIpv6"] for each in permission.get("Ipv6Ranges", [])],
        "securityGroups": [each["GroupId"] for each in permission.get("UserIdGroupPairs", [])],
        "self": False,
    }
