"""How many hosts are changed at a time."""

import math
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


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


def in_batches(items: Sequence[Item], batch: str) -> list[tuple[Item, ...]]:
    """Cut a pool's hosts into batches, in their order."""
    size = batch_size(batch, len(items))
    return [tuple(items[start : start + size]) for start in range(0, len(items), size)]
