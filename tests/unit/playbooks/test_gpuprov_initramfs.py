"""gpuprov_initramfs in a process of its own, with a program of the test; texts of initramfs-tools 0.142."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

MADE = "update-initramfs: Generating /boot/initrd.img-6.1.0-13-amd64"


@pytest.mark.parametrize(
    ("script", "failed", "changed", "notes"),
    [
        (
            f"echo '{MADE}'",
            False,
            True,
            ["the initramfs was made anew, as module settings changed: /boot/initrd.img-6"],
        ),
        ("echo '/boot/initrd.img-6.1.0 does not exist. Cannot update.'", False, False, []),
        ("echo 'cpio: write error: No space left on device'; exit 1", True, False, []),
        (None, False, False, []),
    ],
)
def test_what_was_made_is_told_and_the_mark_goes_only_then(
    run_module: Callable[..., dict[str, Any]],
    tmp_path: Path,
    script: str | None,
    failed: bool,  # noqa: FBT001 - a case
    changed: bool,  # noqa: FBT001 - a case
    notes: list[str],
) -> None:
    program, mark = tmp_path / "update-initramfs", tmp_path / "mark"
    mark.touch()
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    result = run_module("gpuprov_initramfs", pending=str(mark), program=str(program))
    assert result.get("failed", False) is failed
    assert result.get("changed", False) is changed
    assert mark.exists() is failed
    assert [(said[: len(note)], note) for said, note in zip(result.get("notes", []), notes, strict=True)] == [
        (note, note) for note in notes
    ]
    if failed:
        assert "No space left" in result["gpuprov"]["detail"]


def test_check_mode_says_it_and_makes_nothing(run_module: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    program, mark = tmp_path / "p", tmp_path / "mark"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    result = run_module("gpuprov_initramfs", check=True, pending=str(mark), program=str(program))
    assert (result["changed"], len(result["notes"])) == (True, 1)
    assert not (tmp_path / "ran").exists()
