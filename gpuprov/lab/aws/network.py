"""A VPC's network: a router in a namespace of its own, one link per instance, a way out by the machine.

The router is internet gateway, NAT gateway and metadata service in one. An instance with a public address is reached
by it (the router translates it to the private one; the instance sees the client's own address) and leaves the VPC with
it; one without leaves with the router's address. Private addresses are routed from the machine too, as over a VPN, as
far as nothing else on the machine uses them: of two instances with one address the one in the older VPC has it.
"""

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path

from gpuprov.lab import cgroup
from gpuprov.lab.aws import securitygroups, vpcs
from gpuprov.lab.aws.securitygroups import InstanceRules
from gpuprov.lab.aws.vpcs import InstanceLink, Vpc
from gpuprov.lab.command import failure, run
from gpuprov.lab.description import CloudDescription, LabDescription
from gpuprov.lab.names import NETNS_FOLDER, LabNames
from gpuprov.lab.network import METADATA, batch, inside, used_by
from gpuprov.lab.node import start_service

METADATA_ADDRESS = "169.254.169.254"
_UP = "up0"
"""The router's end of its link to the machine."""
READY = "metadata.ready"
"""The file in a VPC's folder that its metadata service writes when it listens."""
_SERVER_SECONDS = 60.0
_POLL = 0.05


def cloud_of(lab: LabDescription) -> CloudDescription:
    """Return the lab's cloud.

    Raises:
        GpuprovError: the lab has none.
    """
    if lab.cloud is None:
        raise failure(f"the lab {lab.id} has no cloud", address=f"lab {lab.id}")
    return lab.cloud


def router_address(lab: LabDescription, vpc: Vpc) -> str:
    """Return the public address of a VPC's router."""
    return str(cloud_of(lab).public_network[vpc.number])


def make_vpc(lab: LabDescription, vpc_id: str, cidr: str) -> None:
    """Make the router of a VPC, with its link to the machine and its metadata service; closed for every instance.

    Raises:
        GpuprovError: it cannot be made; what was made of it is removed again.
    """
    with vpcs.numbering(lab):
        used = {vpc.number for vpc in vpcs.read_vpcs(lab)}
        vpc = Vpc(id=vpc_id, cidr=cidr, number=vpcs.free_number(used, limit=vpcs.MAX_VPCS, what="VPCs"))
        vpcs.write_vpc(lab, vpc)
    try:
        _make_router(lab, vpc)
        _serve_metadata(lab, vpc)
    except BaseException:
        remove_vpc(lab, vpc_id)
        raise


def remove_vpc(lab: LabDescription, vpc_id: str) -> None:
    """Remove a VPC's router and the links to its instances; nothing happens when there is none."""
    names = LabNames(lab.id)
    for link in vpcs.read_links(lab, vpc_id):
        remove_instance_link(lab, link.instance_id)
    cgroup.remove(names.vpc_cgroup(vpc_id))
    _delete_namespace(names.vpc_namespace(vpc_id))
    shutil.rmtree(names.vpc_folder(vpc_id), ignore_errors=True)


def make_instance_link(
    lab: LabDescription, vpc_id: str, instance_id: str, private_address: str, public_address: str | None
) -> None:
    """Make the namespace of an instance and its link to the router of its VPC; `eth0` has the private address.

    Raises:
        GpuprovError: the lab has no such VPC, or the link cannot be made; nothing is left of it then.
    """
    names, vpc = LabNames(lab.id), vpcs.read_vpc(lab, vpc_id)
    with vpcs.numbering(lab):
        used = {link.number for link in vpcs.read_links(lab, vpc_id)}
        number = vpcs.free_number(used, limit=vpcs.MAX_LINKS, what=f"links in {vpc_id}")
        made = InstanceLink(
            instance_id=instance_id,
            vpc_id=vpc_id,
            number=number,
            private_address=private_address,
            public_address=None,
        )
        vpcs.write_link(lab, made)
    try:
        _make_link(names, vpc, made)
        _route_private(lab, vpc, made, there=True)
        set_public_address(lab, instance_id, public_address)
    except BaseException:
        remove_instance_link(lab, instance_id)
        raise


def remove_instance_link(lab: LabDescription, instance_id: str) -> None:
    """Remove an instance's link and namespace; nothing happens when there is none."""
    names, link = LabNames(lab.id), vpcs.find_link(lab, instance_id)
    if link is not None:
        set_public_address(lab, instance_id, None)
        _route_private(lab, vpcs.read_vpc(lab, link.vpc_id), link, there=False)
        _change_elements(names, link.vpc_id, [_source(names, link)], there=False)
    _delete_namespace(names.node_namespace(instance_id))
    if link is not None:
        vpcs.forget_link(lab, link)


