"""Which VPCs and links to instances a lab has: records in the lab's folder, one file for each."""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from ipaddress import IPv4Network
from pathlib import Path

from gpuprov.lab.command import failure
from gpuprov.lab.description import LabDescription
from gpuprov.lab.names import LabNames

MAX_VPCS = 31
"""Each has a public address for its router, out of the first 32 of the range; EC2's own quota is five."""
MAX_LINKS = 999
"""In one VPC; the number is part of a network link's name, which is short."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Vpc:
    """A VPC of the lab."""

    id: str
    cidr: str
    number: int
    """The lowest one that was free: part of the link's name, and the host part of the router's public address."""

    @property
    def network(self) -> IPv4Network:
        """The range as a value."""
        return IPv4Network(self.cidr)

    @property
    def gateway(self) -> str:
        """The address of the VPC's router inside it: the second of the range, as in the first subnet on AWS."""
        return str(self.network[1])


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceLink:
    """The link between an instance and the router of its VPC."""

    instance_id: str
    vpc_id: str
    number: int
    """The lowest one that was free in the VPC."""
    private_address: str
    public_address: str | None


def read_vpcs(lab: LabDescription) -> tuple[Vpc, ...]:
    """Return all VPCs of a lab, by number."""
    places = LabNames(lab.id).vpcs_folder.glob("*/vpc.json")
    found = (Vpc(**json.loads(place.read_text(encoding="utf-8"))) for place in places)
    return tuple(sorted(found, key=lambda vpc: vpc.number))


def read_vpc(lab: LabDescription, vpc_id: str) -> Vpc:
    """Return a VPC.

    Raises:
        GpuprovError: the lab has no such VPC.
    """
    for vpc in read_vpcs(lab):
        if vpc.id == vpc_id:
            return vpc
    raise failure(f"the lab {lab.id} has no VPC {vpc_id}", address=f"lab {lab.id}")


def read_links(lab: LabDescription, vpc_id: str = "*") -> tuple[InstanceLink, ...]:
    """Return all links to instances, of one VPC or of all, by number."""
    places = LabNames(lab.id).vpcs_folder.glob(f"{vpc_id}/links/*.json")
    found = (InstanceLink(**json.loads(place.read_text(encoding="utf-8"))) for place in places)
    return tuple(sorted(found, key=lambda link: (link.vpc_id, link.number)))


def find_link(lab: LabDescription, instance_id: str) -> InstanceLink | None:
    """Return the link of an instance; None when it has none."""
    return next((link for link in read_links(lab) if link.instance_id == instance_id), None)


def write_vpc(lab: LabDescription, vpc: Vpc) -> None:
    """Write a VPC down, before it is made."""
    write_json(LabNames(lab.id).vpc_folder(vpc.id) / "vpc.json", asdict(vpc))


def write_link(lab: LabDescription, link: InstanceLink) -> None:
    """Write a link down, before it is made."""
    write_json(_link_file(lab, link), asdict(link))


def forget_link(lab: LabDescription, link: InstanceLink) -> None:
    """Strike a link, after it has gone."""
    _link_file(lab, link).unlink(missing_ok=True)


def free_number(used: set[int], *, limit: int, what: str) -> int:
    """Return the lowest number that is not used.

    Raises:
        GpuprovError: all are.
    """
    for number in range(1, limit + 1):
        if number not in used:
            return number
    raise failure(f"the lab has {limit} {what} already, and cannot have more")


@contextmanager
def numbering(lab: LabDescription) -> Iterator[None]:
    """Let one thread or process at a time choose and write down a number."""
    folder = LabNames(lab.id).cloud_folder
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".numbers.lock").open("w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def write_json(place: Path, document: object, *, mode: int = 0o644) -> None:
    """Write a document whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{place.name}.new")
    beside.touch(mode=mode)
    beside.chmod(mode)
    beside.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    beside.replace(place)


def _link_file(lab: LabDescription, link: InstanceLink) -> Path:
    """Where a link is written down."""
    return LabNames(lab.id).vpc_folder(link.vpc_id) / "links" / f"{link.instance_id}.json"
