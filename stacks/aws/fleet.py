"""The instances, and the volumes that are attached to them."""

import pulumi
from document import Instance, Volume
from identity import MadeIdentity
from interfaces import connected
from market import buying
from network import MadeNetwork
from pulumi_aws import ebs, ec2

_FOR_LIFE = ["ami", "userData", "instanceMarketOptions", "capacityReservationSpecification", "launchTemplate"]
"""What a standing instance keeps whatever the document says: a change would replace or stop it, or be passed over."""
_ANOTHER = ["instanceType"]
"""What makes another instance. The provider would stop and start the old one: its local disks would be lost unsaid."""


def make_instance(
    instance: Instance,
    network: MadeNetwork,
    identity: MadeIdentity | None,
    volumes: list[ebs.Volume],
    *,
    public: bool,
    placement: pulumi.Input[str] | None,
    template: pulumi.Input[str] | None,
) -> ec2.Instance:
    """Make one host.

    Args:
        instance: the document's entry.
        network: what it is put into.
        identity: what it acts as; None for nothing, or for a profile that the account had before.
        volumes: that will be attached: they are made first, so that a quota on them is met before a GPU is paid for,
            and removed after it, when it no longer holds them.
        public: whether it gets a public address.
        placement: the placement group that it stands in; None for none.
        template: name of the launch template that holds its interfaces; None for one plain interface.
    """
    needed = [*network.ways, *(identity.policies if identity else []), *volumes]
    return ec2.Instance(
        f"instance.{instance['name']}",
        ami=instance["image"],
        instance_type=instance["type"],
        availability_zone=instance["zone"],
        placement_group=placement,
        **connected(instance, network, public=public, template=template),
        iam_instance_profile=identity.profile.name if identity else instance["instance_profile"],
        user_data=instance["user_data"],
        user_data_replace_on_change=True,  # never a stop and start of a running host
        metadata_options={
            "http_endpoint": "enabled",
            "http_tokens": "required",
            "http_put_response_hop_limit": instance["hop_limit"],
        },
        root_block_device={
            "volume_type": "gp3",
            "volume_size": instance["root_gib"],
            "encrypted": True,
            "delete_on_termination": True,
            "tags": instance["root_tags"],
        },
        tags=instance["tags"],
        **buying(instance["market"]),
        opts=pulumi.ResourceOptions(
            depends_on=needed,
            ignore_changes=[] if instance["replace"] else _FOR_LIFE,
            replace_on_changes=_ANOTHER,
            # Quotas and capacity of GPU types seldom allow a second one, and its volumes can be in one place only.
            delete_before_replace=True,
        ),
    )


def attach_volume(volume: Volume, made: ebs.Volume, instance: ec2.Instance) -> ec2.VolumeAttachment:
    """Attach a volume to its host.

    The attachment ends with the instance, which shuts down cleanly first. Detaching a mounted volume from a running
    host may damage what is on it (AWS CloudFormation User Guide, AWS::EC2::VolumeAttachment, read 2026-11-30).
    """
    return ec2.VolumeAttachment(
        f"volume_attachment.{volume['name']}",
        device_name=volume["device"] or "",
        volume_id=made.id,
        instance_id=instance.id,
        skip_destroy=True,
        opts=pulumi.ResourceOptions(delete_before_replace=True),
    )
