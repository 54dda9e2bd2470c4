"""Sizes in GiB."""

import pytest

from gpuprov.spec.sizes import LARGEST_GIB, refuse_size, size_in_gib


@pytest.mark.parametrize(
    ("text", "gib"), [("1GiB", 1), ("500GiB", 500), ("2TiB", 2048), ("0GiB", None), ("500GB", None), ("", None)]
)
def test_size_in_gib(text: str, gib: int | None) -> None:
    assert size_in_gib(text) == gib


def test_the_largest_volume() -> None:
    assert refuse_size(f"{LARGEST_GIB}GiB") == ""
    assert "64TiB" in refuse_size(f"{LARGEST_GIB + 1}GiB")
