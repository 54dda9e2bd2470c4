"""What each kind of call asks of IAM."""

from collections.abc import Mapping
from typing import Any

import pytest

from gpuprov.lab.aws.policy.language import Asked
from gpuprov.lab.aws.policy.reading import UnknownActionError, read
from gpuprov.lab.aws.request import ApiRequest

TAGS = {"TagSpecification.1.Tag.1.Key": "gpuprov:spec", "TagSpecification.1.Tag.1.Value": "train"}
EC2 = "arn:aws:ec2:us-east-1:1"


class Paper:
    """An account with a VPC and a group of the spec's, and a role."""

    account = "1"

    def resources(self, call: ApiRequest) -> Mapping[str, tuple[str, ...]]:
        kinds = {"vpc-1": "vpc", "sg-1": "security-group", "subnet-1": "subnet", "ami-1": "image", "i-1": "instance"}
        found: dict[str, tuple[str, ...]] = {}
        for value in call.parameters.values():
            if value in kinds:
                found[kinds[value]] = (value,)
        return found

    def tags(self, identity: str) -> Mapping[str, str]:
        return {"gpuprov:spec": "train"} if identity in {"vpc-1", "sg-1", "i-1"} else {}

    def type_of(self, instance: str) -> str:
        return "g6.xlarge" if instance == "i-1" else ""

    def passed_role(self, call: ApiRequest) -> str:
        return "arn:aws:iam::1:role/r" if call.parameters.get("IamInstanceProfile.Name") else ""

    def file_system(self, call: ApiRequest) -> str:
        return "fs-1" if "fs-1" in call.path else ""

    def share_tags(self, system: str) -> Mapping[str, str]:
        return {"gpuprov:spec": "train"} if system == "fs-1" else {}

    def key(self, call: ApiRequest) -> tuple[str, tuple[str, ...]]:
        return ("arn:aws:kms:us-east-1:1:key/k", ("alias/gp",)) if call.parameters.get("KeyId") else ("", ())

    def boundary(self, role: str) -> str:
        return "arn:aws:iam::1:policy/bound" if role == "bounded" else ""


def ask(service: str, action: str, path: str = "", **parameters: str) -> dict[tuple[str, str], dict[str, Any]]:
    given = {name.replace("_", "."): value for name, value in parameters.items()}
    call = ApiRequest(service=service, action=action, parameters=given, region="us-east-1", path=path)
    return {
        (one.action, one.resource): {key: values for key, values in one.context.items() if "Region" not in key}
        for one in read(call, Paper())
    }


def test_making_asks_for_the_new_one_for_what_it_is_in_and_for_its_tags() -> None:
    found = ask("ec2", "CreateSubnet", VpcId="vpc-1", TagSpecification_1_ResourceType="subnet", **_underscored(TAGS))
    new = {"aws:RequestTag/gpuprov:spec": ("train",), "aws:TagKeys": ("gpuprov:spec",)}
    assert found == {
        ("ec2:CreateSubnet", f"{EC2}:subnet/new"): new,
        ("ec2:CreateSubnet", f"{EC2}:vpc/vpc-1"): {"aws:ResourceTag/gpuprov:spec": ("train",)},
        ("ec2:CreateTags", f"{EC2}:subnet/new"): new | {"ec2:CreateAction": ("CreateSubnet",)},
    }


def test_an_instance_asks_for_every_part_and_for_its_role() -> None:
    found = ask(
        "ec2",
        "RunInstances",
        ImageId="ami-1",
        InstanceType="p5.48xlarge",
        NetworkInterface_1_SubnetId="subnet-1",
        NetworkInterface_1_SecurityGroupId_1="sg-1",
        IamInstanceProfile_Name="p",
    )
    assert set(found) == {
        ("ec2:RunInstances", "arn:aws:ec2:us-east-1::image/ami-1"),
        *(("ec2:RunInstances", f"{EC2}:{kind}/new") for kind in ("instance", "network-interface", "volume")),
        ("ec2:RunInstances", f"{EC2}:security-group/sg-1"),
        ("ec2:RunInstances", f"{EC2}:subnet/subnet-1"),
        ("iam:PassRole", "arn:aws:iam::1:role/r"),
    }
    assert found["ec2:RunInstances", f"{EC2}:instance/new"] == {"ec2:InstanceType": ("p5.48xlarge",)}
    # What the reference does not name for a resource is not there, whatever the call says.
    assert found["ec2:RunInstances", f"{EC2}:volume/new"] == {}
    assert found["iam:PassRole", "arn:aws:iam::1:role/r"] == {"iam:PassedToService": ("ec2.amazonaws.com",)}


def test_a_listing_knows_no_resource() -> None:
    assert set(ask("ec2", "DescribeInstances", InstanceId_1="i-1")) == {("ec2:DescribeInstances", "*")}


