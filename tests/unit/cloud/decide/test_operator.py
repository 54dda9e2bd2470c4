import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from gpuprov.cloud.decide.grants import COMMANDS, Ground
from gpuprov.cloud.decide.operator import MANAGED_LIMIT, grants, length, operator_policy, pieces

GROUND = Ground(
    spec="train",
    account="111122223333",
    region="us-east-1",
    types=("p5.48xlarge",),
    builder="c7i.2xlarge",
    images=("ami-0123456789abcdef0",),
)
WHOLE = replace(
    GROUND,
    volumes=True,
    buckets=("train-data",),
    roles=("gpuprov-train-us-east-1",),
    brought=("web",),
    boundary="arn:aws:iam::111122223333:policy/team",
    nat=True,
    services=True,
    shares=True,
    placement=True,
    efa=True,
    spot=True,
    existing_tags=({"team": "ml"},),
    reservations=("cr-0123456789abcdef0",),
    reservation_groups=("arn:aws:resource-groups:us-east-1:111122223333:group/gpus",),
    parameters=("/golden/debian-12:3", "/aws/service/debian/12"),
    state=("states", "gpu/train"),
    key="awskms://alias/gp",
    delete_data=True,
)


def statements(ground: Ground, commands: Collection[str] = COMMANDS) -> dict[str, dict[str, Any]]:
    return {each["Sid"]: each for each in operator_policy(ground, commands)["Statement"]}


def actions(ground: Ground, commands: Collection[str] = COMMANDS) -> set[str]:
    return {action for each in statements(ground, commands).values() for action in each["Action"]}


@pytest.mark.parametrize("commands", [*((command,) for command in COMMANDS), COMMANDS])
def test_nothing_is_allowed_by_a_wildcard_of_actions(commands: tuple[str, ...]) -> None:
    assert not [action for action in actions(WHOLE, commands) if "*" in action]


def test_everything_that_is_allowed_everywhere_only_looks() -> None:
    # The rest is bound to a resource by name, or by the tag of the spec.
    free = {
        action
        for each in statements(WHOLE).values()
        if "*" in each["Resource"] and "Condition" not in each
        for action in each["Action"]
    }
    assert free == {"iam:ListRoles", "iam:ListInstanceProfiles", "s3:ListAllMyBuckets"}
    regional = [each for each in statements(WHOLE).values() if "*" in each["Resource"] and "Condition" in each]
    looks = ("ec2:Describe", "servicequotas:Get", "elasticfilesystem:Describe")
    makes = {"elasticfilesystem:CreateFileSystem", "elasticfilesystem:TagResource"}
    assert all(a.startswith(looks) or a in makes for each in regional for a in each["Action"])


def test_a_preview_changes_nothing() -> None:
    verbs = {action.partition(":")[2] for action in actions(WHOLE, ("preview",))}
    state = {"PutObject", "DeleteObject", "Encrypt", "Decrypt"}
    assert not [verb for verb in verbs - state if not verb.startswith(("Describe", "Get", "List"))]


def test_data_goes_only_where_that_is_asked_for() -> None:
    going = {"ec2:DeleteVolume", "s3:DeleteBucket", "s3:DeleteObjectVersion", "elasticfilesystem:DeleteFileSystem"}
    assert going <= actions(WHOLE)
    kept = replace(WHOLE, delete_data=False)
    assert not going & actions(kept)
    objects = [each for each in statements(kept).values() if "s3:DeleteObject" in each["Action"]]
    assert [each["Resource"] for each in objects] == [["arn:aws:s3:::states/gpu/train/*"]]


def test_what_destroy_needs_makes_nothing() -> None:
    verbs = {action.partition(":")[2] for action in actions(WHOLE, ("destroy",))}
    assert not [verb for verb in verbs if verb.startswith(("Create", "Run", "Start", "Attach", "Allocate", "Pass"))]


def test_what_an_image_takes_knows_no_role_and_no_bucket_of_hosts() -> None:
    found = statements(replace(WHOLE, state=None, key="", services=False), ("image",))
    assert {action.partition(":")[0] for each in found.values() for action in each["Action"]} == {"ec2"}
    assert found["LaunchBuilder"]["Condition"]["StringEquals"]["ec2:InstanceType"] == ["c7i.2xlarge"]
    assert "LaunchHosts" not in found


