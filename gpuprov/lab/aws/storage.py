"""Volumes, snapshots and images: what moto writes down is made on the machine."""

from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.amis import Ami

from gpuprov.lab.aws.account import Account
from gpuprov.lab.aws.compute import Record
from gpuprov.lab.aws.corrections import check_attachment, check_volume
from gpuprov.lab.aws.errors import lab_refusal, refusal
from gpuprov.lab.aws.hooks import Hook
from gpuprov.lab.aws.request import parameter
from gpuprov.model.diagnostic import GpuprovError


def storage_hooks(account: Account) -> tuple[Hook, ...]:
    """Return the hooks of volumes, snapshots and images."""
    shelf, gallery = _Shelf(account), _Gallery(account)
    return (
        Hook(EC2Backend, "create_volume", shelf.create),
        Hook(EC2Backend, "modify_volume", shelf.modify),
        Hook(EC2Backend, "delete_volume", shelf.delete),
        Hook(EC2Backend, "attach_volume", shelf.attach),
        Hook(EC2Backend, "detach_volume", shelf.detach),
        Hook(EC2Backend, "create_snapshot", shelf.create_snapshot),
        Hook(EC2Backend, "delete_snapshot", gallery.delete_snapshot),
        Hook(EC2Backend, "create_image", gallery.create),
        Hook(EC2Backend, "register_image", gallery.refuse),
        Hook(EC2Backend, "copy_image", gallery.refuse),
        Hook(EC2Backend, "deregister_image", gallery.deregister),
        Hook(Ami, "block_device_mappings", gallery.block_devices),
    )


class _Shelf:
    """Takes the calls that are about volumes."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def create(self, original: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
        """The file is made when the volume is attached; one from a snapshot gets its bytes now."""
        check_volume(kwargs.get("volume_type"), kwargs.get("iops"))
        volume = original(backend, *args, **kwargs)
        if volume.snapshot_id and self._account.ours(backend):
            self._account.volumes.copy(volume.snapshot_id, volume.id)
        return volume

    def modify(
        self, original: Any, backend: Any, volume_id: str, target_size: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        """EC2: a volume only grows."""
        before = int(backend.get_volume(volume_id).size)
        if target_size is not None and int(target_size) < before:
            raise refusal("InvalidParameterValue", "New size cannot be smaller than existing size")
        changed = original(backend, volume_id, target_size, *args, **kwargs)
        if target_size is not None and self._account.volumes.file(volume_id).exists():
            self._account.volumes.resize(volume_id, gib=int(target_size))
        return changed

    def delete(self, original: Any, backend: Any, volume_id: str) -> Any:
        """The bytes go with the volume."""
        volume = original(backend, volume_id)
        if self._account.ours(backend):
            self._account.volumes.delete(volume_id)
        return volume

    def attach(
        self, original: Any, backend: Any, volume_id: str, instance_id: str, device: str, *args: Any, **kwargs: Any
    ) -> Any:
        """The device appears in a node that runs; in another, when it boots."""
        instance = backend.get_instance(instance_id)
        check_attachment(backend.get_volume(volume_id), instance, device)
        attachment = original(backend, volume_id, instance_id, device, *args, **kwargs)
        record = self._account.record(instance)
        if record is not None and record.machine.watched and record.boot is not None:
            self._account.plug(record)
            self._appear(record, volume_id)
        return attachment

    def detach(self, original: Any, backend: Any, volume_id: str, instance_id: str, device: str) -> Any:
        """The device vanishes from the node; EC2 refuses to take the root of an instance that is not stopped."""
        attachment = backend.get_volume(volume_id).attachment
        instance = attachment.instance if attachment is not None else backend.get_instance(instance_id)
        record = self._account.record(instance)
        path = device or (attachment.device if attachment is not None else "")
        if record is not None and path == instance.root_device_name and instance.state in ("pending", "running"):
            raise refusal(
                "OperationNotPermitted", f"Unable to detach root volume '{volume_id}' from instance '{instance.id}'"
            )
        detached = original(backend, volume_id, instance.id, device)
        gone = self._account.volumes.detach(instance.id, volume_id)
        if record is not None and gone is not None and not record.ended:
            self._account.plug(record)
            self._inside(record, gone.vanish_argv())
        return detached

    def create_snapshot(self, original: Any, backend: Any, volume_id: str, *args: Any, **kwargs: Any) -> Any:
        """A snapshot is a copy of the bytes; an image's holds the disk of a node, and is kept elsewhere."""
        snapshot = original(backend, volume_id, *args, **kwargs)
        if self._account.ours(backend) and snapshot.from_ami is None:
            self._account.volumes.copy(volume_id, snapshot.id)
        return snapshot

    def _appear(self, record: Record, volume_id: str) -> None:
        """Show a volume in a node."""
        for device in self._account.volumes.devices(record.instance.id):
            if device.volume_id == volume_id:
                self._inside(record, device.appear_argv())

    def _inside(self, record: Record, argv: list[str]) -> None:
        """Run a command in a node; one between two boots has its devices set at the next."""
        if record.machine.boot() is None:
            return
        try:
            record.machine.run(argv)
        except GpuprovError as error:
            self._account.say(f"{record.instance.id}: {error}")


