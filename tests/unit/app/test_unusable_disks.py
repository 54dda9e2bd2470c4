"""A host whose disk holds something else than the spec wants is left out whole; its data is never in question."""

from dataclasses import replace
from typing import Any

import pytest
from host_builders import edit, fresh, make_want, observation

from gpuprov.app.hosts import Fleet
from gpuprov.app.planning import plan_fleet
from gpuprov.model.host import Connection, Host
from gpuprov.model.planned import Planned
from gpuprov.want.mounts import MountWant

DEVICE = "/dev/nvme1n1"
PLAIN = make_want()
MOUNT = MountWant(name="scratch", device=DEVICE, place="/scratch", filesystem="ext4")
WANT = replace(PLAIN, pool=replace(PLAIN.pool, mounts=(MOUNT,)))


def planned(content: Any) -> Planned:
    host = Host(name="node-1", pool="train", target="onprem", connection=Connection(host="node-1", address="node-1"))
    facts = {f'device["{DEVICE}"].content': content, f'device["{DEVICE}"].mounts': []}
    seen = edit(fresh(PLAIN), {address: observation(value) for address, value in facts.items()})
    fleet = Fleet(hosts=(host,), wants={"node-1": WANT}, warnings=())
    return plan_fleet(fleet, {"node-1": seen}, {}, lock="sha256:lock", waivers=())


@pytest.mark.parametrize(
    ("content", "words"), [("xfs", "holds xfs"), ("partitions (gpt)", "holds partitions"), (None, "there is no")]
)
def test_a_disk_that_holds_something_leaves_the_host_untouched(content: Any, words: str) -> None:
    found = planned(content)
    assert found.plan.hosts == ()
    told = found.not_observed["node-1"]
    assert told.code == "GP-CONV-007"
    assert words in told.reason


@pytest.mark.parametrize("content", ["empty", "ext4"])
def test_a_disk_that_can_be_used_does_not(content: str) -> None:
    (plan,) = planned(content).plan.hosts
    assert [str(c.action) for c in plan.changes if c.subject == DEVICE] == [
        *(["format"] if content == "empty" else []),
        "mount",
    ]
