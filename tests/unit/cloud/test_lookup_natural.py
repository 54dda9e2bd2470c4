"""The keys are made by the same function that recovery uses, from inputs as the state holds them."""

import json
from typing import Any

import pytest

from gpuprov.cloud.account import Account
from gpuprov.cloud.decide.natural_keys import recovery_key

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})
POLICY = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]})


def found(account: Account, token: str, **inputs: str) -> str | None:
    key = recovery_key(token, inputs)
    assert key is not None
    return account.find(token, key)


def test_a_policy_of_a_role(account: Account, iam: Any) -> None:
    policy = {"name": "storage", "role": "gpuprov-train"}
    assert found(account, "aws:iam/rolePolicy:RolePolicy", **policy) is None
    iam.create_role(RoleName="gpuprov-train", AssumeRolePolicyDocument=TRUST)
    assert found(account, "aws:iam/rolePolicy:RolePolicy", **policy) is None
    iam.put_role_policy(RoleName="gpuprov-train", PolicyName="storage", PolicyDocument=POLICY)
    assert found(account, "aws:iam/rolePolicy:RolePolicy", **policy) == "gpuprov-train:storage"


SETTINGS: list[tuple[str, str, dict[str, Any]]] = [
    (
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        "put_public_access_block",
        {"PublicAccessBlockConfiguration": {"BlockPublicAcls": True}},
    ),
    (
        "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
        "put_bucket_ownership_controls",
        {"OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}},
    ),
    (
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        "put_bucket_encryption",
        {
            "ServerSideEncryptionConfiguration": {
                "Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
            }
        },
    ),
    (
        "aws:s3/bucketVersioning:BucketVersioning",
        "put_bucket_versioning",
        {"VersioningConfiguration": {"Status": "Enabled"}},
    ),
    ("aws:s3/bucketPolicy:BucketPolicy", "put_bucket_policy", {"Policy": POLICY}),
    (
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        "put_bucket_lifecycle_configuration",
        {
            "LifecycleConfiguration": {
                "Rules": [
                    {
                        "ID": "unfinished",
                        "Status": "Enabled",
                        "Filter": {"Prefix": ""},
                        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
                    }
                ]
            }
        },
    ),
]


@pytest.mark.parametrize(("token", "operation", "setting"), SETTINGS, ids=[row[1] for row in SETTINGS])
def test_a_setting_of_a_bucket(account: Account, s3: Any, token: str, operation: str, setting: dict[str, Any]) -> None:
    assert found(account, token, bucket="train-datasets") is None
    s3.create_bucket(Bucket="train-datasets")
    assert found(account, token, bucket="train-datasets") is None
    getattr(s3, operation)(Bucket="train-datasets", **setting)
    assert found(account, token, bucket="train-datasets") == "train-datasets"


def test_a_route_and_its_association(account: Account, ec2: Any) -> None:
    vpc = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.7.1.0/24")["Subnet"]["SubnetId"]
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    route = {"routeTableId": table, "destinationCidrBlock": "0.0.0.0/0"}
    joined = {"subnetId": subnet, "routeTableId": table}
    assert found(account, "aws:ec2/route:Route", **route) is None
    assert found(account, "aws:ec2/routeTableAssociation:RouteTableAssociation", **joined) is None
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    association = ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)["AssociationId"]
    # The number is the provider's hash of 0.0.0.0/0, as every import of a default route shows it.
    assert found(account, "aws:ec2/route:Route", **route) == f"r-{table}1080289494"
    assert found(account, "aws:ec2/routeTableAssociation:RouteTableAssociation", **joined) == association


def test_an_attachment_of_a_volume(account: Account, ec2: Any, image_id: str) -> None:
    run = ec2.run_instances(ImageId=image_id, MinCount=1, MaxCount=1, Placement={"AvailabilityZone": "us-east-1a"})
    instance = run["Instances"][0]["InstanceId"]
    volume = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    inputs = {"deviceName": "/dev/sdf", "volumeId": volume, "instanceId": instance}
    token = "aws:ec2/volumeAttachment:VolumeAttachment"
    assert found(account, token, **inputs) is None
    ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device="/dev/sdf")
    first = found(account, token, **inputs)
    assert first is not None
    assert first.startswith("vai-")
    assert found(account, token, **{**inputs, "deviceName": "/dev/sdg"}) is None
