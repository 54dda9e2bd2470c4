"""What the real AWS provider and its services do beside what was tried here, by their documents: changes, not reads.

All of it is marked as unproved; the reads stand beside those that were tried, in statements `...AsTheProvider`.
"""

from collections.abc import Iterator
from typing import Final

from gpuprov.cloud.decide.grants import ENDING, MAKING, Grant, Ground, each

_P: Final = "ec2:"
_SOURCE: Final = "hashicorp/terraform-provider-aws, internal/service/ec2"


def provider_grants(ground: Ground) -> Iterator[Grant]:
    """Every grant that only the real provider needs."""
    yield from _changing(ground)
    if ground.spot:
        # Nobody tags the request that stands behind a spot instance; to cancel one ends no instance.
        yield Grant(
            sid="EndSpotRequestsAsTheProvider",
            actions=each(ENDING, "CancelSpotInstanceRequests", prefix=_P),
            resources={ground.ec2("spot-instances-request"): ENDING},
            unproved=f"{_SOURCE}/ec2_instance.go (resourceInstanceDelete fails where it may not)",
        )
    if ground.roles:
        yield Grant(
            sid="DescribeRolesAsTheProvider",
            actions=each("up import", "iam:UpdateRoleDescription"),
            resources={ground.iam("role", name): "up import" for name in ground.roles},
            unproved="hashicorp/terraform-provider-aws, internal/service/iam (roles; its source was not read)",
        )
    if ground.own_network and ground.services:
        yield Grant(
            sid="NameEndpointsAsTheService",
            actions=each(MAKING, "route53:AssociateVPCWithHostedZone"),
            resources={f"arn:{ground.partition}:route53:::hostedzone/*": MAKING},
            unproved="Service Authorization Reference, Amazon EC2, CreateVpcEndpoint: dependent actions (2026-11-30)",
        )


def _changing(ground: Ground) -> Iterator[Grant]:
    actions = each("up", "DisassociateIamInstanceProfile", prefix=_P) if ground.roles or ground.brought else {}
    actions |= each(ENDING, "DisassociateAddress", prefix=_P) if ground.nat else {}
    if actions:
        yield Grant(
            sid="ChangeOursAsTheProvider",
            actions=actions,
            resources={ground.ec2("*"): ENDING},
            condition=ground.ours,
            unproved=f"{_SOURCE}/ec2_instance.go (roles of hosts that are stopped), ec2_eip.go (resourceEIPDelete)",
        )
