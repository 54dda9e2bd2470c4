"""Draws a lab from a number: the same seed gives the same names, addresses, GPUs and releases on every machine."""

import hashlib
import random
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

from gpuprov.lab.description import GpuDescription, LabDescription, NodeDescription
from gpuprov.lab.gpus import DRIVER_RELEASES, MODELS

MAX_NODES = 64
"""More nodes than this do not fit the lab's address plan; 32 at once were tried (2026-11-30)."""
RELEASES_ON_OFFER = 3
"""How many driver releases a lab offers: enough for upgrade, rollback and one withdrawn."""
_TRAIN_NAMES = ("gpu", "train", "hgx", "ml", "rack2-gpu")
_CPU_NAMES = ("login", "build", "cpu", "head")
_ID_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_ID_LENGTH = 5


def draw(seed: int, *, nodes: int = 4, os: str = "debian-12") -> LabDescription:
    """Draw a lab with this many nodes.

    Two nodes or more always include one host without GPUs; from four nodes on it is one or two.

    Args:
        seed: any integer; printed by the caller, so that a person can have the same lab again.
        nodes: how many nodes, 1 to `MAX_NODES`.
        os: the OS id of every node.

    Raises:
        ValueError: `nodes` is out of range.
    """
    if not 1 <= nodes <= MAX_NODES:
        raise ValueError(f"a lab has 1 to {MAX_NODES} nodes, not {nodes}")
    chance = random.Random(f"gpuprov-lab-{seed}")  # noqa: S311 (names and sizes, no secret)
    subnet = _draw_subnet(chance)
    gpu = _draw_gpu(chance)
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
