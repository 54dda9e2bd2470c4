"""How instances are connected: one plain interface, or the interfaces of a launch template."""

from collections.abc import Sequence
from typing import Any

import pulumi
from document import Instance, Interface, LaunchTemplate
from network import MadeNetwork
from pulumi_aws import ec2


def make_templates(templates: Sequence[LaunchTemplate], network: MadeNetwork) -> dict[str, ec2.LaunchTemplate]:
    """Make the launch templates; by name. They hold interfaces, and nothing else: all the rest each instance says."""
    return {
        template["name"]: ec2.LaunchTemplate(
            f"launch_template.{template['name']}",
            name=template["name"],
            network_interfaces=[
                _interface(each, network.subnets[template["subnet"]], network) for each in template["interfaces"]
            ],
            tags=template["tags"],
        )
        for template in templates
    }


def connected(
    instance: Instance, network: MadeNetwork, *, public: bool, template: pulumi.Input[str] | None
) -> dict[str, Any]:
    """The inputs of an instance that say how it is connected.

    Args:
        instance: the document's entry.
        network: what it is put into.
        public: whether it gets a public address.
        template: name of the launch template that holds its interfaces; None for one plain interface.
    """
    if template is None:
        return {
            "subnet_id": network.subnets[instance["subnet"]],
            "vpc_security_group_ids": [network.group.id],
            "associate_public_ip_address": public,
        }
    # Subnet and groups are the interfaces': EC2 refuses both beside them. The address is the template's too; without a
    # subnet the provider sends nothing of it (ec2_instance.go, buildInstanceOpts, read 2026-11-30), and sees a change.
    return {
        "launch_template": {"name": template, "version": "$Latest"},
        "associate_public_ip_address": public,
    }


def _interface(interface: Interface, subnet: pulumi.Input[str], network: MadeNetwork) -> dict[str, Any]:
    asked = {} if interface["public"] is None else {"associate_public_ip_address": str(interface["public"]).lower()}
    return {
        "interface_type": interface["type"],
        "network_card_index": interface["card"],
        "device_index": interface["device"],
        "subnet_id": subnet,
        "security_groups": [network.group.id],
        "delete_on_termination": "true",  # they are parts of their instance: nothing of them stays
        **asked,
    }
