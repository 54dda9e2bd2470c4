"""Versions of the rpm family against rpm's own order."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.model.rpm_version import RpmVersion

CASES: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "model" / "rpm_version.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("a", "relation", "b"), [*CASES["compare"], *CASES["whole"]])
def test_packages_are_ordered_as_rpm_orders_them(a: str, relation: str, b: str) -> None:
    first, second = RpmVersion(a), RpmVersion(b)
    assert (first < second, first == second, first > second) == (relation == "<", relation == "=", relation == ">")
    assert (hash(first) == hash(second)) is (relation == "=")
    assert (str(first), str(second)) == (a, b)


@pytest.mark.parametrize("text", CASES["invalid"])
def test_text_that_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no rpm version"):
        RpmVersion(text)
