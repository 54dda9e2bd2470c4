"""Who may use the hosts: groups, their members with SSH keys, and what they may do as root."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from gpuprov.spec.about import About

HIGHEST_ID = 60000
"""UID_MAX and GID_MAX of Debian's and Ubuntu's login.defs(5): beyond it an account is not one of people."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemberSpec:
    """A person in a group."""

    name: Annotated[
        str,
        About("Login name; it is made, without a password, where it is not there.", check="login", example="ana"),
    ]
    keys: Annotated[
        tuple[str, ...],
        About(
            "Public SSH keys, besides those in the user's own home.",
            check="ssh_key",
            example='["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEJ5sDNEYFH/sMg4bvGOLgC0dsmB+WVgoQpFYgSY8YB+ ana"]',
        ),
    ] = ()
    uid: Annotated[
        int | None,
        About(
            "Number of a user that is made; the next free one when left out.",
            minimum=1000,
            maximum=HIGHEST_ID,
            example="2001",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SudoSpec:
    """What a group may do as root, without a password: `true`, or a list of commands, stands for the whole."""

    all: Annotated[bool, About("Whether everything.")] = False
    commands: Annotated[
        tuple[str, ...],
        About(
            "Commands with absolute paths, as sudoers(5) matches them.",
            check="sudo",
            example='["/usr/bin/nvidia-smi --gpu-reset*"]',
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupSpec:
    """A group of the hosts; members that others put into it stay."""

    members: Annotated[
        tuple[MemberSpec, ...],
        About("Who belongs to it; one who is taken out of the spec leaves the group.", example="[{name: ana}]"),
    ] = ()
    sudo: Annotated[
        SudoSpec, About("What its members may do as root, without a password.", example='["/usr/bin/nvidia-smi"]')
    ] = field(default_factory=SudoSpec)
    gid: Annotated[
        int | None,
        About(
            "Number of a group that is made; the next free one when left out.",
            minimum=1000,
            maximum=HIGHEST_ID,
            example="2000",
        ),
    ] = None
    read: Annotated[
        tuple[str, ...],
        About(
            "Storage that the group may read: buckets and mounted disks. Once a group names a bucket, hosts have it as "
            "far as their groups do; once one names a disk, nobody but groups that do may use it, root apart.",
            check="storage",
            example="[datasets]",
        ),
    ] = ()
    write: Annotated[
        tuple[str, ...],
        About("Storage that the group may read and write.", check="storage", example="[checkpoints]"),
    ] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessSpec:
    """Who may use the hosts, on all pools."""

    groups: Annotated[
        Mapping[str, GroupSpec],
        About(
            "Groups of the hosts, by name.",
            key="login",
            example='{ml: {members: [{name: ana}], sudo: ["/usr/bin/nvidia-smi"]}}',
        ),
    ] = field(default_factory=dict)
