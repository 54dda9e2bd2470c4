"""Public reports about combinations that cannot work, by their id: refused or warned of before anything is touched."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from host_builders import make_snapshot
from rule_locks import lock_of

from gpuprov.app.host_rules import host_facts
from gpuprov.lock.compatibility import check_lock, check_spec
from gpuprov.lock.requests import requests_for
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.rules.host import check_host
from gpuprov.spec.decode import load

FOLDER = Path(__file__).parents[2] / "cases"
REPORTS = yaml.safe_load((FOLDER / "reports" / "rules.yaml").read_text())
BASES = {
    "": yaml.safe_load((FOLDER / "spec" / "refused.yaml").read_text())["base"],
    "cloud": yaml.safe_load((FOLDER / "spec" / "cloud.yaml").read_text())["base"],
}
TODAY = "2026-11-30"
OF_SPECS = [case for case in REPORTS["cases"] if "host" not in case]
OF_HOSTS = [case for case in REPORTS["cases"] if "host" in case]


def told(found: Iterable[Diagnostic]) -> list[list[str]]:
    return [[d.code, d.severity.value, d.address] for d in found]


@pytest.mark.parametrize("case", OF_SPECS, ids=lambda case: case["id"])
def test_a_report_about_a_spec(case: dict[str, Any]) -> None:
    text = BASES[case.get("base", "")]
    for old, new in case["change"].items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    spec, found = load(text, "gpuprov.yaml")
    assert [d.code for d in found] == case.get("loaded", [])
    if spec is not None:
        found = check_spec(spec, today=TODAY)
        assert told(found) == case["found"]
        names = [request.name for pool in spec.pools.values() for request in requests_for(spec, pool)]
        assert set(case.get("requests", ())) <= set(names)
        assert not [name for name in names if name.startswith(tuple(case.get("never", ("never-asked-for",))))]
    if spec is not None and "lock" in case:
        found = check_lock(lock_of(case["lock"]), spec, today=TODAY)
        assert told(found) == case["locked"]
    for word in case.get("words", []):
        assert any(word in f"{d.summary}\n{d.detail}\n{d.hint}" for d in found), word


@pytest.mark.parametrize("case", OF_HOSTS, ids=lambda case: case["id"])
def test_a_report_about_a_host(case: dict[str, Any]) -> None:
    found = list(check_host(host_facts(make_snapshot(case["host"]))))
    assert [[answer.rule, answer.verdict.value] for answer in found] == case["found"]
    for word in case["words"]:
        assert any(word in f"{a.summary}\n{a.consequence}\n{a.satisfies}" for a in found), word


def test_every_report_that_names_checks_is_a_case_or_said_to_lie_elsewhere() -> None:
    named = {
        "A03",
        "A04",
        "A05",
        "A06",
        "A10",
        "A12",
        "A15",
        "A16",
        "A19",
        "A27",
        "A30",
        "A32",
        "A41",
        "A51",
        "A52",
        "A57",
    }
    assert {case["id"].partition(" ")[0] for case in REPORTS["cases"]} | set(REPORTS["elsewhere"]) == named
