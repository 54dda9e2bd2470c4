"""A host whose engine configuration is broken is left out whole, before anything is done to it."""

from typing import Any

import pytest
from host_builders import edit, fresh, make_want, observation, satisfied

from gpuprov.app.hosts import Fleet
from gpuprov.app.planning import plan_fleet
from gpuprov.model.host import Connection, Host
from gpuprov.model.planned import Planned
from gpuprov.model.snapshot import Snapshot

WANT = make_want()
TEXT = 'file["/etc/docker/daemon.json"].text'


def planned(snapshot: Snapshot, facts: dict[str, Any]) -> Planned:
    host = Host(name="node-1", pool="train", target="onprem", connection=Connection(host="node-1", address="node-1"))
    fleet = Fleet(hosts=(host,), wants={"node-1": WANT}, warnings=())
    seen = edit(snapshot, {address: observation(value) for address, value in facts.items()})
    return plan_fleet(fleet, {"node-1": seen}, {}, lock="sha256:lock", waivers=())


@pytest.mark.parametrize("text", ['{"data-root": ', "[]", '{"a": 1,}'])
def test_a_broken_file_of_the_engine_leaves_the_host_untouched(text: str) -> None:
    found = planned(fresh(WANT), {TEXT: text})
    assert found.plan.hosts == ()
    told = found.not_observed["node-1"]
    assert (told.code, told.diagnostic.address) == ("GP-CONV-005", "node-1")
    assert "/etc/docker/daemon.json" in told.reason
    assert "python3 -m json.tool /etc/docker/daemon.json" in told.hint


@pytest.mark.parametrize("text", ["", "{}", '{"data-root": "/d"}'])
def test_a_file_that_takes_our_keys_does_not(text: str) -> None:
    (plan,) = planned(fresh(WANT), {TEXT: text}).plan.hosts
    assert [change.subject for change in plan.changes if change.address == TEXT] == ["/etc/docker/daemon.json"]


def test_a_host_with_nothing_else_to_change_is_shown_as_it_is() -> None:
    (plan,) = planned(satisfied(WANT), {TEXT: "[]"}).plan.hosts
    assert plan.changes == ()
    assert [finding.address for finding in plan.not_curable] == [TEXT]