def test_only_the_locks_base_image_and_the_specs_own_are_started_from() -> None:
    found = statements(GROUND)
    images = [arn for arn in found["LaunchParts"]["Resource"] if ":image/" in arn]
    assert images == ["arn:aws:ec2:us-east-1::image/ami-0123456789abcdef0"]
    assert found["LaunchOurImages"]["Condition"] == {"StringEquals": {"aws:ResourceTag/gpuprov:spec": "train"}}
    without_lock = statements(replace(GROUND, images=()))
    assert "arn:aws:ec2:us-east-1::image/*" in without_lock["LaunchParts"]["Resource"]


def test_a_role_can_be_made_only_within_its_bound_and_its_trust_never_changes() -> None:
    made = statements(WHOLE)["MakeRoles"]
    assert made["Condition"] == {"ArnEquals": {"iam:PermissionsBoundary": WHOLE.boundary}}
    assert {"iam:CreateRole", "iam:PutRolePolicy"} <= set(made["Action"])
    assert not {"iam:UpdateAssumeRolePolicy", "iam:DeleteRolePermissionsBoundary"} & actions(WHOLE)


def test_a_role_of_the_account_is_looked_at_and_passed_and_nothing_else() -> None:
    arn = "arn:aws:iam::111122223333:role/web"
    with_it = {sid: each["Action"] for sid, each in statements(WHOLE).items() if arn in each["Resource"]}
    assert with_it == {
        "LookAtNamedRoles": ["iam:GetRole", "iam:ListInstanceProfilesForRole"],
        "PassRoles": ["iam:PassRole"],
    }


def test_what_is_taken_in_must_be_nobodys() -> None:
    found = statements(WHOLE, ("import",))
    assert found["TakeIn"]["Condition"] == {
        "StringEquals": {"aws:RequestTag/gpuprov:spec": "train"},
        "Null": {"aws:ResourceTag/gpuprov:spec": "true"},
    }
    verbs = {action.partition(":")[2] for action in actions(WHOLE, ("import",))}
    changing = {verb for verb in verbs if not verb.startswith(("Describe", "Get", "List"))}
    state = {"PutObject", "DeleteObject", "Encrypt", "Decrypt"}
    tags = {"CreateTags", "TagRole", "TagInstanceProfile", "PutBucketTagging"}
    settings = {"ModifySubnetAttribute", "ModifyVpcAttribute", "UpdateRole", "UpdateRoleDescription"}
    assert changing - state == tags | settings
    assert "TakeIn" not in statements(replace(WHOLE, own_network=False), ("import",))


def test_what_a_lock_takes_only_looks_images_up() -> None:
    found = statements(WHOLE, ("lock",))
    assert {sid: each["Action"] for sid, each in found.items()} == {
        "Look": ["ec2:DescribeImages"],
        "LookUpBaseImages": ["ssm:GetParameter"],
    }
    assert found["LookUpBaseImages"]["Resource"] == [
        "arn:aws:ssm:us-east-1:111122223333:parameter/golden/debian-12",
        "arn:aws:ssm:us-east-1::parameter/aws/service/debian/12",
    ]


def test_a_reservation_goes_by_its_own_id_of_a_group_too() -> None:
    launched = statements(replace(WHOLE, reservations=("*",)))["LaunchParts"]["Resource"]
    assert "arn:aws:ec2:us-east-1:111122223333:capacity-reservation/*" in launched
    assert not [arn for arn in launched if "resource-groups" in arn]
    assert statements(WHOLE)["LookAtReservations"]["Resource"] == list(WHOLE.reservation_groups)


def test_the_request_behind_a_spot_instance_is_cancelled_by_the_real_provider() -> None:
    found = statements(replace(GROUND, spot=True), ("destroy",))
    assert found["EndSpotRequestsAsTheProvider"]["Action"] == ["ec2:CancelSpotInstanceRequests"]
    assert "EndSpotRequestsAsTheProvider" not in statements(GROUND)


def test_what_was_left_is_looked_for_whatever_the_spec_says() -> None:
    assert {"iam:ListRoles", "iam:GetRole", "s3:ListAllMyBuckets", "elasticfilesystem:DescribeFileSystems"} <= actions(
        GROUND, ("destroy",)
    )
    assert not {"iam:ListRoles", "elasticfilesystem:DescribeFileSystems"} & actions(GROUND, ("preview",))


