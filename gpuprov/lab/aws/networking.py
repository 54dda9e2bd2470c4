"""VPCs, security groups and public addresses: what moto writes down is made on the machine."""

from typing import Any

from moto.ec2.models import EC2Backend, elastic_network_interfaces

from gpuprov.lab.aws.account import Account
from gpuprov.lab.aws.errors import lab_refusal
from gpuprov.lab.aws.hooks import Hook, Replacement
from gpuprov.model.diagnostic import GpuprovError

_RULE_CALLS = (
    "authorize_security_group_ingress",
    "authorize_security_group_egress",
    "revoke_security_group_ingress",
    "revoke_security_group_egress",
    "modify_security_group_rules",
    "modify_instance_security_groups",
    "modify_network_interface_attribute",
)
"""Calls after which other packets may pass."""


def network_hooks(account: Account) -> tuple[Hook, ...]:
    """Return the hooks of networks."""

    def create_vpc(original: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
        vpc = original(backend, *args, **kwargs)
        if not account.ours(backend):
            return vpc
        try:
            account.network.make_vpc(vpc.id, vpc.cidr_block)
        except GpuprovError as error:
            backend.delete_vpc(vpc.id)
            raise lab_refusal(f"the network {vpc.cidr_block} cannot be made on this machine: {error}") from error
        account.routed.add(vpc.id)
        return vpc

    def delete_vpc(original: Any, backend: Any, vpc_id: str) -> Any:
        vpc = original(backend, vpc_id)
        if account.ours(backend) and vpc_id in account.routed:
            account.routed.discard(vpc_id)
            account.network.remove_vpc(vpc_id)
        return vpc

    def change_rules(original: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("prefix_list_ids") and account.ours(backend):
            raise lab_refusal("rules with prefix lists are not enforced here; use ranges or groups")
        result = original(backend, *args, **kwargs)
        if account.ours(backend):
            account.apply_rules()
        return result

    return (
        Hook(EC2Backend, "create_vpc", create_vpc),
        Hook(EC2Backend, "delete_vpc", delete_vpc),
        *(Hook(EC2Backend, name, change_rules) for name in _RULE_CALLS),
    )


def network_replacements(account: Account) -> tuple[Replacement, ...]:
    """Return the functions of moto that the lab puts its own for: public addresses come from the lab's range."""
    return (Replacement(elastic_network_interfaces, "random_public_ip", account.addresses.take),)
