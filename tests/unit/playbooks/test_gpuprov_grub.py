"""GRUB's menus as grub-mkconfig 2.06 (Debian 12) made them of our file, in a root with two kernels.

grub-probe was a script; of each menu just the lines are kept that the probe takes. 37 and 40: that kernel is wanted,
nosub: without submenus, missing: a kernel is wanted that is not there.
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gpuprov.model.fact import Known, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collectors.kernels import parse_kernels

CASES = Path(__file__).parents[2] / "cases" / "playbooks" / "grub"
K37, K40 = "6.1.0-37-amd64", "6.1.0-40-amd64"


@pytest.mark.parametrize(
    ("menu", "release", "boots"),
    [
        ("37", K37, True),
        ("37", K40, False),
        ("37", "", True),
        ("37", "6.1.0-3", False),
        ("37", "6.1.0-37-amd6", False),
        ("nosub", K37, True),
        ("40", K40, True),
        ("default", K40, False),  # the newest, and nothing says so
        ("missing", "6.1.0-99-amd64", False),  # the default names an entry that is not there
    ],
)
def test_what_a_menu_boots(
    load: Callable[[str], ModuleType],
    menu: str,
    release: str,
    boots: bool,  # noqa: FBT001 - a case
) -> None:
    assert load("gpuprov_grub").boots((CASES / f"{menu}.cfg").read_text(), release) is boots


@pytest.mark.parametrize(
    ("menu", "release"), [("default", K40), ("37", K37), ("nosub", K37), ("40", K40), ("missing", None)]
)
def test_the_probe_sees_the_same_in_it(menu: str, release: str | None) -> None:
    text = f"options quiet\ngrub /boot/grub/grub.cfg\n{(CASES / f'{menu}.cfg').read_text()}end\n"
    output = CollectorOutput(command="x", stdout=text, stderr="", status=0)
    found = parse_kernels(output, Recording(host="h", taken="", os="debian-12", arch="amd64", collectors={}))
    seen = found["host.kernel.next"]
    assert seen == Known(release) if release else isinstance(seen, Unknown)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "params", "changed", "failed"),
    [
        ("default", "37", {"release": K37}, True, ""),
        ("37", "37", {"release": K37}, False, ""),
        ("37", "default", {"anew": True}, True, ""),  # the spec leaves the kernel to the OS again
        ("37", "37", {}, False, ""),
        ("default", "missing", {"release": "6.1.0-99-amd64"}, False, "no entry for the kernel 6.1.0-99-amd64"),
        ("default", None, {"release": K37}, False, "ended with status 1"),
    ],
)
def test_the_menu_is_made_anew_only_where_it_must(
    run_module: Callable[..., dict[str, Any]],
    tmp_path: Path,
    before: str,
    after: str | None,
    params: dict[str, Any],
    changed: bool,  # noqa: FBT001 - a case
    failed: str,
) -> None:
    menu, program = tmp_path / "grub.cfg", tmp_path / "update-grub"
    menu.write_text((CASES / f"{before}.cfg").read_text())
    makes = f"cp {CASES / f'{after}.cfg'} {menu}" if after else "echo grub-probe: error: no such disk >&2; exit 1"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n{makes}\n")
    program.chmod(0o755)
    paths = {"menu": str(menu), "program": str(program)}
    foreseen = run_module("gpuprov_grub", check=True, **params, **paths)
    assert not (tmp_path / "ran").exists()
    result = run_module("gpuprov_grub", **params, **paths)
    assert (result.get("changed", False), result.get("failed", False)) == (changed, bool(failed))
    assert foreseen["changed"] is (changed or bool(failed))
    assert (tmp_path / "ran").exists() is (changed or bool(failed))
    if failed:
        assert failed in result["gpuprov"]["text"]
        assert result["gpuprov"]["reason"] == "grub"
    assert len(result.get("notes", [])) == int(changed)


@pytest.mark.slow
def test_a_host_without_grub_is_left_alone(run_module: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    result = run_module("gpuprov_grub", release=K37, menu=str(tmp_path / "no"), program="/bin/true")
    assert (result["changed"], result["notes"]) == (False, [])
