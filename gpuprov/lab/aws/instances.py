"""Instances: what moto writes down happens on a node; status checks and console tell of that node."""

import base64
import copy
import functools
from typing import Any

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.models import EC2Backend
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS
from moto.ec2.models.instances import Instance
from moto.ec2.responses.general import General

from gpuprov.lab.aws.account import Account
from gpuprov.lab.aws.capacity import BLOCK, lifecycle_of
from gpuprov.lab.aws.compute import Health, Record, set_state
from gpuprov.lab.aws.errors import lab_refusal, refusal
from gpuprov.lab.aws.hooks import Hook
from gpuprov.lab.aws.launching import launch_of
from gpuprov.lab.aws.machine import NoMachine
from gpuprov.lab.aws.network import mac_of
from gpuprov.lab.aws.offers import gpus_of, vcpus_of
from gpuprov.lab.aws.request import parameter

_GONE = ("shutting-down", "terminated")
_RESERVATION = "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId"


def instance_hooks(account: Account) -> tuple[Hook, ...]:
    """Return the hooks of instances."""
    desk = _Desk(account)
    return (
        Hook(Instance, "__init__", desk.new),
        Hook(EC2Backend, "run_instances", desk.run),
        Hook(Instance, "start", desk.start),
        Hook(Instance, "stop", desk.stop),
        Hook(Instance, "reboot", desk.reboot),
        Hook(Instance, "terminate", desk.terminate),
        Hook(Instance, "instance_status", desk.instance_status),
        Hook(Instance, "system_status", desk.system_status),
        Hook(General, "get_console_output", desk.console_output),
        Hook(EC2Backend, "associate_iam_instance_profile", desk.associate),
    )


