"""Batches: how many hosts at a time, from a number or a percentage."""

import pytest

from gpuprov.rollout.batches import batch_size, in_batches


@pytest.mark.parametrize(
    ("batch", "hosts", "size"),
    [
        ("1", 8, 1),
        ("3", 8, 3),
        ("12", 8, 12),
        ("25%", 8, 2),
        ("10%", 8, 1),
        ("30%", 8, 2),
        ("100%", 8, 8),
        ("1%", 1, 1),
    ],
)
def test_a_batch_is_never_larger_than_was_allowed_and_never_empty(batch: str, hosts: int, size: int) -> None:
    assert batch_size(batch, hosts) == size


def test_batches_keep_the_order_and_lose_nobody() -> None:
    assert in_batches(list("abcde"), "2") == [("a", "b"), ("c", "d"), ("e",)]
