"""Suggestions: the nearest known word, or where a key belongs."""

import pytest

from gpuprov.spec.suggest import did_you_mean, elsewhere


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("opne", ["open", "proprietary"], "did you mean open?"),
        ("h100-nvl-94g", ["H100-NVL-94GB"], "did you mean H100-NVL-94GB?"),
        ("h10-nvl-94gb", ["H100-NVL-94GB"], "did you mean H100-NVL-94GB?"),
        ("H100", ["B100", "H100-NVL-94GB", "H100-PCIE-80GB"], "did you mean H100-NVL-94GB or H100-PCIE-80GB?"),
        ("zzz", ["open"], ""),
        ("", ["open"], ""),
    ],
)
def test_did_you_mean(word: str, known: list[str], expected: str) -> None:
    assert did_you_mean(word, known) == expected


def test_elsewhere() -> None:
    assert elsewhere("inventory") == "inventory belongs to targets.onprem.inventory"
    assert "pools.*.gpu.per_host" in elsewhere("per_host")
    assert elsewhere("colour") == ""
