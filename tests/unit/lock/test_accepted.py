"""What a spec accepts: warnings and unknowns, of one rule, at one place, until a day."""

from typing import Any

import pytest
import yaml

from gpuprov.lock.compatibility import check_spec
from gpuprov.model.diagnostic import Diagnostic, Severity, status_of
from gpuprov.spec.decode import load

SPEC = """
apiVersion: gpuprov/v1
name: site
os: debian-12
stack:
  driver: {version: "%(driver)s", modules: open}
  cuda: "%(cuda)s"
pools:
  train: {gpu: {model: L40S, per_host: 8}, onprem: {group: train}}
accept: %(accept)s
"""
ENDED = {"driver": "570.*", "cuda": "12.8"}
UNKNOWN = {"driver": "580.*", "cuda": "14.0"}
REFUSED = {"driver": "570.*", "cuda": "13.0"}


def checked(values: dict[str, str], accept: list[dict[str, Any]]) -> tuple[Diagnostic, ...]:
    spec, wrong = load(SPEC % {**values, "accept": yaml.safe_dump(accept, default_flow_style=True)}, "gpuprov.yaml")
    assert wrong == ()
    assert spec is not None
    return check_spec(spec, today="2026-11-30")


def acceptance(rule: str, until: str = "2027-01-31", **more: str) -> dict[str, str]:
    return {"rule": rule, "reason": "we move in May", "until": until, **more}


def told(found: tuple[Diagnostic, ...]) -> list[tuple[str, str]]:
    return [(d.code, d.severity.value) for d in found]


def test_without_an_acceptance() -> None:
    assert told(checked(ENDED, [])) == [("GP-RULE-004", "warning")]
    assert told(checked(UNKNOWN, [])) == [("GP-RULE-900", "error")]
    assert status_of(checked(UNKNOWN, [])) == 10


@pytest.mark.parametrize(
    ("values", "rule", "code"),
    [
        (ENDED, "GP-RULE-004", "GP-RULE-004"),
        (UNKNOWN, "GP-RULE-001", "GP-RULE-900"),
        (UNKNOWN, "GP-RULE-900", "GP-RULE-900"),
    ],
)
def test_what_is_accepted_is_told_and_does_not_count(values: dict[str, str], rule: str, code: str) -> None:
    found = checked(values, [acceptance(rule)])
    assert told(found) == [(code, "note")]
    assert "Accepted until 2027-01-31: we move in May" in found[0].detail
    assert status_of(found) == 0


@pytest.mark.parametrize(
    ("values", "given", "why"),
    [
        (ENDED, acceptance("GP-RULE-004", "2026-11-29"), "expired on 2026-11-29"),
        (ENDED, acceptance("GP-RULE-005"), "is needed by nothing"),
        (ENDED, acceptance("GP-RULE-900"), "is needed by nothing"),
        (ENDED, acceptance("GP-RULE-004", at="pools.train"), "is needed by nothing"),
        (REFUSED, acceptance("GP-RULE-001"), "is needed by nothing"),
    ],
)
def test_what_does_not_hold_is_told(values: dict[str, str], given: dict[str, str], why: str) -> None:
    before, found = checked(values, []), checked(values, [given])
    idle = [d for d in found if d.code == "GP-RULE-901"]
    assert [(d.severity, d.address) for d in idle] == [(Severity.WARNING, "accept[0]")]
    assert why in idle[0].summary
    assert idle[0].span is not None
    assert [d for d in found if d.code != "GP-RULE-901"] == list(before)


def test_the_last_day_counts() -> None:
    assert told(checked(ENDED, [acceptance("GP-RULE-004", "2026-11-30")])) == [("GP-RULE-004", "note")]


@pytest.mark.parametrize("at", ["stack.driver.version", "stack.driver", "stack"])
def test_a_place_holds_for_what_is_below_it(at: str) -> None:
    assert told(checked(ENDED, [acceptance("GP-RULE-004", at=at)])) == [("GP-RULE-004", "note")]


def test_a_refusal_cannot_be_accepted() -> None:
    found = checked(REFUSED, [acceptance("GP-RULE-001")])
    assert status_of(found) == 5
    assert any("cannot be accepted" in d.detail for d in found)
