"""Draws a lab from a number: the same seed gives the same names, addresses, GPUs and releases on every machine."""

import hashlib
import random
from dataclasses import replace
from datetime import date, timedelta
from ipaddress import IPv4Address, IPv4Network

from gpuprov.lab.description import CloudDescription, GpuDescription, LabDescription, NodeDescription
from gpuprov.lab.gpus import DRIVER_RELEASES, INSTANCES, MODELS

MAX_NODES = 64
"""More nodes than this do not fit the lab's address plan; 32 at once were tried (2026-11-30)."""
RELEASES_ON_OFFER = 3
"""How many driver releases a lab offers: enough for upgrade, rollback and one withdrawn."""
_TRAIN_NAMES = ("gpu", "train", "hgx", "ml", "rack2-gpu")
_CPU_NAMES = ("login", "build", "cpu", "head")
_CLOUD_NAMES = ("cloud", "burst", "ec2-gpu", "p", "aws-train")
"""None is a rack's, so that no host of the cloud can have the name of one of the rack."""
_CLOUD_HOSTS = 2
_PORTS = range(20000, 32000)
"""Above what services use, below where Linux takes the ports of outgoing connections."""
_PUBLIC = IPv4Network("198.18.0.0/15")
"""For benchmarks (RFC 2544): routed nowhere, and no address of anybody."""
_IMAGE_EPOCH = date(2019, 8, 2)
"""The day 0 of the number at the end of an image's name: debian-12-amd64-20240717-1811 and -20251006-2257."""
_ID_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_ID_LENGTH = 5


def draw(seed: int, *, nodes: int = 4, os: str = "debian-12", cloud: bool = True) -> LabDescription:
    """Draw a lab with this many nodes.

    Two nodes or more always include one host without GPUs; from four nodes on it is one or two. The rack of a seed is
    the same with and without a cloud, but for a number of GPUs that no instance type has: the next larger one is taken.

    Args:
        seed: any integer; printed by the caller, so that a person can have the same lab again.
        nodes: how many nodes, 1 to `MAX_NODES`.
        os: the OS id of every node.
        cloud: whether a simulated AWS belongs to it.

    Raises:
        ValueError: `nodes` is out of range.
    """
    if not 1 <= nodes <= MAX_NODES:
        raise ValueError(f"a lab has 1 to {MAX_NODES} nodes, not {nodes}")
    chance = random.Random(f"gpuprov-lab-{seed}")  # noqa: S311 (names and sizes, no secret)
    subnet = _draw_subnet(chance)
    gpu = _draw_gpu(chance)
    if cloud:
        gpu = _offered(gpu)
    branch, releases = _draw_releases(chance)
    cpu_count = 0 if nodes == 1 else chance.choice((1, 2)) if nodes > 3 else 1  # noqa: PLR2004 (see the docstring)
    offset = chance.randrange(10, 200 - nodes)
    train = _draw_names(chance, _TRAIN_NAMES, nodes - cpu_count)
    cpu = _draw_names(chance, _CPU_NAMES, cpu_count)
    members = [(name, "train", gpu) for name in train] + [(name, "cpu", None) for name in cpu]
    return LabDescription(
        id=lab_id(seed),
        seed=seed,
        subnet=str(subnet),
        router=str(subnet[1]),
        host=str(subnet[254]),
        nodes=tuple(
            NodeDescription(name=name, os=os, address=str(subnet[offset + place]), group=group, gpu=shown)
            for place, (name, group, shown) in enumerate(members)
        ),
        driver_branch=branch,
        driver_releases=releases,
        cloud=_draw_cloud(seed, subnet, gpu, os) if cloud else None,
    )


def move(lab: LabDescription, attempt: int) -> LabDescription:
    """Give a lab another address range, for a machine on which the drawn one is in use.

    Args:
        lab: the lab; everything but its addresses stays.
        attempt: 1 for the first range after the drawn one, and so on.
    """
    subnet = _draw_subnet(random.Random(f"gpuprov-lab-{lab.seed}-{lab.id}-{attempt}"))  # noqa: S311 (no secret)
    first = int(lab.network[0])

    def moved(address: str) -> str:
        return str(subnet[int(IPv4Address(address)) - first])

    nodes = tuple(replace(node, address=moved(node.address)) for node in lab.nodes)
    return replace(lab, subnet=str(subnet), router=moved(lab.router), host=moved(lab.host), nodes=nodes)


