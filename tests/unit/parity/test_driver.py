"""A driver is four facts; each case is what was seen, and what the four say together."""

from pathlib import Path

import pytest
import yaml
from host_builders import make_snapshot

from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.parity.driver import driver_facts, driver_rows, driver_state
from gpuprov.parity.types import Compared

FILE = next(p for p in Path(__file__).parents if p.name == "tests") / "cases" / "parity" / "driver.yaml"
CASES = yaml.safe_load(FILE.read_text())


@pytest.mark.parametrize("name", CASES)
def test_state(name: str) -> None:
    case = CASES[name]
    facts = driver_facts(make_snapshot(case["seen"], families=case.get("families")))
    assert driver_state(facts) == case["state"]
    if "package" in case:
        assert facts.package == (Absent() if case["package"] is None else Known(case["package"]))


def test_packages_that_could_not_be_looked_at_are_not_absent() -> None:
    facts = driver_facts(make_snapshot({}, families={"package": {"unknown": "dpkg-query failed"}}))
    assert facts.package == Unknown("dpkg-query failed")


def test_hosts_with_the_same_four_facts_are_one_row_and_the_largest_is_first() -> None:
    old, new = (
        driver_facts(make_snapshot({f"stack.driver.{leaf}": version for leaf in ("on_disk", "loaded", "nvml")}))
        for version in ("570.1.1", "580.1.1")
    )
    hosts = [Compared(host=name, findings=(), facets=1, driver=facts) for name, facts in (("a", old), ("b", new))]
    hosts += [Compared(host="c", findings=(), facets=1, driver=new), Compared(host="lock", findings=(), facets=1)]
    assert [row.hosts for row in driver_rows(hosts)] == [("b", "c"), ("a",)]