class _Gallery:
    """Takes the calls that are about images."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def create(
        self, original: Any, backend: Any, instance_id: str, name: str, description: str, tag_specifications: Any
    ) -> Any:
        """The disk is copied in the instance's turn; until then the image is pending."""
        if not self._account.ours(backend):
            return original(backend, instance_id, name, description, tag_specifications)
        instance = backend.get_instance(instance_id)
        record = self._account.record(instance)
        if record is None or instance.state not in ("running", "stopped"):
            raise refusal("IncorrectState", f"The instance '{instance_id}' is not in the 'running' or 'stopped' state.")
        if any(image.name == name and image.owner_id == backend.account_id for image in backend.amis.values()):
            raise refusal("InvalidAMIName.Duplicate", f"AMI name {name} is already in use by an AMI of this account")
        if len(instance.block_device_mapping) > 1:
            raise lab_refusal(f"{instance_id} has data volumes; an image of them cannot be made here")
        own = [item for item in tag_specifications if item["ResourceType"] != "snapshot"]
        image = original(backend, instance_id, name, description, own)
        image.state, image.ebs_snapshot.status = "pending", "pending"
        image.root_device_type, image.root_device_name = "ebs", instance.root_device_name
        root = backend.get_volume(instance.block_device_mapping[instance.root_device_name].volume_id)
        image.lab_root_gib = image.ebs_snapshot.volume.size = int(root.size)
        image.ebs_snapshot.encrypted = root.encrypted
        for item in tag_specifications:
            if item["ResourceType"] == "snapshot":
                image.ebs_snapshot.add_tags({tag["Key"]: tag["Value"] for tag in item["Tags"]})
        self._account.images.reserve(image.id, image.ebs_snapshot.id, record.layers)
        off = parameter("NoReboot") != "true"
        self._account.compute.quiet(record, lambda: self._copy(record, image), off=off)
        return image

    def deregister(self, original: Any, backend: Any, ami_id: str) -> Any:
        """The layers go when the snapshot has gone too."""
        image = backend.amis.get(ami_id)
        if image is not None and image.owner_id != backend.account_id:
            raise refusal("AuthFailure", f"Not authorized for image:{ami_id}")
        original(backend, ami_id)
        if image is not None and parameter("DeleteAssociatedSnapshots") == "true":
            backend.delete_snapshot(image.ebs_snapshot.id)
        if self._account.ours(backend):
            self._account.collect()

    def delete_snapshot(self, original: Any, backend: Any, snapshot_id: str) -> Any:
        """The bytes, or the layers, go with the snapshot."""
        snapshot = original(backend, snapshot_id)
        if self._account.ours(backend):
            self._account.volumes.delete(snapshot_id)
            self._account.collect()
        return snapshot

    def refuse(self, *_args: Any, **_kwargs: Any) -> Any:
        """An image that has no disk here cannot be."""
        raise lab_refusal("images are made from instances (CreateImage) only")

    def block_devices(self, getter: Any, image: Any) -> Any:
        """The root volume as it is; moto has one size for all."""
        mappings = getter(image)
        gib = getattr(image, "lab_root_gib", None)
        if gib is not None:
            mappings[0]["Ebs"].update({"VolumeSize": gib, "VolumeType": "gp3", "DeleteOnTermination": True})
        return mappings

    def _copy(self, record: Record, image: Any) -> None:
        """Copy the disk and tell moto how it ended."""
        state = "failed"
        try:
            if record.machine.watched:
                self._account.images.fill(image.id, record.machine.folder)
            state = "available"
        finally:
            with self._account.lock:
                image.state = state
                image.ebs_snapshot.status = "completed" if state == "available" else "error"
                self._account.collect()
