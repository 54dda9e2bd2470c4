"""The account of a lab: moto's memory of it, and the real halves that belong to what it remembers."""

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gpuprov.lab.aws import images as image_names
from gpuprov.lab.aws.addresses import PublicAddresses
from gpuprov.lab.aws.capacity import CapacityBook, in_reservation
from gpuprov.lab.aws.compute import Compute, Record
from gpuprov.lab.aws.errors import lab_refusal
from gpuprov.lab.aws.faults import FaultBook
from gpuprov.lab.aws.groups import rules_of_vpc
from gpuprov.lab.aws.images import ImageStore, register_base
from gpuprov.lab.aws.machine import Machine
from gpuprov.lab.aws.parameters import publish_parameter
from gpuprov.lab.aws.policy.guard import Guard
from gpuprov.lab.aws.policy.memory import MotoMemory
from gpuprov.lab.aws.securitygroups import InstanceRules
from gpuprov.lab.aws.volumes import VolumeStore
from gpuprov.lab.description import CloudDescription
from gpuprov.model.diagnostic import GpuprovError


class Network(Protocol):
    """The networks of VPCs on the machine."""

    def make_vpc(self, vpc_id: str, cidr: str) -> None:
        """Make a VPC's router."""
        ...

    def remove_vpc(self, vpc_id: str) -> None:
        """Remove it."""
        ...

    def set_rules(self, vpc_id: str, rules: Sequence[InstanceRules]) -> None:
        """Let these rules hold."""
        ...


@dataclass(slots=True)
class Account:
    """One account in one region, with nodes behind it."""

    cloud: CloudDescription
    backend: Any
    """moto's backend of EC2."""
    book: FaultBook
    images: ImageStore
    volumes: VolumeStore
    network: Network
    make_machine: Callable[[str], Machine]
    """Makes the real half of an instance by its id."""
    say: Callable[[str], None]
    """Writes a line to the server's log."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held by whoever changes moto's memory."""
    compute: Compute = field(init=False)
    capacity: CapacityBook = field(init=False)
    addresses: PublicAddresses = field(init=False)
    newest: str = field(init=False, default="")
    """The name of the newest base image."""
    guard: Guard = field(init=False)
    """The policies in force."""
    routed: set[str] = field(default_factory=set)
    """Ids of the VPCs that have a router."""

    def __post_init__(self) -> None:
        """Put the parts together that need the account."""
        self.guard = Guard(memory=MotoMemory(self.cloud.account, self.backend), lock=self.lock)
        self.addresses = PublicAddresses(self.cloud.public_range, self._public_in_use)
        self.capacity = CapacityBook(
            self.cloud.account, self.cloud.region, lambda id_: in_reservation(self.compute.linked(), id_)
        )
        self.compute = Compute(self.lock, booted=self._booted, moved=self._moved, released=self._released, say=self.say)

    def ours(self, backend: Any) -> bool:
        """Whether a call is for this account and region."""
        return backend is self.backend

    def record(self, instance: Any) -> Record | None:
        """Return what the lab knows of an instance of moto; None when it is not the lab's (another region)."""
        return self.compute.records.get(instance.id)

    def add_first_image(self) -> None:
        """Have the OS's image as the vendor published it when the lab was made."""
        self._publish(self.cloud.base_image, self.cloud.base_image_name)

    def publish_image(self) -> str:
        """Have the vendor publish a newer image of the same OS; returns its id."""
        with self.lock:
            return self._publish(f"ami-{secrets.token_hex(9)[:17]}", image_names.next_name(self.newest))

    def apply_rules(self) -> None:
        """Let what the security groups say now hold in every VPC."""
        linked = self.compute.linked()
        for vpc_id in sorted(self.routed):
            self._apply(vpc_id, linked)

    def collect(self) -> None:
        """Remove the layers of images that nothing needs any more."""
        disks = [record.layers for record in self.compute.records.values() if not record.ended]
        for image in self.images.collect(images=self.backend.amis, snapshots=self.backend.snapshots, disks=disks):
            self.say(f"{image}: its layers are removed")

    def plug(self, record: Record) -> None:
        """Give a machine the devices of all volumes that are attached to its instance."""
        instance = record.instance
        have = {device.volume_id for device in self.volumes.devices(instance.id)}
        for path, block in instance.get_block_device_mapping:
            if path != instance.root_device_name and block.volume_id not in have:
                self.volumes.attach(instance.id, block.volume_id, gib=int(block.size))
        record.machine.plug({str(d.loop): d.path for d in self.volumes.devices(instance.id)})

    def _publish(self, image_id: str, name: str) -> str:
        """Write a base image down, with its layers."""
        self.images.add_base(image_id, image_names.os_of(name))
        register_base(self.backend, image_id=image_id, name=name, owner=self.cloud.base_image_owner)
        publish_parameter(self.backend, image_id=image_id, name=name)
        self.newest = name
        return image_id

    def _public_in_use(self) -> set[str]:
        """The public addresses that interfaces have now."""
        return {eni.public_ip for eni in list(self.backend.enis.values()) if eni.public_ip}

    def _apply(self, vpc_id: str, linked: Sequence[Any]) -> None:
        """Let the rules of one VPC hold.

        Raises:
            Exception: EC2's error Unsupported; the lab cannot enforce them.
        """
        try:
            self.network.set_rules(vpc_id, rules_of_vpc(self.backend, vpc_id, linked))
        except (GpuprovError, ValueError) as error:
            raise lab_refusal(f"the security groups of {vpc_id} cannot be enforced: {error}") from error

    def _moved(self, record: Record) -> None:
        """An instance is about to be switched on, or is off or gone."""
        if not record.ended and record.machine.watched and record.machine.folder.exists():
            self.plug(record)
        self.apply_rules()
        if record.ended:
            self.collect()

    def _booted(self, record: Record) -> None:
        """An instance runs a new boot: its device files are made again."""
        for device in self.volumes.devices(record.instance.id):
            record.machine.run(device.appear_argv())

    def _released(self, record: Record) -> None:
        """An instance's machine goes: its volumes are let go."""
        for device in self.volumes.devices(record.instance.id):
            self.volumes.detach(record.instance.id, device.volume_id)
