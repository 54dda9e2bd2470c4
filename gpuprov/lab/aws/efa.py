"""Several interfaces of an instance, and EFAs among them: moto 5.2.5 makes them plain ones, and one for each index.

Followed: EC2 API Reference, RunInstances and InstanceNetworkInterfaceSpecification; EC2 User Guide, Network cards,
Elastic Fabric Adapter, and Maximize network bandwidth on instances with multiple network cards (read 2026-11-30). What
cards a type has is DescribeInstanceTypes', as moto has it. A node of the lab has one network card: it is the first
interface's.
"""

from collections import Counter
from typing import Any, Final

from moto.ec2.models import EC2Backend
from moto.ec2.models.elastic_network_interfaces import NetworkInterface
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ec2.models.instances import Instance
from moto.ec2.models.launch_templates import LaunchTemplateBackend

from gpuprov.lab.aws.errors import refusal
from gpuprov.lab.aws.hooks import Hook
from gpuprov.lab.aws.request import ApiRequest

_EFA: Final = "efa"
_ONLY: Final = "efa-only"
_COMBINATION: Final = "InvalidParameterCombination"
_PLACES: Final = 64
"""More than the interfaces of any card: where moto keeps an interface is its card times this, and its index."""


def efa_hooks() -> tuple[Hook, ...]:
    """Return the hooks of interfaces; they stand around those of instances."""
    return (
        Hook(EC2Backend, "run_instances", _run_instances),
        Hook(Instance, "prep_nics", _prep_nics),
        Hook(NetworkInterface, "attachment", _attachment),
        Hook(LaunchTemplateBackend, "describe_launch_templates", _describe_templates),
    )


def template_parts(backend: Any, call: ApiRequest) -> tuple[str, ...]:
    """The launch template of a call of RunInstances, and what that names: ids of subnets and groups."""
    head = "LaunchTemplate."
    asked = {name.removeprefix(head): value for name, value in call.parameters.items() if name.startswith(head)}
    if call.action != "RunInstances" or not asked:
        return ()
    known = asked.get("LaunchTemplateId") or backend.launch_template_name_to_ids.get(asked.get("LaunchTemplateName"))
    if known not in backend.launch_templates:
        return ()
    template = backend.launch_templates[known]
    nics = template.get_version(asked.get("Version", "$Default")).data.get("NetworkInterfaces", [])
    named = [id_ for nic in nics for id_ in (nic.get("SubnetId"), *(nic.get("Groups") or ())) if id_]
    return (str(template.id), *dict.fromkeys(named))


