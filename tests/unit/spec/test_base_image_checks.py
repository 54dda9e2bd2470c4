"""Base images of one's own: what may be written, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.spec.decode import load

FOLDER = Path(__file__).parents[2] / "cases" / "spec"
CASES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "base_images.yaml").read_text(encoding="utf-8"))
BASE: str = yaml.safe_load((FOLDER / "cloud.yaml").read_text(encoding="utf-8"))["base"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_a_base_image(case: dict[str, Any]) -> None:
    spec, found = load(
        BASE.replace("region: us-east-1", f"region: us-east-1\n    image: {{bases: {case['bases']}}}"), "f"
    )
    assert [[problem.code, problem.address] for problem in found] == case["found"]
    assert (spec is None) == bool(case["found"])
    said = " ".join(f"{problem.summary} {problem.detail} {problem.hint}" for problem in found)
    assert all(word in said for word in case.get("words", ())), said
