"""The policies in force, before the lab's account."""

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest
from botocore.exceptions import ClientError
from lab_account import CIDR, Cloud

LOOK = {"Effect": "Allow", "Action": "ec2:DescribeVpcs", "Resource": "*"}
OURS = {"StringEquals": {"aws:ResourceTag/gpuprov:spec": "train"}}


def door(cloud: Cloud, method: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{cloud.endpoint}/gpuprov-lab/policy", data, method=method)) as answer:  # noqa: S310 - the lab's
        return json.load(answer)


def test_a_policy_comes_in_force_and_goes(paper_cloud: Cloud) -> None:
    ec2, s3 = paper_cloud.client("ec2"), paper_cloud.client("s3")
    door(paper_cloud, "POST", {"policies": [{"Statement": [LOOK]}]})
    assert ec2.describe_vpcs()["Vpcs"]
    with pytest.raises(
        ClientError, match=r"UnauthorizedOperation.*not authorized to perform: ec2:CreateVpc on resource"
    ):
        ec2.create_vpc(CidrBlock=CIDR)
    with pytest.raises(ClientError, match=r"AccessDenied.*s3:ListAllMyBuckets"):
        s3.list_buckets()
    asked = [row["action"] for row in door(paper_cloud, "GET")["asked"]]
    assert asked == ["ec2:DescribeVpcs", "ec2:CreateVpc", "s3:ListAllMyBuckets"]
    door(paper_cloud, "DELETE")
    assert s3.list_buckets()["Buckets"] == []


def test_resources_are_told_apart_by_the_tags_that_they_have(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    ours, other = (ec2.create_vpc(CidrBlock=CIDR)["Vpc"]["VpcId"] for _ in range(2))
    ec2.create_tags(Resources=[ours], Tags=[{"Key": "gpuprov:spec", "Value": "train"}])
    deleting = {"Effect": "Allow", "Action": "ec2:DeleteVpc", "Resource": "*", "Condition": OURS}
    paper_cloud.account.guard.put_in_force([{"Statement": [deleting]}])
    with pytest.raises(ClientError, match=f"ec2:DeleteVpc on resource: arn:aws:ec2:us-east-1:123456789012:vpc/{other}"):
        ec2.delete_vpc(VpcId=other)
    ec2.delete_vpc(VpcId=ours)


def test_the_role_of_a_profile_is_passed(paper_cloud: Cloud) -> None:
    iam, ec2 = paper_cloud.client("iam"), paper_cloud.client("ec2")
    iam.create_role(RoleName="hosts", AssumeRolePolicyDocument="{}")
    iam.create_instance_profile(InstanceProfileName="hosts")
    everything = {"Effect": "Allow", "NotAction": "iam:PassRole", "Resource": "*"}
    paper_cloud.account.guard.put_in_force([{"Statement": [everything]}])
    try:
        denied = r"iam:PassRole on resource: arn:aws:iam::123456789012:role/hosts"
        with pytest.raises(ClientError, match=denied):
            iam.add_role_to_instance_profile(InstanceProfileName="hosts", RoleName="hosts")
        paper_cloud.account.guard.take_off()
        iam.add_role_to_instance_profile(InstanceProfileName="hosts", RoleName="hosts")
        paper_cloud.account.guard.put_in_force([{"Statement": [everything]}])
        with pytest.raises(ClientError, match=denied):
            paper_cloud.run(ec2, "subnet-0123456789abcdef0", IamInstanceProfile={"Name": "hosts"})
    finally:
        paper_cloud.account.guard.take_off()
        iam.remove_role_from_instance_profile(InstanceProfileName="hosts", RoleName="hosts")
        iam.delete_instance_profile(InstanceProfileName="hosts")
        iam.delete_role(RoleName="hosts")


def test_what_the_lab_cannot_judge_is_denied_and_says_so(paper_cloud: Cloud) -> None:
    paper_cloud.account.guard.put_in_force([{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}])
    with pytest.raises(ClientError, match=r"ec2:CreateKeyPair.*its IAM does not know the action"):
        paper_cloud.client("ec2").create_key_pair(KeyName="k")


def test_no_policy_is_refused_at_the_door(paper_cloud: Cloud) -> None:
    with pytest.raises(Exception, match="400"):
        door(paper_cloud, "POST", {"policies": [{"Version": "2012-10-17"}]})