class _Desk:
    """Takes the calls that are about instances."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._forget = Instance.terminate
        """moto's own: the hooks are not in place yet."""

    def new(self, original: Any, instance: Any, backend: Any, *args: Any, **kwargs: Any) -> None:
        """EC2: a new instance is pending, and its own interface goes with it; moto has it running at once."""
        original(instance, backend, *args, **kwargs)
        given = {nic.get("NetworkInterfaceId") for nic in kwargs.get("nics") or ()}
        for nic in instance.nics.values():
            # One of several interfaces knows it already: efa.py.
            nic.delete_on_termination = getattr(nic, "lab_goes", nic.id not in given)
        if self._account.ours(backend):
            instance.nics[0].mac_address = mac_of(instance.id)
            set_state(instance, "pending")

    def run(
        self, original: Any, backend: Any, image_id: str, count: int, user_data: Any, groups: Any, **kwargs: Any
    ) -> Any:
        """Check as EC2 does, have moto write the instances down, and launch each."""
        if not self._account.ours(backend):
            text = f"gpuprov lab: instances run in {self._account.cloud.region} only, not in {backend.region_name}"
            raise refusal("OptInRequired", text)
        image = self._image(image_id)
        kind, zone = kwargs["instance_type"], self._zone(kwargs)
        _check_offer(backend.region_name, kind, zone)
        self._check_quota(kind, count)
        market, held = parameter("InstanceMarketOptions.MarketType") or "", parameter(_RESERVATION) or ""
        if market == BLOCK and not held:
            raise refusal("InvalidParameterCombination", "A capacity block needs a target Capacity Reservation ID.")
        if held:
            self._account.capacity.refuse(held, type_=kind, zone=zone, market=market, count=count)
        else:
            self._check_capacity(kind, zone)
        off = self._account.book.boot_off()
        gpu = None if off else gpus_of(kind)
        kwargs["block_device_mappings"] = _with_root(image, kwargs.get("block_device_mappings") or [])
        layers = self._account.images.layers(image_id)
        reservation = original(backend, image_id, count, user_data, groups, **kwargs)
        for instance in reservation.instances:
            # moto calls everything with a market spot.
            instance.lifecycle, instance.capacity_reservation_id = lifecycle_of(market), held or None
            if instance.vpc_id not in self._account.routed and not off:
                set_state(instance, "shutting-down")
                self._forget(instance)
                raise lab_refusal("the default VPC has no network here; name a subnet of a VPC that you made")

            def launch(instance: Any = instance) -> Any:
                return launch_of(backend, instance, layers=layers, gpu=gpu)

            machine = NoMachine() if off else self._account.make_machine(instance.id)
            forget = functools.partial(self._forget, instance)
            record = Record(instance=instance, machine=machine, layers=layers, launch=launch, forget=forget)
            self._account.compute.launch(record)
        return reservation

    def start(self, original: Any, instance: Any) -> Any:
        """EC2: only a stopped instance is started, with another public address."""
        record = self._account.record(instance)
        if record is None:
            return original(instance)
        before = copy.copy(instance._state)  # noqa: SLF001 (moto has no other way)
        if before.name in ("pending", "running"):
            return before
        _require(instance, "stopped", what="started")
        if instance.capacity_reservation_id:
            self._account.capacity.refuse(
                instance.capacity_reservation_id,
                type_=instance.instance_type,
                zone=instance.placement.zone,
                market=instance.lifecycle or "",
                count=1,
            )
        else:
            self._check_capacity(instance.instance_type, instance.placement.zone)
        original(instance)
        self._account.compute.start(record)
        return before

    def stop(self, original: Any, instance: Any) -> Any:
        """EC2: the system is shut down, and the public address goes."""
        record = self._account.record(instance)
        if record is None:
            return original(instance)
        before = copy.copy(instance._state)  # noqa: SLF001
        if before.name in ("stopping", "stopped"):
            return before
        _require(instance, "pending", "running", what="stopped")
        if instance.lifecycle == "spot":
            # EC2 User Guide, Spot Instances: one of a one-time request cannot be stopped (read 2026-11-30).
            raise refusal(
                "UnsupportedOperation", f"You can't stop the Spot Instance '{instance.id}' of a one-time request."
            )
        self._account.compute.stop(record, lambda: original(instance))
        return before

    def reboot(self, original: Any, instance: Any) -> None:
        """EC2: the system boots again; the instance stays running."""
        record = self._account.record(instance)
        if record is None:
            original(instance)
            return
        _require(instance, "running", what="rebooted")
        self._account.compute.reboot(record)

    def terminate(self, original: Any, instance: Any) -> Any:
        """EC2: shutting-down until the disk has gone; doing it again does nothing."""
        record = self._account.record(instance)
        if record is None:
            return original(instance)
        before = copy.copy(instance._state)  # noqa: SLF001
        if before.name not in _GONE:
            self._account.compute.terminate(record)
        return before

    def instance_status(self, getter: Any, instance: Any) -> Any:
        """What the check of the instance's own system says."""
        record = self._account.record(instance)
        if record is None or instance.state != "running":
            return getter(instance)
        names = (instance.id, *(tag["value"] for tag in instance.get_tags() if tag["key"] == "Name"))
        if self._account.book.impaired(names):
            return _status("impaired", "failed")
        if record.health is Health.OK:
            return _status("ok", "passed")
        return _status("initializing", "initializing")

    def system_status(self, getter: Any, instance: Any) -> Any:
        """What the check of the hardware under the instance says: it is fine as soon as the instance runs."""
        return getter(instance)

    def console_output(self, original: Any, response: Any) -> Any:
        """The console of the node; moto has one text for all."""
        instance_id = response._get_param("InstanceId")  # noqa: SLF001
        record = self._account.record(response.ec2_backend.get_instance(instance_id))
        if record is None:
            return original(response)
        shown = record.console(latest=parameter("Latest") == "true")
        output = base64.b64encode(shown).decode("ascii")
        return ActionResult({"InstanceId": instance_id, "Timestamp": utcnow(), "Output": output})

    def associate(self, original: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
        """An instance that got a role is told so by its metadata."""
        association = original(backend, *args, **kwargs)
        record = self._account.record(association.instance)
        if record is not None:
            record.doings.put(lambda: record.machine.describe(record.launch()))
        return association

    def _image(self, image_id: str) -> Any:
        """Return an image that can be launched; moto takes one that was deregistered, or is still being made."""
        image = self._account.backend.amis.get(image_id)
        if image is None:
            raise refusal("InvalidAMIID.NotFound", f"The image id '[{image_id}]' does not exist")
        if image.state != "available":
            raise refusal("InvalidAMIID.Unavailable", f"The image id '[{image_id}]' is no longer available")
        return image

    def _zone(self, kwargs: dict[str, Any]) -> str:
        """Return the zone that a call is for: its subnet's, or the one that it names."""
        nics = [nic["SubnetId"] for nic in kwargs.get("nics") or () if "SubnetId" in nic]
        subnet = kwargs.get("subnet_id") or next(iter(nics), None)
        if subnet:
            return str(self._account.backend.get_subnet(subnet).availability_zone)
        return kwargs.get("placement") or f"{self._account.cloud.region}a"

    def _check_capacity(self, kind: str, zone: str) -> None:
        """Refuse where the fault `capacity` was asked for."""
        if self._account.book.struck("capacity", zone=zone, type=kind):
            raise refusal(
                "InsufficientInstanceCapacity",
                f"We currently do not have sufficient {kind} capacity in the Availability Zone you requested ({zone}). "
                "Our system will be working on provisioning additional capacity. You can currently get "
                f"{kind} capacity by not specifying an Availability Zone in your request or choosing another one.",
            )

    def _check_quota(self, kind: str, count: int) -> None:
        """Refuse what goes over the quota that was asked for."""
        quota = self._account.book.limit()
        if quota is None:
            return
        live = [i for i in self._account.compute.linked() if i.state not in (*_GONE, "stopped")]
        if sum(vcpus_of(i.instance_type) for i in live) + count * vcpus_of(kind) > quota.limit:
            raise refusal(
                "VcpuLimitExceeded",
                "You have requested more vCPU capacity than your current vCPU limit of "
                f"{quota.limit} allows for the instance bucket that the specified instance type belongs to. "
                "Please request an adjustment to this limit.",
            )


def _check_offer(region: str, kind: str, zone: str) -> None:
    """Refuse a type that its zone does not offer; moto looks at the region only."""
    offers = INSTANCE_TYPE_OFFERINGS["availability-zone"].get(region, ())
    zones = sorted(offer["Location"] for offer in offers if offer["InstanceType"] == kind)
    if not zones:
        raise refusal("InvalidParameterValue", f"Invalid value '{kind}' for InstanceType.")
    if zone not in zones:
        raise refusal(
            "Unsupported",
            f"Your requested instance type ({kind}) is not supported in your requested Availability Zone ({zone}). "
            f"Please retry your request by not specifying an Availability Zone or choosing {', '.join(zones)}.",
        )


def _require(instance: Any, *states: str, what: str) -> None:
    """Refuse a call in another state than these."""
    if instance.state not in states:
        raise refusal(
            "IncorrectInstanceState",
            f"The instance '{instance.id}' is not in a state from which it can be {what}.",
        )


def _with_root(image: Any, mappings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the volumes of a new instance, with its root: of the image's size unless the call says more."""
    least = int(image.lab_root_gib)
    root = next((m for m in mappings if m["DeviceName"] == image.root_device_name), None)
    if root is None:
        ebs = {"VolumeSize": least, "VolumeType": "gp3", "DeleteOnTermination": True}
        return [{"DeviceName": image.root_device_name, "Ebs": ebs}, *mappings]
    root["Ebs"]["VolumeSize"] = int(root["Ebs"].get("VolumeSize") or least)
    if root["Ebs"]["VolumeSize"] < least:
        raise refusal(
            "InvalidBlockDeviceMapping",
            f"Volume of size {root['Ebs']['VolumeSize']}GB is smaller than snapshot '{image.ebs_snapshot.id}', "
            f"expect size >= {least}GB",
        )
    return mappings


def _status(summary: str, reachability: str) -> dict[str, Any]:
    """Return a status check as moto writes it out."""
    return {"Details": [{"Name": "reachability", "Status": reachability}], "Status": summary}
