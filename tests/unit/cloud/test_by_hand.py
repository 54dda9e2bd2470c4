"""What was changed past the engine is told with what to do; what it does not see is looked for."""

import json
from typing import Any

import pytest

from gpuprov.cloud.account import Account
from gpuprov.cloud.by_hand import ByHand, told_by_hand
from gpuprov.cloud.state import StackState, StateResource
from gpuprov.model.resource import ResourceAction, ResourceChange

NOTHING = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "s3:ListAllMyBuckets", "Resource": "*"}]}
)


def change(address: str, action: ResourceAction, *changes: str) -> ResourceChange:
    return ResourceChange(address=address, type="t", action=action, urn="u", changes=changes)


def test_each_resource_is_one_warning_with_its_properties() -> None:
    found = told_by_hand(
        [
            change("vpc.main", ResourceAction.DELETE),
            change("instance.a", ResourceAction.UPDATE, "tags.owner: (none) -> bob", "policy"),
        ]
    )
    assert [(d.address, d.summary) for d in found] == [
        ("instance.a", "instance.a was changed by hand: tags.owner: (none) -> bob, policy"),
        ("vpc.main", "vpc.main was deleted by hand"),
    ]
    assert {d.code for d in found} == {"GP-CLOUD-065"}
    assert {d.severity.value for d in found} == {"warning"}


class Meta:
    """A step of a refresh, as the engine tells it."""

    detailed_diff = None
    diffs = ("size",)
    keys = None

    def __init__(self, op: str, kind: str = "aws:ebs/volume:Volume") -> None:
        self.op, self.type, self.urn = op, kind, f"urn:pulumi:t::p::{kind}::volume.{op}"
        self.old = self.new = None


class Event:
    def __init__(self, meta: Meta | None) -> None:
        self.res_outputs_event = None if meta is None else type("Outputs", (), {"metadata": meta})()


def test_a_refresh_is_read_for_what_it_found_and_handed_on() -> None:
    found, seen = ByHand(), list[object]()
    take = found.beside(seen.append)
    events = [Event(None), *(Event(Meta(op)) for op in ("same", "update", "refresh", "delete"))]
    events.append(Event(Meta("update", "pulumi:providers:aws")))
    for event in events:
        take(event)  # type: ignore[arg-type]
    assert seen == events
    assert [(one.address, one.action.value) for one in found.changes] == [
        ("volume.update", "update"),
        ("volume.delete", "delete"),
    ]


@pytest.mark.timeout(120)
@pytest.mark.slow  # AWS's stand-in in this process
def test_a_rule_and_a_policy_beside_the_stacks_own_are_found(account: Account, ec2: Any, iam: Any) -> None:
    vpc = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    group = ec2.create_security_group(GroupName="g", Description="d", VpcId=vpc)["GroupId"]

    def allow(cidr: str) -> str:
        ranges = [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": cidr}]}]
        made = ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=ranges)
        return str(made["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    ours = allow("203.0.113.0/24")
    out = ec2.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [group]}])["SecurityGroupRules"]
    egress = next(row["SecurityGroupRuleId"] for row in out if row["IsEgress"])
    iam.create_role(RoleName="r", AssumeRolePolicyDocument="{}")
    iam.put_role_policy(RoleName="r", PolicyName="storage", PolicyDocument=NOTHING)
    rows = [
        ("security_group.main", "aws:ec2/securityGroup:SecurityGroup", group),
        ("ingress.22", "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", ours),
        ("egress.all", "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", egress),
        ("role.main", "aws:iam/role:Role", "r"),
        ("role_policy.main", "aws:iam/rolePolicy:RolePolicy", "r:storage"),
        ("role.gone", "aws:iam/role:Role", "gone"),
    ]
    resources = {a: StateResource(address=a, urn="u", type=token, id=identity) for a, token, identity in rows}
    state = StackState(exists=True, resources=resources)
    assert account.opened_by_hand(state) == ()
    opened = allow("0.0.0.0/0")
    iam.put_role_policy(RoleName="r", PolicyName="all", PolicyDocument=NOTHING)
    arn = iam.create_policy(PolicyName="p", PolicyDocument=NOTHING)["Policy"]["Arn"]
    iam.attach_role_policy(RoleName="r", PolicyArn=arn)
    found = account.opened_by_hand(state)
    assert [(d.address, d.summary) for d in found] == [
        ("security_group.main", "a rule was added by hand: ingress tcp 22 from 0.0.0.0/0"),
        ("role.main", "the role r was given a policy by hand: all"),
        ("role.main", f"the role r was given a policy by hand: {arn}"),
    ]
    assert f"--security-group-rule-ids {opened}" in found[0].hint
    assert account.opened_by_hand(StackState(exists=False)) == ()
