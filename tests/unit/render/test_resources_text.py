"""Resources on screen: new ones by kind, the others one by one with reasons, and what is lost is said."""

import io
from dataclasses import replace

from rich.console import Console

from gpuprov.model.resource import NewHost, ResourceAction, ResourceChange, ResourcePlan, ResourceResult
from gpuprov.render.resources_text import (
    resource_plan_body,
    resource_result_body,
    show_resource_plan,
    show_resource_result,
)
from gpuprov.render.terminal import Terminal

HOST = NewHost(
    name="a",
    pool="train",
    instance="p5.48xlarge",
    image="ami-1 (debian-12)",
    packages=("x 1", "y 2"),
    files=("/etc/f",),
)


def change(address: str, action: ResourceAction, **more: object) -> ResourceChange:
    return ResourceChange(address=address, type="t", action=action, urn=f"urn:{address}", **more)  # type: ignore[arg-type]


PLAN = ResourcePlan(
    changes=(
        change("subnet.x", ResourceAction.CREATE),
        change("instance.a", ResourceAction.CREATE, holds_data=True),
        change("subnet.y", ResourceAction.CREATE),
        change("vpc.main", ResourceAction.UPDATE, changes=("tags.Name: old -> new",)),
        change("instance.b", ResourceAction.REPLACE, reasons=("ami",), holds_data=True),
        change("volume.s/b", ResourceAction.DELETE, holds_data=True),
        change("subnet.z", ResourceAction.DELETE),
    ),
    unchanged=4,
    new_hosts=(HOST, replace(HOST, name="c"), replace(HOST, name="b", image="ami-2 (baked)", packages=())),
)


def shown(show: object, value: object, **options: bool) -> list[str]:
    stream = io.StringIO()
    console = Console(file=stream, width=200, no_color=True, highlight=False, markup=False)
    show(value, Terminal(out=console, err=console), **options)  # type: ignore[operator]
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_a_plan_is_grouped_and_says_what_is_lost() -> None:
    assert shown(show_resource_plan, PLAN, verbose=False) == [
        "cloud: 3 to make, 1 to change, 1 to replace, 2 to delete, 4 resource(s) as they are",
        "  ! replace  instance.b  [what it holds is lost]  (cannot be changed in place: ami)",
        "  - delete   volume.s/b  [what it holds is lost]",
        "  - delete   subnet.z",
        "  ~ update   vpc.main",
        "      tags.Name: old -> new",
        "  + make     subnet    x, y",
        "  + make     instance  a",
        "  + host     a, c (train): p5.48xlarge from ami-1 (debian-12); then 2 package(s) to install, 1 file(s)",
        "  + host     b (train): p5.48xlarge from ami-2 (baked); then no package to install, 1 file(s)",
    ]


def test_verbose_names_packages_and_files() -> None:
    lines = shown(show_resource_plan, PLAN, verbose=True)
    assert [line.strip() for line in lines if line.startswith("      ")][1:] == ["x 1", "y 2", "/etc/f", "/etc/f"]


def test_a_rack_has_nothing_to_say_here() -> None:
    assert shown(show_resource_plan, ResourcePlan(), verbose=False) == []
    assert shown(show_resource_result, None) == []


def test_nothing_to_change_is_said() -> None:
    assert shown(show_resource_plan, ResourcePlan(unchanged=9), verbose=False) == [
        "cloud: nothing to change, 9 resource(s) as they are"
    ]


def test_a_result_says_what_changed_and_what_was_left() -> None:
    result = ResourceResult(changed=PLAN.changes[-2:], unchanged=1, left={"bucket.d": "site-d-1"}, seconds=12.34)
    assert shown(show_resource_result, result) == [
        "cloud: 2 deleted, 1 resource(s) as they are in 12.3 s",
        "  left bucket.d: site-d-1",
    ]


def test_json_has_everything() -> None:
    body = resource_plan_body(PLAN)
    assert [row["address"] for row in body["changes"]] == [c.address for c in PLAN.changes]  # type: ignore[attr-defined]
    assert body["new_hosts"][0] == {  # type: ignore[index]
        "host": "a", "pool": "train", "instance": "p5.48xlarge", "image": "ami-1 (debian-12)",
        "packages": ["x 1", "y 2"], "files": ["/etc/f"],
    }  # fmt: skip
    assert resource_result_body(None) is None
    assert resource_result_body(ResourceResult(left={"bucket.d": "n"})) == {
        "changed": [], "unchanged": 0, "left": {"bucket.d": "n"}, "seconds": 0.0,
    }  # fmt: skip