def test_aws_own_roles_are_made_only_for_the_services_in_use() -> None:
    found = statements(replace(GROUND, spot=True))["FirstUseOfServices"]
    assert found["Resource"] == ["arn:aws:iam::111122223333:role/aws-service-role/spot.amazonaws.com/*"]
    assert found["Condition"] == {"StringEquals": {"iam:AWSServiceName": ["spot.amazonaws.com"]}}
    assert "FirstUseOfServices" not in statements(GROUND)


def test_launch_templates_are_made_only_for_hosts_with_efa() -> None:
    own = {f"ec2:{verb}LaunchTemplate" for verb in ("Create", "Delete")} | {"ec2:CreateLaunchTemplateVersion"}
    assert own <= actions(replace(GROUND, efa=True))
    assert not own & actions(GROUND)
    # What an interrupted run left is looked for whatever the spec says now.
    assert "ec2:DescribeLaunchTemplates" in actions(GROUND)
    made = statements(replace(GROUND, efa=True))
    arn = "arn:aws:ec2:us-east-1:111122223333:launch-template/*"
    assert {sid for sid, each in made.items() if arn in each["Resource"]} == {"Make", "TagWhatIsMade"}


def test_a_network_that_is_there_is_entered_and_not_changed() -> None:
    there = replace(GROUND, own_network=False, vpc="vpc-1", subnet_tags={"role": "gpu"})
    found = statements(there)
    assert not {"ec2:CreateVpc", "ec2:CreateSubnet", "ec2:DeleteSubnet", "ec2:CreateRoute"} & actions(there)
    assert found["EnterTheNetwork"]["Resource"] == ["arn:aws:ec2:us-east-1:111122223333:vpc/vpc-1"]
    assert found["EnterItsSubnets"]["Condition"] == {"StringEquals": {"aws:ResourceTag/role": "gpu"}}
    named = statements(replace(there, subnets=("subnet-1",), subnet_tags={}))["EnterItsSubnets"]
    assert named["Resource"] == ["arn:aws:ec2:us-east-1:111122223333:subnet/subnet-1"]
    assert "Condition" not in named


@pytest.mark.parametrize(
    ("key", "resource", "condition"),
    [
        ("awskms://alias/gp", "key/*", {"ForAnyValue:StringEquals": {"kms:ResourceAliases": "alias/gp"}}),
        ("awskms://1234abcd-12ab-34cd-56ef-1234567890ab", "key/1234abcd-12ab-34cd-56ef-1234567890ab", None),
        ("awskms:///arn:aws:kms:us-east-1:111122223333:key/1234abcd", "key/1234abcd", None),
        (
            "awskms:///arn:aws:kms:us-east-1:111122223333:alias/gp",
            "key/*",
            {"ForAnyValue:StringEquals": {"kms:ResourceAliases": "alias/gp"}},
        ),
    ],
)
def test_the_key_of_the_state(key: str, resource: str, condition: Any) -> None:
    found = statements(replace(GROUND, key=key))["LockTheState"]
    assert found["Resource"] == [f"arn:aws:kms:us-east-1:111122223333:{resource}"]
    assert found.get("Condition") == condition


def test_arns_are_the_partitions() -> None:
    text = json.dumps(operator_policy(replace(WHOLE, region="us-gov-west-1"), COMMANDS))
    assert "arn:aws-us-gov:ec2:us-gov-west-1:" in text
    assert "arn:aws:ec2" not in text


def test_a_policy_that_is_too_long_comes_in_pieces_that_say_the_same() -> None:
    policy = operator_policy(WHOLE, COMMANDS)
    parts = pieces(policy)
    assert length(policy) > MANAGED_LIMIT
    assert all(length(part) <= MANAGED_LIMIT for part in parts)
    assert [each for part in parts for each in part["Statement"]] == policy["Statement"]
    short = operator_policy(GROUND, ("destroy",))
    assert pieces(short) == (short,)


def test_names_of_statements_are_what_iam_takes() -> None:
    sids = [grant.sid for grant in grants(WHOLE)]
    assert len(sids) == len(set(sids))
    assert all(sid.isascii() and sid.isalnum() for sid in sids)
