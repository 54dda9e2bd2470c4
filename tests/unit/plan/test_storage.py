"""Disks in a plan: an empty one is formatted, one that holds something else is left alone and told."""

from dataclasses import replace
from typing import Any

import pytest
from host_builders import edit, make_want, observation, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.plan.plan import plan_host
from gpuprov.want.expectations import expectations
from gpuprov.want.mounts import MountWant
from gpuprov.want.owned import owned_of

DEVICE = "/dev/disk/by-id/nvme-X"
MOUNT = MountWant(name="scratch", device=DEVICE, place="/scratch", filesystem="ext4")
PLAIN = make_want()
WANT = replace(PLAIN, pool=replace(PLAIN.pool, mounts=(MOUNT,)))
FORMAT = f"format {DEVICE} empty -> ext4 | spec: storage.scratch"
MOUNTED = f"mount {DEVICE} - -> /scratch | spec: storage.scratch"


@pytest.mark.parametrize(
    ("content", "mounts", "changes", "left"),
    [
        ("ext4", ["/scratch"], [], 0),
        ("empty", [], [FORMAT, MOUNTED], 0),
        ("ext4", [], [MOUNTED], 0),
        ("ext4", ["/mnt"], [MOUNTED.replace(" - ", " /mnt ")], 0),
        ("xfs", [], [], 2),
        ("partitions (gpt)", [], [], 2),
        ("in use (dm-0)", [], [], 2),
        ("data without a file system", [], [], 2),
        (None, None, [], 2),
        ({"unknown": "needs root"}, [], [], 2),
    ],
)
def test_what_is_planned(content: Any, mounts: Any, changes: list[str], left: int) -> None:
    facts = {f'device["{DEVICE}"].content': content, f'device["{DEVICE}"].mounts': mounts}
    host = edit(satisfied(PLAIN), {address: observation(value) for address, value in facts.items()})
    plan = plan_host(compare_want(expectations(WANT, owned_of(host)), host), WANT, host)
    found = [f"{c.action} {c.subject} {c.before or '-'} -> {c.after} | {c.reason}" for c in plan.changes]
    assert found == changes
    assert len([*plan.not_curable, *plan.unknown]) == left
