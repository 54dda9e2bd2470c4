"""Shared storage: file systems of EFS, and the way to them from the hosts."""

import pulumi
from document import Share, ShareAccess
from network import MadeNetwork
from pulumi_aws import ec2, efs, vpc


def make_share(share: Share) -> efs.FileSystem:
    """Make an encrypted file system; what it holds outlives the hosts."""
    return efs.FileSystem(
        f"share.{share['name']}",
        creation_token=share["creation_token"],
        encrypted=True,
        throughput_mode=share["throughput"],
        tags=share["tags"],
        # Its token is taken while it stands.
        opts=pulumi.ResourceOptions(delete_before_replace=True),
    )


def make_access(access: ShareAccess, shares: dict[str, efs.FileSystem], network: MadeNetwork) -> list[efs.MountTarget]:
    """Make the mount targets; hosts come after them and go before them, so that none hangs on a share that is gone."""
    group = access["group"]
    made = ec2.SecurityGroup(
        "security_group.shares",
        name=group["name"],
        description=group["description"],
        vpc_id=network.vpc,
        tags=group["tags"],
        opts=pulumi.ResourceOptions(ignore_changes=["description"]),
    )
    rule = vpc.SecurityGroupIngressRule(
        "ingress.shares",
        security_group_id=made.id,
        description="NFS from the hosts",
        ip_protocol="tcp",
        from_port=group["port"],
        to_port=group["port"],
        referenced_security_group_id=network.group.id,
        tags=group["rule_tags"],
    )
    return [
        efs.MountTarget(
            f"mount_target.{target['name']}",
            file_system_id=shares[target["share"]].id,
            subnet_id=network.subnets[target["subnet"]],
            security_groups=[made.id],
            opts=pulumi.ResourceOptions(depends_on=[rule], delete_before_replace=True),
        )
        for target in access["targets"]
    ]