def test_tagging_later_asks_for_the_resource_with_both_its_tags() -> None:
    found = ask("ec2", "CreateTags", ResourceId_1="i-1", Tag_1_Key="a", Tag_1_Value="b")
    (context,) = found.values()
    assert context["aws:ResourceTag/gpuprov:spec"] == ("train",)
    assert context["aws:RequestTag/a"] == ("b",)
    assert "ec2:CreateAction" not in context


def test_a_role_with_tags_and_a_bound() -> None:
    bound = "arn:aws:iam::1:policy/other"
    found = ask(
        "iam", "CreateRole", RoleName="r", PermissionsBoundary=bound, Tags_member_1_Key="a", Tags_member_1_Value="b"
    )
    assert set(found) == {("iam:CreateRole", "arn:aws:iam::1:role/r"), ("iam:TagRole", "arn:aws:iam::1:role/r")}
    assert found["iam:CreateRole", "arn:aws:iam::1:role/r"]["iam:PermissionsBoundary"] == (bound,)


@pytest.mark.parametrize(("role", "bound"), [("bounded", ("arn:aws:iam::1:policy/bound",)), ("free", None)])
def test_what_changes_a_role_is_told_of_its_bound(role: str, bound: object) -> None:
    (context,) = ask("iam", "PutRolePolicy", RoleName=role, PolicyName="p").values()
    assert context.get("iam:PermissionsBoundary") == bound


@pytest.mark.parametrize(
    ("action", "path", "asked"),
    [
        ("ListAllMyBuckets", "/", {("s3:ListAllMyBuckets", "*")}),
        ("ListBucket", "/b", {("s3:ListBucket", "arn:aws:s3:::b")}),
        ("GetObject", "/b/k/l", {("s3:GetObject", "arn:aws:s3:::b/k/l")}),
        ("DeleteObjectVersion", "/b/k", {("s3:DeleteObjectVersion", "arn:aws:s3:::b/k")}),
        (
            "DeleteObject",
            "/b",
            {("s3:DeleteObject", "arn:aws:s3:::b/*"), ("s3:DeleteObjectVersion", "arn:aws:s3:::b/*")},
        ),
    ],
)
def test_a_bucket_and_what_is_in_it(action: str, path: str, asked: set[tuple[str, str]]) -> None:
    assert set(ask("s3", action, path)) == asked


def test_a_file_system_is_told_apart_by_its_tags() -> None:
    arn = "arn:aws:elasticfilesystem:us-east-1:1:file-system"
    there = ask("elasticfilesystem", "DeleteFileSystem", "/2015-02-01/file-systems/fs-1")
    assert there == {
        ("elasticfilesystem:DeleteFileSystem", f"{arn}/fs-1"): {"aws:ResourceTag/gpuprov:spec": ("train",)}
    }
    made = ask("elasticfilesystem", "CreateFileSystem", Tags_member_1_Key="a", Tags_member_1_Value="b")
    assert set(made) == {("elasticfilesystem:CreateFileSystem", "*"), ("elasticfilesystem:TagResource", f"{arn}/new")}
    assert all(context["aws:RequestTag/a"] == ("b",) for context in made.values())


def test_who_copies_reads_the_source() -> None:
    found = ask("s3", "PutObject", "/b/new", CopySource="/b/old%20one?versionId=1")
    assert set(found) == {("s3:PutObject", "arn:aws:s3:::b/new"), ("s3:GetObject", "arn:aws:s3:::b/old one")}


def test_a_key_is_asked_for_itself_whatever_it_was_called() -> None:
    assert ask("kms", "Encrypt", KeyId="alias/gp") == {
        ("kms:Encrypt", "arn:aws:kms:us-east-1:1:key/k"): {"kms:ResourceAliases": ("alias/gp",)}
    }
    assert ask("kms", "Decrypt") == {("kms:Decrypt", "*"): {}}


@pytest.mark.parametrize(
    ("name", "arn"),
    [
        ("/golden/debian-12:3", "arn:aws:ssm:us-east-1:1:parameter/golden/debian-12"),
        ("/aws/service/debian/12", "arn:aws:ssm:us-east-1::parameter/aws/service/debian/12"),
    ],
)
def test_a_parameter_goes_by_its_name_without_a_version(name: str, arn: str) -> None:
    assert set(ask("ssm", "GetParameter", Name=name)) == {("ssm:GetParameter", arn)}


def test_who_one_is_may_always_be_asked() -> None:
    assert read(ApiRequest(service="sts", action="GetCallerIdentity"), Paper()) == ()


def test_an_action_that_nobody_knows_is_not_judged() -> None:
    with pytest.raises(UnknownActionError, match="ec2:CreateEverything"):
        ask("ec2", "CreateEverything")


def test_a_call_says_its_region() -> None:
    call = ApiRequest(service="ec2", action="DescribeVpcs", region="eu-west-1")
    assert read(call, Paper()) == (
        Asked(action="ec2:DescribeVpcs", resource="*", context={"aws:RequestedRegion": ("eu-west-1",)}),
    )


def _underscored(parameters: Mapping[str, str]) -> dict[str, str]:
    return {name.replace(".", "_"): value for name, value in parameters.items()}
