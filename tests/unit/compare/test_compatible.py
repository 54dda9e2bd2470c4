"""Each case is two hosts, a rule of the facet table, and whether the rule calls them compatible."""

from pathlib import Path

import pytest
import yaml
from host_builders import make_snapshot

from gpuprov.compare.compatible import RULES
from gpuprov.model.facet import ParityClass
from gpuprov.model.facets import FACETS

FILE = next(p for p in Path(__file__).parents if p.name == "tests") / "cases" / "compare" / "compatible.yaml"
CASES = yaml.safe_load(FILE.read_text())
ROWS = [(rule, name) for rule, cases in CASES.items() for name in cases]


@pytest.mark.parametrize(("rule", "name"), ROWS)
def test_rule(rule: str, name: str) -> None:
    case = CASES[rule][name]
    first, second = (make_snapshot(case[side], host) for side, host in (("first", "a"), ("second", "b")))
    judgement = RULES[rule](first, second)
    assert judgement.compatible is case["compatible"]
    assert case.get("words", "") in judgement.reason
    assert bool(judgement.reason) is (judgement.compatible is not True)
    assert RULES[rule](second, first).compatible is judgement.compatible


def test_what_must_be_compatible_names_its_rule_and_nothing_else_does() -> None:
    for facet in FACETS:
        assert bool(facet.rule) is (facet.parity is ParityClass.MUST_BE_COMPATIBLE), facet.pattern
    assert {facet.rule for facet in FACETS} - {""} == set(RULES)


def test_every_rule_has_a_case_of_each_answer() -> None:
    for rule in RULES:
        assert {case["compatible"] for case in CASES[rule].values()} == {True, False, None}
