from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.cloud.errors import translate
from gpuprov.cloud.events import Complaint

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "cloud" / "errors.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_failure_has_its_code_its_resource_and_a_way_on(case: dict[str, Any]) -> None:
    complaints = [
        Complaint(urn=f"urn:pulumi:train::gpuprov-aws::{urn}" if urn else "", text=text)
        for urn, text in case.get("complaints", [])
    ]
    found = translate(complaints, case.get("output", ""), log=Path("/site/log"))
    assert [(one.code, one.address) for one in found] == [(code, address) for code, address, _ in case["expect"]]
    for one, (_, _, words) in zip(found, case["expect"], strict=True):
        assert words in one.summary
        assert "{" not in one.summary or "{" in str(case)
        assert not one.summary.endswith(".")
        assert one.hint


def test_the_detail_is_the_end_of_a_long_output() -> None:
    (found,) = translate((), "\n".join(f"line {number}" for number in range(100)))
    assert found.detail.splitlines() == [f"line {number}" for number in range(80, 100)]


def test_equal_complaints_are_told_once() -> None:
    one = Complaint(urn="", text="incorrect passphrase")
    assert len(translate((one, one), "")) == 1