def set_public_address(lab: LabDescription, instance_id: str, address: str | None) -> None:
    """Give an instance a public address in place of the one that it has; None only takes it away.

    Raises:
        GpuprovError: the instance has no link, or the address is not one of the lab's for instances.
    """
    link = vpcs.find_link(lab, instance_id)
    if link is None:
        raise failure(f"the instance {instance_id} has no link", address=f"lab {lab.id}")
    if address is not None and address not in public_addresses(cloud_of(lab)):
        raise failure(f"{address} is no public address of the lab's instances", address=f"lab {lab.id}")
    vpc = vpcs.read_vpc(lab, link.vpc_id)
    if link.public_address is not None:
        _map_public(lab, vpc, link, link.public_address, there=False)
        vpcs.write_link(lab, replace(link, public_address=None))
    if address is not None:
        vpcs.write_link(lab, replace(link, public_address=address))
        _map_public(lab, vpc, link, address, there=True)


def set_rules(lab: LabDescription, vpc_id: str, rules: Sequence[InstanceRules]) -> None:
    """Put the security groups' rules of all instances of a VPC in place of the earlier ones, in one step.

    Instances without a link are passed over; a link without rules lets nothing pass.

    Raises:
        GpuprovError: the lab has no such VPC, or the kernel refuses the rules: the earlier ones stay.
    """
    names, vpc = LabNames(lab.id), vpcs.read_vpc(lab, vpc_id)
    by_instance = {each.instance_id: each for each in rules}
    links = {
        names.instance_link(link.number): by_instance[link.instance_id]
        for link in vpcs.read_links(lab, vpc.id)
        if link.instance_id in by_instance
    }
    inside(names.vpc_namespace(vpc.id), ["nft", "-f", "-"], stdin=securitygroups.table(names, links))


def public_addresses(cloud: CloudDescription) -> frozenset[str]:
    """Return all public addresses that instances may have."""
    network = cloud.public_network
    return frozenset(str(network[number]) for number in range(vpcs.MAX_VPCS + 1, network.num_addresses - 1))


def mac_of(instance_id: str) -> str:
    """Return the hardware address of an instance's `eth0`: its own, and the same at every boot."""
    digest = hashlib.sha256(instance_id.encode()).hexdigest()
    return ":".join(("02", *(digest[place : place + 2] for place in range(0, 10, 2))))


def router_rules(lab: LabDescription, vpc: Vpc) -> str:
    """Return the nftables rules of a VPC's router, without security groups."""
    names = LabNames(lab.id)
    return (
        f"table inet {names.table} {{\n"
        "  map private { type ipv4_addr : ipv4_addr; }\n"
        "  map public { type ipv4_addr : ipv4_addr; }\n"
        "  set sources { type ifname . ipv4_addr; }\n"
        "  chain inward {\n    type nat hook prerouting priority -100;\n"
        "    dnat ip to ip daddr map @private\n  }\n"
        "  chain outward {\n    type nat hook postrouting priority 100;\n"
        f'    oifname "{_UP}" snat ip to ip saddr map @public\n'
        f'    oifname "{_UP}" ip saddr {vpc.cidr} snat ip to {router_address(lab, vpc)}\n  }}\n'
        "  chain through {\n    type filter hook forward priority 0;\n"
        f"    ip daddr {METADATA} counter drop\n"
        # As on AWS (source/destination check): an instance sends with its own address only.
        f'    iifname "{names.instance_links}*" iifname . ip saddr != @sources counter drop\n  }}\n}}\n'
    )


def _make_router(lab: LabDescription, vpc: Vpc) -> None:
    """Make a router's namespace, links, routes and rules."""
    names, own = LabNames(lab.id), router_address(lab, vpc)
    router, link = names.vpc_namespace(vpc.id), names.vpc_link(vpc.number)
    run(["ip", "netns", "add", router])
    inside(router, ["sh", "-c", "cd /proc/sys/net/ipv4 && echo 1 >ip_forward && echo 1 >conf/all/proxy_arp"])
    run(["ip", "link", "add", link, "type", "veth", "peer", "name", _UP, "netns", router])
    batch([f"address add {lab.host}/32 peer {own}/32 dev {link}", f"link set {link} up"])
    batch(
        [
            "link set lo up",
            f"address add {METADATA_ADDRESS}/32 dev lo",
            f"address add {vpc.gateway}/32 dev lo",
            f"address add {own}/32 peer {lab.host}/32 dev {_UP}",
            f"link set {_UP} up",
            f"route add default via {lab.host} dev {_UP} onlink",
        ],
        namespace=router,
    )
    inside(router, ["nft", "-f", "-"], stdin=router_rules(lab, vpc) + securitygroups.table(names, {}))


