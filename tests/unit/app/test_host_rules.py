"""Hosts before they are changed: what refuses them leaves them out of the plan; what is warned of is told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from host_builders import edit, fresh, make_snapshot, make_want, observation, satisfied

from gpuprov.app.host_rules import host_facts, host_warnings, refused_hosts
from gpuprov.app.hosts import Fleet
from gpuprov.app.planning import plan_fleet
from gpuprov.model.host import Connection, Host
from gpuprov.model.planned import Planned
from gpuprov.model.snapshot import Snapshot
from gpuprov.rules.host import check_host

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "rules" / "host.yaml").read_text())["cases"]
CONFLICT = {"apt.conflicts": {"https://mirror.example /": ["a.list", "b.list"]}}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_the_rules_say_of_a_snapshot(case: dict[str, Any]) -> None:
    found = list(check_host(host_facts(make_snapshot(case["facts"]))))
    assert [[answer.rule, answer.verdict.value] for answer in found] == case["found"]
    for word in case.get("words", []):
        assert any(word in f"{a.summary} {a.satisfies}" for a in found), word
    assert all(answer.address == "node-1" and answer.facts for answer in found)


WANT = make_want()


def seen(facts: dict[str, Any]) -> Snapshot:
    """A host on which nothing was done yet, with these facts."""
    return edit(fresh(WANT), {address: observation(value) for address, value in facts.items()})


def planned(snapshot: Snapshot) -> Planned:
    host = Host(name="node-1", pool="train", target="onprem", connection=Connection(host="node-1", address="node-1"))
    fleet = Fleet(hosts=(host,), wants={"node-1": WANT}, warnings=())
    return plan_fleet(fleet, {"node-1": snapshot}, {}, lock="sha256:lock", waivers=())


def test_a_refused_host_is_left_out_of_the_plan_with_the_reason() -> None:
    before, after = planned(seen({})), planned(seen(CONFLICT))
    assert [plan.host for plan in before.plan.hosts] == ["node-1"]
    assert before.plan.hosts[0].changes
    assert after.plan.hosts == ()
    assert "different keys" in after.plan.excluded["node-1"]
    assert after.not_observed["node-1"].diagnostic.code == "GP-RULE-017"


def test_a_warning_is_told_and_the_host_stays() -> None:
    found = planned(seen({"stack.container.cgroup_driver": "systemd", "stack.container.device_links": False}))
    assert [(d.code, d.severity.value, d.address) for d in host_warnings(found)] == [
        ("GP-RULE-019", "warning", "node-1")
    ]
    assert [plan.host for plan in found.plan.hosts] == ["node-1"]
    untouched = replace(found, plan=replace(found.plan, hosts=(replace(found.plan.hosts[0], changes=()),)))
    assert host_warnings(untouched) == ()


def test_a_host_as_it_is_wanted_is_not_looked_at() -> None:
    found = planned(edit(satisfied(WANT), {a: observation(v) for a, v in CONFLICT.items()}))
    assert [plan.host for plan in found.plan.hosts] == ["node-1"]


def test_the_first_reason_is_given() -> None:
    bad = seen({**CONFLICT, "host.secure_boot": "enabled", "stack.driver.signature": "unsigned"})
    found = refused_hosts({"node-1": bad, "node-2": seen({})})
    assert [(name, one.code) for name, one in found.items()] == [("node-1", "GP-RULE-017")]
