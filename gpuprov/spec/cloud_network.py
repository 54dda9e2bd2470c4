"""The parts of a spec about a network that is there already, and about the way through a jump host."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from gpuprov.spec.about import About

VPC: Final = r"vpc-[0-9a-f]{8,17}"
SUBNET: Final = r"subnet-[0-9a-f]{8,17}"
SERVICE: Final = r"[a-z][a-z0-9-]*(\.[a-z0-9-]+)*"
PLACE: Final = r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9A-Fa-f:]+"
_TAG: Final = 127
"""Most characters of a tag's key (Amazon EC2 User Guide, Tag restrictions, read 2026-11-30)."""


def refuse_tag(text: str) -> str:
    """What is wrong with a tag's key or value; empty for a good one."""
    if "*" in text or "?" in text:
        return "a filter of EC2 would take * and ? for more than themselves"
    return "" if 0 < len(text) <= _TAG and text.isprintable() else "it is empty, too long, or cannot be printed"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingNetworkSpec:
    """Subnets of the account that the hosts are put into; they are looked up and checked, and never changed."""

    subnets: Annotated[
        tuple[str, ...],
        About(
            "Ids of the subnets, at most one in a zone; or give `tags`.", check="subnet", example="[subnet-0a1b2c3d]"
        ),
    ] = ()
    tags: Annotated[
        Mapping[str, str],
        About("Tags that all of the subnets have, and no other one.", check="tag", key="tag", example="{role: gpu}"),
    ] = field(default_factory=dict)
    vpc: Annotated[
        str | None,
        About("Id of the VPC that the subnets must be in.", check="vpc", example="vpc-0a1b2c3d"),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class JumpSpec:
    """The host that connections to the cloud hosts go through; its host key must be on record, as theirs are."""

    host: Annotated[str, About("Name or address.", check="place", example="bastion.example")]
    user: Annotated[str | None, About("Login user; the ssh client's when left out.", check="user", example="ops")] = (
        None
    )
    port: Annotated[int, About("Port of its SSH server.", maximum=65535)] = 22
    known_hosts: Annotated[
        str | None,
        About(
            "File with its host key, relative to the spec; the user's own known_hosts when left out.",
            check="file",
            example="keys/bastion.known_hosts",
        ),
    ] = None
    key: Annotated[
        str | None,
        About(
            "File of the private key for it, which is only named to the ssh client; the agent's keys when left out.",
            check="file",
            example="~/.ssh/bastion",
        ),
    ] = None
