"""How many hosts are changed at a time, and which: batches of one pool, and the rounds of all pools."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TypeVar

from gpuprov.rollout.types import Target

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """The batches of all pools that are changed at the same time."""

    targets: tuple[Target, ...]
    canary: bool = False
    """Whether these hosts are tried before all others, so that one that fails ends the rollout."""


def batch_size(batch: str, hosts: int) -> int:
    """How many of `hosts` hosts one batch holds.

    Args:
        batch: a whole number such as `2`, or a percentage such as `25%`, as the spec checked it.
        hosts: how many hosts the pool has in this run.

    Returns:
        At least 1; a percentage is rounded down, so that a batch is never larger than was allowed.
    """
    if batch.endswith("%"):
        return max(1, math.floor(hosts * int(batch[:-1]) / 100))
    return max(1, int(batch))


def in_batches(items: Sequence[Item], size: int, domain: Callable[[Item], str] | None = None) -> list[tuple[Item, ...]]:
    """Cut hosts into batches, in their order.

    Args:
        items: the hosts.
        size: most of one batch.
        domain: failure domain of a host; then no batch has two hosts of one domain, and the domains with the most
            hosts left go first, so that there are as few batches as can be.
    """
    if domain is None:
        return [tuple(items[start : start + size]) for start in range(0, len(items), size)]
    left: dict[str, list[Item]] = {}
    for item in items:
        left.setdefault(domain(item), []).append(item)
    batches = []
    while any(left.values()):
        fullest = sorted((name for name in left if left[name]), key=lambda name: -len(left[name]))
        batches.append(tuple(left[name].pop(0) for name in fullest[:size]))
    return batches


def in_rounds(targets: Sequence[Target]) -> list[Round]:
    """The rounds of a rollout: the canaries of all pools alone, then the n-th batches of all pools together.

    Each pool keeps its own limit. A percentage is of the pool's hosts that this run changes, canaries among them.
    """
    pools: dict[str, list[Target]] = {}
    for target in targets:
        pools.setdefault(target.host.pool, []).append(target)
    canaries, batches = [], []
    for members in pools.values():
        steps = members[0].steps
        size, first = batch_size(steps.batch, len(members)), steps.canary or 0
        canaries.append(in_batches(members[:first], min(size, max(first, 1)), _domain(members[0])))
        batches.append(in_batches(members[first:], size, _domain(members[0])))
    return [
        *(Round(targets=round_, canary=True) for round_ in _together(canaries)),
        *(Round(targets=round_) for round_ in _together(batches)),
    ]


def _together(pools: Sequence[Sequence[tuple[Target, ...]]]) -> list[tuple[Target, ...]]:
    return [tuple(chain.from_iterable(batches)) for batches in zip_longest(*pools, fillvalue=())]


def _domain(target: Target) -> Callable[[Target], str] | None:
    label = target.steps.spread
    return None if label is None else lambda member: str(member.host.variables[label])
