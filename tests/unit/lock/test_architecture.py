"""Each case is a spec's pools, and the architecture that each is locked for."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.lock.compatibility import check_spec
from gpuprov.lock.images import image_needs
from gpuprov.lock.requests import pool_inputs
from gpuprov.model.diagnostic import Severity
from gpuprov.spec.decode import load

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "lock" / "architecture.yaml").read_text())["cases"]
TARGET = """
  cloud:
    account: "111122223333"
    region: us-east-1
    network: {cidr: 10.20.0.0/16, ranges: {office: [203.0.113.0/24]}, ssh_from: [office]}
    image: {bake: %s, builder: %s}
"""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_architecture(case: dict[str, Any]) -> None:
    pools = "".join(f"  {name}: {text}\n" for name, text in case["pools"].items())
    cloud = TARGET % (str(case.get("bake", True)).lower(), case["builder"]) if "builder" in case else ""
    text = (
        f"apiVersion: gpuprov/v1\nname: s\nos: debian-12\npools:\n{pools}targets:\n  onprem: {{inventory: i}}\n{cloud}"
    )
    spec, problems = load(text, "gpuprov.yaml")
    assert problems == ()
    assert spec is not None
    assert {pool.pool: pool.arch for pool in pool_inputs(spec)} == case["arch"]
    assert [f"{need.os} {need.arch}" for need in image_needs(spec)] == case.get("images", [])
    found = [d for d in check_spec(spec, today="2026-11-30") if d.severity is Severity.ERROR]
    assert [[d.code, d.address] for d in found] == case.get("found", [])
    told = " ".join(f"{d.summary} {d.hint}" for d in found)
    assert [word for word in case.get("words", []) if word not in told] == []
