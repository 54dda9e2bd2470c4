"""The lab's network: a router in a namespace of its own, one link per node, and a way out by the machine's uplink."""

import json
from collections.abc import Sequence
from ipaddress import IPv4Network

from gpuprov.lab.command import run
from gpuprov.lab.description import LabDescription
from gpuprov.lab.names import NETNS_FOLDER, LabNames

_UP = "up0"
"""The router's end of its link to the machine."""
_LAST = "metric 4096"
"""A route that gives way to every other one to the same range."""
METADATA = "169.254.0.0/16"
"""Never forwarded: on a cloud machine a node would reach the real metadata service behind it."""


def used_by(subnet: IPv4Network, *, but: str | None = None) -> str | None:
    """Return what on this machine uses a part of an address range already; None when it is free.

    Args:
        subnet: the range.
        but: links whose names begin with this do not count.
    """
    for route in json.loads(run(["ip", "-json", "-4", "route", "show", "table", "all"])):
        target = route["dst"]
        if but is not None and route.get("dev", "").startswith(but):
            continue
        if target != "default" and IPv4Network(target, strict=False).overlaps(subnet):
            return f"{route.get('dev', route.get('type', 'a route'))} ({target})"
    return None


def make_router(description: LabDescription) -> None:
    """Make the router, its link to the machine, and the rules for what passes."""
    names = LabNames(description.id)
    router = names.router_namespace
    run(["ip", "netns", "add", router])
    inside(
        router,
        ["sh", "-c", "cd /proc/sys/net/ipv4 && echo 1 >ip_forward && echo 1 >conf/all/proxy_arp"],
    )
    run(["ip", "link", "add", names.host_link, "type", "veth", "peer", "name", _UP, "netns", router])
    batch(
        [
            f"address add {description.host}/32 peer {description.router}/32 dev {names.host_link}",
            f"link set {names.host_link} up",
            f"route add {description.subnet} via {description.router} dev {names.host_link} onlink",
            *(
                f"route add {held} via {description.router} dev {names.host_link} onlink {_LAST}"
                for held in _held(description)
            ),
        ]
    )
    batch(
        [
            "link set lo up",
            f"address add {description.router}/32 peer {description.host}/32 dev {_UP}",
            f"link set {_UP} up",
            f"route add default via {description.host} dev {_UP} onlink",
        ],
        namespace=router,
    )
    run(["nft", "-f", "-"], stdin=machine_rules(description, uplinks()))
    inside(router, ["nft", "-f", "-"], stdin=router_rules(description))


def make_node_link(description: LabDescription, place: int) -> None:
    """Make the namespace and link of the node at this place of the description."""
    names = LabNames(description.id)
    node = description.nodes[place]
    space = names.node_namespace(node.name)
    link = names.node_link(place)
    run(["ip", "netns", "add", space])
    run(
        [
            "ip",
            "-n",
            names.router_namespace,
            "link",
            "add",
            link,
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            space,
        ]
    )
    inside(names.router_namespace, ["sh", "-c", f"echo 0 >/proc/sys/net/ipv4/neigh/{link}/proxy_delay"])
    batch([f"link set {link} up", f"route add {node.address}/32 dev {link}"], namespace=names.router_namespace)
    batch(
        [
            "link set lo up",
            f"address add {node.address}/{description.network.prefixlen} dev eth0",
            "link set eth0 up",
            f"route add default via {description.router} dev eth0",
        ],
        namespace=space,
    )


def inside(namespace: str, argv: Sequence[str], *, stdin: str | None = None) -> str:
    """Run a program of the machine in a network namespace."""
    return run(["nsenter", f"--net={NETNS_FOLDER / namespace}", *argv], stdin=stdin)


def uplinks() -> tuple[str, ...]:
    """Return the links that the machine's default routes use; none when it has no way out."""
    routes = json.loads(run(["ip", "-json", "-4", "route", "show", "default"]))
    return tuple(sorted({route["dev"] for route in routes if "dev" in route}))


def machine_rules(description: LabDescription, outward: Sequence[str]) -> str:
    """Return the nftables rules on the machine: translate what leaves by the uplink, and only that.

    A rule by destination address would also rewrite packets between nodes where br_netfilter is on.
    """
    names = LabNames(description.id)
    cloud = description.cloud
    # A VPC's router sends everything with an address of the public range.
    sources = [description.subnet] if cloud is None else [description.subnet, cloud.public_range]
    links = [names.host_link] if cloud is None else [names.host_link, f"{names.vpc_links}*"]
    translate = "".join(
        f'    ip saddr {source} oifname "{link}" masquerade\n' for source in sources for link in outward
    )
    guard = "".join(f'    iifname "{link}" ip daddr {METADATA} drop\n' for link in links)
    return (
        f"table inet {names.table} {{\n"
        "  chain outward {\n    type nat hook postrouting priority 100;\n"
        f"{translate}  }}\n"
        "  chain through {\n    type filter hook forward priority 0;\n"
        f"{guard}  }}\n}}\n"
    )


def router_rules(description: LabDescription) -> str:
    """Return the nftables rules in the router: what is for an address of the cloud that nobody has ends here."""
    nobody = "".join(f'    iifname "{_UP}" ip daddr {held} drop\n' for held in _held(description))
    return (
        f"table inet {LabNames(description.id).table} {{\n"
        "  chain through {\n    type filter hook forward priority 0;\n"
        f"    ip daddr {METADATA} counter drop\n{nobody}  }}\n}}\n"
    )


def _held(description: LabDescription) -> tuple[str, ...]:
    """Return the cloud's ranges, which the lab holds from its beginning, so that no other lab takes them."""
    return () if description.cloud is None else (description.cloud.cidr, description.cloud.public_range)


def batch(lines: Sequence[str], *, namespace: str = "") -> None:
    """Run several `ip` commands as one process."""
    within = ["-n", namespace] if namespace else []
    run(["ip", *within, "-batch", "-"], stdin="\n".join(lines) + "\n", doing=f"ip {'; '.join(lines)}")