def _run_instances(original: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
    """EC2: the interfaces of a launch template count where the call names none, and are judged as the call's own."""
    asked = kwargs.get("launch_template")
    data = backend._get_template_from_args(asked).data if asked else {}  # noqa: SLF001 (moto has no other way)
    if data.get("NetworkInterfaces") and not kwargs.get("nics"):
        for given, what in (
            (kwargs.get("subnet_id"), "subnet ID"),
            (kwargs.get("security_group_ids"), "security groups"),
        ):
            if given:
                text = f"Network interfaces and an instance-level {what} may not be specified on the same request"
                raise refusal(_COMBINATION, text)
        kwargs["nics"] = data["NetworkInterfaces"]
    _judge(backend, kwargs.get("nics") or [], kwargs.get("instance_type") or "")
    return original(backend, *args, **kwargs)


def _judge(backend: Any, nics: list[dict[str, Any]], type_: str) -> None:
    """Refuse a layout that EC2 refuses.

    The codes are of EC2's list of error codes; which of them stands for what, and the texts, are from memory where no
    document says it.

    Raises:
        Exception: EC2's error.
    """
    if not nics:
        return
    places = Counter(_place(nic) for nic in nics)
    twice = next((place for place, count in places.items() if count > 1), None)
    if twice is not None:
        text = f"Each network interface needs a place of its own: there are two at card {twice[0]}, index {twice[1]}."
        raise refusal(_COMBINATION, text)
    primary = next((nic for nic in nics if _place(nic) == (0, 0)), None)
    if primary is None:
        raise refusal(_COMBINATION, "The primary network interface must be at network card 0, device index 0.")
    if _kind(primary) == _ONLY:
        raise refusal(_COMBINATION, "An EFA-only network interface cannot be the primary one.")
    if len(nics) > 1 and any(nic.get("AssociatePublicIpAddress") is not None for nic in nics):
        text = (
            "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces"
        )
        raise refusal(_COMBINATION, text)
    zones = {backend.get_subnet(nic["SubnetId"]).availability_zone for nic in nics if nic.get("SubnetId")}
    if len(zones) > 1:
        raise refusal(_COMBINATION, f"Network interfaces are in different zones: {', '.join(sorted(zones))}.")
    judge_cards(nics, type_)


def judge_cards(nics: list[dict[str, Any]], type_: str) -> None:
    """Refuse what the network cards of a type do not take, as DescribeInstanceTypes tells them.

    Raises:
        Exception: EC2's error.
    """
    network = INSTANCE_TYPES.get(type_, {}).get("NetworkInfo", {})
    adapters = [nic for nic in nics if _kind(nic) in {_EFA, _ONLY}]
    if adapters and not network.get("EfaSupported"):
        raise refusal(_COMBINATION, f"{type_} instances do not support Elastic Fabric Adapters.")
    most = network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    if len(adapters) > most > 0:
        raise refusal("AttachmentLimitExceeded", f"{type_} takes {most} Elastic Fabric Adapters, not {len(adapters)}.")
    cards = {card["NetworkCardIndex"]: card for card in network.get("NetworkCards", [])}
    of_card = Counter(_place(nic)[0] for nic in nics)
    for nic in nics:
        index, kind = _place(nic)[0], _kind(nic)
        card = cards.get(index)
        if card is None and cards:
            raise refusal("InvalidParameterValue", f"{type_} has no network card {index}.")
        if card is not None and kind not in card.get("InterfaceTypes", [kind]):
            raise refusal(_COMBINATION, f"Network card {index} of {type_} takes no interface of type {kind}.")
        if card is not None and of_card[index] > card["MaximumNetworkInterfaces"]:
            text = f"Network card {index} of {type_} takes {card['MaximumNetworkInterfaces']} interfaces."
            raise refusal("AttachmentLimitExceeded", text)
    of_efa = Counter(_place(nic)[0] for nic in adapters)
    crowded = next((card for card, count in of_efa.items() if count > 1), None)
    if crowded is not None:
        raise refusal(_COMBINATION, f"Network card {crowded} of {type_} takes one Elastic Fabric Adapter.")


def _prep_nics(original: Any, instance: Any, nic_spec: list[dict[str, Any]], *args: Any, **kwargs: Any) -> Any:
    """EC2: an interface has a card and an index; moto keeps one for each index."""
    others = [nic for nic in nic_spec if _place(nic) != (0, 0) and not nic.get("NetworkInterfaceId")]
    first = [nic for nic in nic_spec if nic not in others]
    result = original(instance, first, *args, **kwargs)
    for nic in first:
        if 0 in instance.nics and _place(nic) == (0, 0):
            instance.nics[0].interface_type = _kind(nic)
    for nic in others:
        _add(instance, nic)
    return result


def _add(instance: Any, nic: dict[str, Any]) -> None:
    card, device = _place(nic)
    made = instance.ec2_backend.create_network_interface(
        instance.ec2_backend.get_subnet(nic["SubnetId"]) if nic.get("SubnetId") else instance.nics[0].subnet,
        None,
        device_index=device,
        group_ids=nic.get("Groups") or [],
        description=nic.get("Description"),
    )
    instance.attach_eni(made, card * _PLACES + device)
    made.device_index, made.lab_card, made.interface_type = device, card, _kind(nic)
    # Only the first one goes with its instance unless the call says so.
    made.lab_goes = nic.get("DeleteOnTermination") is True
    if made.interface_type == _ONLY:
        # It has no address.
        made.private_ip_address, made.private_ip_addresses = None, []


def _attachment(original: Any, interface: Any) -> Any:
    """EC2: an attachment tells its card; moto says 0."""
    found = original(interface)
    if found is not None:
        found.network_card_index = getattr(interface, "lab_card", 0)
    return found


def _describe_templates(original: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
    """EC2: a template shows the tags that it has now; moto those that it was made with."""
    found = original(backend, *args, **kwargs)
    for template in found:
        template.tags = template.get_tags()
    return found


def _place(nic: dict[str, Any]) -> tuple[int, int]:
    """The card and the index of an interface."""
    return int(nic.get("NetworkCardIndex") or 0), int(nic.get("DeviceIndex") or 0)


def _kind(nic: dict[str, Any]) -> str:
    return str(nic.get("InterfaceType") or "interface")
