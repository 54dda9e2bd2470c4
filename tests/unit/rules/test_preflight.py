"""The preflight's rules: each refusal names the fact and the way out, and each can be silent."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.model.codes import CODES
from gpuprov.rules.answer import told
from gpuprov.rules.preflight import Clash, PreflightFacts, check_preflight

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "rules" / "preflight.yaml").read_text())["cases"]


def read(facts: dict[str, Any]) -> PreflightFacts:
    """The fields of a case; lists are tuples there, and clashes values of their own."""
    plain: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in facts.items()}
    plain |= {"clashes": tuple(Clash(**row) for row in facts.get("clashes", ()))}
    plain |= {"pins": {file: tuple(names) for file, names in facts.get("pins", {}).items()}}
    return PreflightFacts(host="node-1", **plain)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_the_preflight_says(case: dict[str, Any]) -> None:
    found = list(check_preflight(read(case["facts"])))
    assert [[answer.rule, answer.verdict.value] for answer in found] == case["found"]
    said = " | ".join(f"{a.summary} {a.consequence} {a.satisfies} {told(a).source}" for a in found)
    assert [word for word in case.get("words", []) if word not in said] == [], said
    assert all(answer.address == "node-1" and answer.facts and answer.consequence for answer in found)
    assert all(answer.satisfies for answer in found if answer.verdict.value == "refused")


def test_every_code_of_the_preflight_is_said_in_a_case() -> None:
    said = {code for case in CASES for code, _ in case["found"]}
    # Of another origin only apt itself can tell (GP-PRE-003).
    assert {code for code in CODES if code.startswith("GP-PRE-")} - said == {"GP-PRE-003"}


def test_every_code_that_refuses_a_host_has_a_status_that_refuses() -> None:
    refusing = {code for case in CASES for code, verdict in case["found"] if verdict == "refused"}
    assert {int(CODES[code].status) for code in refusing} == {5}
