"""Who may use a mounted disk: given, changed and taken back; what nobody could look at is left."""

from dataclasses import replace
from typing import Any

import pytest
from host_builders import edit, make_want, observation, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.plan.cure import Cure, Scene
from gpuprov.plan.plan import plan_host
from gpuprov.plan.removal import removals
from gpuprov.plan.rights import cure_rights
from gpuprov.want.expectations import expectations
from gpuprov.want.mounts import MountWant
from gpuprov.want.types import Owned

PLAIN = make_want()
OURS = ["group ml rwx", "default group ml rwx"]
SET = "set /scratch others r-x -> group ml rwx"
BACK = "restore /scratch group ml rwx -> others r-x"


@pytest.mark.parametrize(
    ("rights", "given", "seen", "mounted", "changes", "left"),
    [
        (("group ml rwx",), {}, OURS, False, [], 0),
        (("group ml rwx",), {}, ["others r-x"], False, [SET], 0),
        (
            ("group ml rwx",),
            {},
            [*OURS, "user bob r-x"],
            False,
            ["set /scratch group ml rwx, user bob r-x -> group ml rwx"],
            0,
        ),
        (("group ml rwx",), {}, None, True, ["set /scratch - -> group ml rwx"], 0),
        (("group ml rwx",), {}, None, False, [], 1),
        (("group ml rwx",), {}, {"unknown": "no python"}, False, [], 1),
        ((), {}, OURS, False, [], 0),
        ((), {"/scratch": ("group ml rwx",)}, OURS, False, [BACK], 0),
        ((), {"/scratch": ("group ml rwx",)}, ["others r-x"], False, [], 0),
    ],
)
def test_what_is_planned(
    rights: tuple[str, ...], given: Any, seen: Any, changes: list[str], left: int, *, mounted: bool
) -> None:
    mount = MountWant(name="scratch", device="/dev/x", place="/scratch", filesystem="ext4", rights=rights)
    want = replace(PLAIN, pool=replace(PLAIN.pool, mounts=(mount,)))
    host = edit(satisfied(PLAIN), {'rights["/scratch"].entries': observation(seen)})
    owned = Owned(rights=given)
    findings = [f for f in compare_want(expectations(want, owned), host) if f.address.startswith("rights")]
    cure = Cure(changes=[_mounting()] if mounted else [])
    cure_rights(Scene(want=want, snapshot=host, owned=owned, findings=tuple(findings)), cure)
    found = [c for c in cure.changes if c.action is not Action.MOUNT]
    assert [f"{c.action} {c.subject} {c.before or '-'} -> {c.after}" for c in found] == changes
    assert len([*cure.not_curable, *cure.unknown]) == left


def _mounting() -> Change:
    return Change(
        address='device["/dev/x"].mounts',
        action=Action.MOUNT,
        subject="/dev/x",
        before="",
        after="/scratch",
        reason="",
        cost=Cost.NOTHING,
    )


def test_only_rights_that_go_are_taken_back_from_a_mount() -> None:
    host = satisfied(PLAIN)
    plan = plan_host((), PLAIN, host)
    changes = [
        replace(_mounting(), action=Action.RESTORE, subject=subject) for subject in ("/scratch", "vm.swappiness")
    ]
    found = removals(replace(plan, changes=tuple(changes)))
    assert (found.rights, found.restore) == (("/scratch",), ("vm.swappiness",))
