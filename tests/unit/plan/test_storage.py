"""Disks and shares in a plan: an empty disk is formatted; what is something else's is left alone, and told."""

from dataclasses import replace
from typing import Any

import pytest
from host_builders import edit, make_want, observation, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.plan.cure import Cure, Scene
from gpuprov.plan.plan import plan_host
from gpuprov.plan.storage import cure_storage
from gpuprov.want.expectations import expectations
from gpuprov.want.mounts import MountWant
from gpuprov.want.owned import owned_of
from gpuprov.want.types import Owned

DEVICE = "/dev/disk/by-id/nvme-X"
SHARE = MountWant(name="data", device="nfs.example:/srv", place="/data", filesystem="nfs")
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


@pytest.mark.parametrize(
    ("source", "kind", "ours", "changes", "left"),
    [
        ("nfs.example:/srv", "nfs", True, [], 0),
        (None, None, False, ["mount nfs.example:/srv - -> /data | spec: storage.data"], 0),
        ("old.example:/srv", "nfs", True, ["mount nfs.example:/srv old.example:/srv -> /data | spec: storage.data"], 0),
        ("old.example:/srv", "nfs", False, [], 1),
        ("/dev/sdb1", "ext4", False, [], 2),
        ("nfs.example:/srv", "fuse", True, [], 1),
        ({"unknown": "no table"}, {"unknown": "no table"}, True, [], 2),
    ],
)
def test_a_share_is_mounted_where_nothing_is_or_where_ours_was(
    source: Any, kind: Any, changes: list[str], left: int, *, ours: bool
) -> None:
    want = replace(PLAIN, pool=replace(PLAIN.pool, mounts=(SHARE,)))
    files = {SHARE.path: "0" * 64} if ours else {}
    facts = {'share["/data"].source': source, 'share["/data"].type': kind}
    host = edit(satisfied(PLAIN), {address: observation(value) for address, value in facts.items()})
    owned = owned_of(host)
    assert isinstance(owned, Owned)
    owned = replace(owned, files={**owned.files, **files})
    findings = [f for f in compare_want(expectations(want, owned), host) if f.address.startswith("share")]
    cure = Cure()
    cure_storage(Scene(want=want, snapshot=host, owned=owned, findings=tuple(findings)), cure)
    found = [f"{c.action} {c.subject} {c.before or '-'} -> {c.after} | {c.reason}" for c in cure.changes]
    assert found == changes
    assert len([*cure.not_curable, *cure.unknown]) == left
