"""What the account holds by its tags and no state knows."""

import re
from pathlib import Path
from typing import Any

import pytest

from gpuprov.cloud.account import Account
from gpuprov.cloud.orphans import Tagged, can_be_taken, orphans, take_in
from gpuprov.cloud.state import INSTANCE, VOLUME, state_of
from gpuprov.model.stack_record import Orphan

VPC = "aws:ec2/vpc:Vpc"
STACK = {"urn": "urn:pulumi:train::gpuprov-aws::pulumi:pulumi:Stack::gpuprov-aws-train", "type": "pulumi:pulumi:Stack"}
PROVIDER = {
    "urn": "urn:pulumi:train::gpuprov-aws::pulumi:providers:aws::default_7",
    "type": "pulumi:providers:aws",
    "id": "p-1",
}
KNOWN = {"urn": f"urn:pulumi:train::gpuprov-aws::{INSTANCE}::instance.a", "type": INSTANCE, "id": "i-1"}


def tagged(token: str, identity: str, key: str) -> Tagged:
    return Tagged(type=token, id=identity, key=key)


THERE = (
    tagged(INSTANCE, "i-1", "train/instance/a"),
    tagged(INSTANCE, "i-2", "train/instance/a"),
    tagged(VOLUME, "vol-1", "train/volume/scratch/a"),
    tagged(VPC, "vpc-1", "train/vpc/main"),
    tagged(VPC, "vpc-2", "training/vpc/main"),
    tagged(VOLUME, "vol-2", "train/root/a"),
    tagged(INSTANCE, "i-9", "train:image:pool/instance/builder"),
)


def test_an_orphan_is_of_this_stack_and_unknown_and_has_a_twin_where_its_address_is_taken() -> None:
    found = {one.id: (one.address, one.twin) for one in orphans(THERE, [STACK, PROVIDER, KNOWN], "train")}
    assert found == {
        "i-2": ("instance.a", True),
        "vol-1": ("volume.scratch/a", False),
        "vpc-1": ("vpc.main", False),
    }


def test_law_whatever_is_tagged_is_a_resource_of_its_own_or_passed_over() -> None:
    """Else each `recover` would tell of it as an orphan."""
    golden = Path(__file__).parents[2] / "golden"
    ids = re.findall(r'"gpuprov:id": "(train/[^"]+)"', (golden / "stack-document.json").read_text())
    urns = {line.strip().rpartition("::")[2] for line in (golden / "stack-urns.txt").read_text().splitlines()}
    found = orphans([tagged(VPC, "x", key) for key in set(ids)], [], "train")
    assert len(found) > 10
    assert {one.address for one in found} - urns == set()


def test_what_is_taken_in_is_the_next_updates_to_decide_but_for_twins_that_hold_data() -> None:
    deployment = {"resources": [STACK, PROVIDER, KNOWN], "manifest": {"magic": "m"}}
    twin_vpc = Orphan(address="vpc.main", type=VPC, id="vpc-3", twin=True)
    found = (*orphans(THERE, deployment["resources"], "train"), twin_vpc)  # type: ignore[arg-type]
    taken = take_in(deployment, found)
    assert taken is not None
    assert taken["manifest"] == {"magic": "m"}
    state = state_of(taken)
    assert {a: row.id for a, row in state.resources.items()} == {
        "instance.a": "i-1",
        "volume.scratch/a": "vol-1",
        "vpc.main": "vpc-1",
    }
    new = {row["id"]: row for row in taken["resources"][3:]}
    assert new["vpc-3"]["delete"] is True
    assert new["vpc-1"]["urn"] == f"urn:pulumi:train::gpuprov-aws::{VPC}::vpc.main"
    assert new["vpc-1"]["provider"] == f"{PROVIDER['urn']}::p-1"
    assert "i-2" not in new
    assert [one.id for one in found if not can_be_taken(one)] == ["i-2"]


@pytest.mark.parametrize("rows", [[], [STACK], [PROVIDER]])
def test_an_empty_state_cannot_take_anything_in(rows: list[Any]) -> None:
    assert take_in({"resources": rows}, [Orphan(address="vpc.main", type=VPC, id="vpc-1", twin=False)]) is None


@pytest.mark.timeout(120)
@pytest.mark.slow  # AWS's stand-in in this process
def test_the_account_is_asked_for_every_type_by_the_specs_tag(
    account: Account, ec2: Any, s3: Any, iam: Any, image_id: str
) -> None:
    def tags(key: str, spec: str = "train") -> list[dict[str, str]]:
        return [{"Key": "gpuprov:spec", "Value": spec}, {"Key": "gpuprov:id", "Value": key}]

    def vpc(key: str, spec: str = "train") -> str:
        about = [{"ResourceType": "vpc", "Tags": tags(key, spec)}]
        return str(ec2.create_vpc(CidrBlock="10.7.0.0/16", TagSpecifications=about)["Vpc"]["VpcId"])

    ours = vpc("train/vpc/main")
    vpc("other/vpc/main", "other")
    group = ec2.create_security_group(GroupName="g", Description="d", VpcId=ours)["GroupId"]
    ec2.create_tags(Resources=[group], Tags=tags("train/security_group/main"))
    rule = ec2.authorize_security_group_ingress(
        GroupId=group,
        IpPermissions=[{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}],
        TagSpecifications=[{"ResourceType": "security-group-rule", "Tags": tags("train/ingress/22")}],
    )["SecurityGroupRules"][0]["SecurityGroupRuleId"]
    about = [{"ResourceType": "instance", "Tags": tags("train/instance/a")}]
    started = ec2.run_instances(ImageId=image_id, MinCount=2, MaxCount=2, TagSpecifications=about)["Instances"]
    ids = [row["InstanceId"] for row in started]
    ec2.terminate_instances(InstanceIds=ids[:1])
    s3.create_bucket(Bucket="train-data")
    s3.put_bucket_tagging(Bucket="train-data", Tagging={"TagSet": tags("train/bucket/data")})
    iam.create_role(RoleName="gpuprov-train-us-east-1", AssumeRolePolicyDocument="{}", Tags=tags("train/role/main"))
    assert {(one.type, one.id, one.key) for one in account.tagged("train")} == {
        (VPC, ours, "train/vpc/main"),
        ("aws:ec2/securityGroup:SecurityGroup", group, "train/security_group/main"),
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", rule, "train/ingress/22"),
        (INSTANCE, ids[1], "train/instance/a"),
        ("aws:s3/bucket:Bucket", "train-data", "train/bucket/data"),
        ("aws:iam/role:Role", "gpuprov-train-us-east-1", "train/role/main"),
    }