def _make_link(names: LabNames, vpc: Vpc, made: InstanceLink) -> None:
    """Make an instance's namespace and link."""
    router, space = names.vpc_namespace(vpc.id), names.node_namespace(made.instance_id)
    link, address = names.instance_link(made.number), made.private_address
    run(["ip", "netns", "add", space])
    peer = ["type", "veth", "peer", "name", "eth0", "address", mac_of(made.instance_id), "netns", space]
    run(["ip", "-n", router, "link", "add", link, *peer])
    inside(router, ["sh", "-c", f"echo 0 >/proc/sys/net/ipv4/neigh/{link}/proxy_delay"])
    batch([f"link set {link} up", f"route add {address}/32 dev {link}"], namespace=router)
    batch(
        [
            "link set lo up",
            f"address add {address}/{vpc.network.prefixlen} dev eth0",
            "link set eth0 up",
            f"route add default via {vpc.gateway} dev eth0",
        ],
        namespace=space,
    )
    _change_elements(names, vpc.id, [_source(names, made)], there=True)


def _map_public(lab: LabDescription, vpc: Vpc, link: InstanceLink, public: str, *, there: bool) -> None:
    """Translate and route a public address, or no more."""
    names = LabNames(lab.id)
    pairs = [("private", f"{public} : {link.private_address}"), ("public", f"{link.private_address} : {public}")]
    _change_elements(names, vpc.id, pairs, there=there)
    _route(lab, vpc, public, there=there)


def _route_private(lab: LabDescription, vpc: Vpc, link: InstanceLink, *, there: bool) -> None:
    """Route a private address from the machine, or no more; not where something else on the machine has it."""
    if not there or used_by(IPv4Network(link.private_address), but=LabNames(lab.id).prefix) is None:
        _route(lab, vpc, link.private_address, there=there)


def _route(lab: LabDescription, vpc: Vpc, address: str, *, there: bool) -> None:
    """Route an address from the machine to a VPC's router, or no more; a route that is as it should be stays."""
    link = LabNames(lab.id).vpc_link(vpc.number)
    if not Path("/sys/class/net", link).exists():
        return
    if there:
        way = f"via {router_address(lab, vpc)} dev {link} src {lab.host} onlink metric {vpc.number}"
        batch([f"route replace {address}/32 {way}"])
    elif json.loads(run(["ip", "-json", "-4", "route", "show", f"{address}/32", "dev", link])):
        batch([f"route delete {address}/32 dev {link}"])


def _source(names: LabNames, link: InstanceLink) -> tuple[str, str]:
    """Return the set and the element that let an instance send with its own address."""
    return "sources", f'"{names.instance_link(link.number)}" . {link.private_address}'


def _change_elements(names: LabNames, vpc_id: str, elements: Sequence[tuple[str, str]], *, there: bool) -> None:
    """Add elements to sets and maps of a router, or delete them; nothing happens when the router has gone."""
    router = names.vpc_namespace(vpc_id)
    if not (NETNS_FOLDER / router).exists():
        return
    # Deleting what is not there is an error, so that it is added first.
    verbs = ("add",) if there else ("add", "delete")
    lines = [f"{verb} element inet {names.table} {where} {{ {what} }}" for verb in verbs for where, what in elements]
    inside(router, ["nft", "-f", "-"], stdin="\n".join(lines) + "\n")


def _delete_namespace(name: str) -> None:
    """Delete a network namespace, with its end of every link; nothing happens when there is none."""
    if (NETNS_FOLDER / name).exists():
        run(["ip", "netns", "delete", name])


def _serve_metadata(lab: LabDescription, vpc: Vpc) -> None:
    """Start the metadata service in the router, and wait until it listens."""
    names = LabNames(lab.id)
    folder = names.vpc_folder(vpc.id)
    cgroup.create(names.vpc_cgroup(vpc.id))
    enter = ["nsenter", f"--net={NETNS_FOLDER / names.vpc_namespace(vpc.id)}", sys.executable, "-m"]
    start_service([*enter, "gpuprov.lab.aws.metadata", lab.id, vpc.id], log=folder / "metadata.log")
    deadline = time.monotonic() + _SERVER_SECONDS
    while not (folder / READY).exists():
        if time.monotonic() > deadline:
            log = (folder / "metadata.log").read_text(encoding="utf-8", errors="replace")
            raise failure(f"the metadata service of {vpc.id} does not start", detail=log[-2000:])
        time.sleep(_POLL)
