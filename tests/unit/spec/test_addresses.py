"""Texts of IPv4 ranges: each refusal says what would be right."""

import pytest

from gpuprov.spec.addresses import read_range, refuse_range


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("203.0.113.9", "203.0.113.9/32"),
        ("203.0.113.9/24", "203.0.113.0/24"),
        ("203.0.113.0/255.255.255.0", "203.0.113.0/24"),
        ("203.0.113.0/024", "203.0.113.0/24"),
        ("203.0.113.0/33", "no range"),
        ("office", "no range"),
        ("fd00::/8", "IPv6"),
        ("::/0", "whole world"),
    ],
)
def test_a_range_that_is_refused(text: str, word: str) -> None:
    assert word in refuse_range(text)


def test_a_range_that_is_read() -> None:
    assert refuse_range("203.0.113.0/24") == ""
    assert read_range("203.0.113.0/24").num_addresses == 256
