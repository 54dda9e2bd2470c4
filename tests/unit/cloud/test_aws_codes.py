from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.cloud import aws_codes
from gpuprov.cloud.aws_codes import diagnose

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "cloud" / "aws_codes.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case['aws']}" for n, case in enumerate(CASES)])
def test_an_error_code_means(case: dict[str, Any]) -> None:
    found = diagnose(case["aws"], case["message"], address="x", operation=case.get("operation", ""))
    assert (found.code, found.address) == (case["code"], "x")
    assert case["summary"] in found.summary
    assert case.get("hint", "") in found.hint
    assert not found.summary.endswith(".")


def test_every_kind_of_answer_has_a_case() -> None:
    assert {row.code for row in aws_codes._ROWS} <= {case["code"] for case in CASES}


def test_no_code_means_two_things() -> None:
    codes = [code for row in aws_codes._ROWS for code in row.codes]
    assert len(codes) == len(set(codes))


def test_what_aws_said_is_kept() -> None:
    assert diagnose("AuthFailure", "its own words\n").detail == "its own words"