def move_cloud(lab: LabDescription, attempt: int) -> LabDescription:
    """Give a lab's cloud other address ranges and ports, for a machine on which one of the drawn is in use.

    Args:
        lab: the lab; everything but these stays, and a lab without a cloud stays as it is.
        attempt: 1 for the first ones after the drawn ones, and so on.
    """
    if lab.cloud is None:
        return lab
    chance = random.Random(f"gpuprov-lab-cloud-{lab.seed}-{lab.id}-{attempt}")  # noqa: S311 (no secret)
    cidr, public, api, plugin = _draw_places(chance, lab.network)
    return replace(lab, cloud=replace(lab.cloud, cidr=cidr, public_range=public, api_port=api, plugin_port=plugin))


def lab_id(seed: int) -> str:
    """Return the short id that a seed gives its lab."""
    digest = hashlib.sha256(f"gpuprov-lab-{seed}".encode()).digest()
    return "".join(_ID_LETTERS[byte % len(_ID_LETTERS)] for byte in digest[:_ID_LENGTH])


def _draw_subnet(chance: random.Random) -> IPv4Network:
    """Pick a private /24."""
    if chance.random() < 0.5:  # noqa: PLR2004 (a coin)
        return IPv4Network((f"10.{chance.randrange(1, 255)}.{chance.randrange(256)}.0", 24))
    return IPv4Network((f"172.{chance.randrange(16, 32)}.{chance.randrange(256)}.0", 24))


def _draw_gpu(chance: random.Random) -> GpuDescription:
    """Pick a GPU model and how many of them a server has."""
    row = chance.choice(MODELS)
    return GpuDescription(
        model=row.model,
        nvml_name=row.nvml_name,
        count=chance.choice(row.counts),
        nvswitch=row.nvswitch,
        pci_device=row.pci_device,
        memory_mib=row.memory_mib,
    )


def _offered(gpu: GpuDescription) -> GpuDescription:
    """Return the GPUs in the least number, not below the drawn one, that an instance type has."""
    counts = sorted(row.count for row in INSTANCES if row.model == gpu.model and row.count >= gpu.count)
    return replace(gpu, count=counts[0])


def _draw_cloud(seed: int, subnet: IPv4Network, gpu: GpuDescription, os: str) -> CloudDescription:
    """Draw the account, with a chance of its own: the rack stays as it was drawn before there was a cloud."""
    chance = random.Random(f"gpuprov-lab-cloud-{seed}")  # noqa: S311 (names and sizes, no secret)
    rows = [row for row in INSTANCES if (row.model, row.count) == (gpu.model, gpu.count)]
    row = chance.choice(rows)
    published = date(2026, 1, 1) + timedelta(days=chance.randrange(300))
    cidr, public, api, plugin = _draw_places(chance, subnet)
    return CloudDescription(
        region=chance.choice(row.regions),
        account=f"{chance.randrange(10**11, 10**12)}",
        cidr=cidr,
        public_range=public,
        api_port=api,
        plugin_port=plugin,
        instance=row.type,
        hosts=tuple(_draw_names(chance, _CLOUD_NAMES, _CLOUD_HOSTS)),
        base_image=f"ami-{chance.getrandbits(68):017x}",
        base_image_name=f"{os}-amd64-{published:%Y%m%d}-{(published - _IMAGE_EPOCH).days}",
    )


def _draw_places(chance: random.Random, subnet: IPv4Network) -> tuple[str, str, int, int]:
    """Pick the private range, the public range and the ports of API and plugin; the rack's range stays apart."""
    while True:
        first = chance.choice((f"10.{chance.randrange(1, 255)}", f"172.{chance.randrange(16, 32)}"))
        cidr = IPv4Network(f"{first}.0.0/{chance.choice((16, 18, 20))}")
        if not cidr.overlaps(subnet):
            break
    public = IPv4Network((int(_PUBLIC[0]) + 256 * chance.randrange(512), 24))
    api, plugin = chance.sample(_PORTS, 2)
    return str(cidr), str(public), api, plugin


def _draw_releases(chance: random.Random) -> tuple[str, tuple[str, ...]]:
    """Pick a driver branch and consecutive releases of it."""
    branch = chance.choice(sorted(DRIVER_RELEASES))
    releases = DRIVER_RELEASES[branch]
    first = chance.randrange(len(releases) - RELEASES_ON_OFFER + 1)
    return branch, releases[first : first + RELEASES_ON_OFFER]


def _draw_names(chance: random.Random, prefixes: tuple[str, ...], count: int) -> list[str]:
    """Number `count` hosts under one prefix, as a rack does."""
    prefix = chance.choice(prefixes)
    width = chance.choice((1, 2, 3))
    first = chance.randrange(1, 10)
    hyphen = chance.choice(("", "-"))
    return [f"{prefix}{hyphen}{number:0{width}d}" for number in range(first, first + count)]
