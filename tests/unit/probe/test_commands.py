"""Collectors' commands in a shell, over a small root of their own: what they print, and the facts that come of it."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from observed import check_observed

from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import observe
from gpuprov.probe.collectors import BY_NAME
from gpuprov.probe.redaction import redaction_script
from gpuprov.probe.request import ProbeRequest

FOLDER = Path(__file__).parents[2] / "cases" / "probe" / "commands"
CASES = [case for path in sorted(FOLDER.glob("*.yaml")) for case in yaml.safe_load(path.read_text())]
# A path of the host, where one begins; the shell's own /dev/null is nobody's.
PATHS = re.compile(r"(?<![\w.}/*'\]])/(?!dev/null)(?=(?:proc|sys|etc|usr|var|lib|dev|boot|run|opt)/)")


TOOLS = (
    *("cat", "cut", "date", "find", "grep", "head", "ls", "od", "readlink"),
    *("sed", "sha256sum", "sort", "stat", "tail", "tr", "uname"),
)


def make_root(root: Path, case: dict[str, Any]) -> None:
    """Lay out files, links (`-> TARGET`) and folders (null), and programs."""
    for path, text in case.get("files", {}).items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            place.mkdir(exist_ok=True)
        elif text.startswith("-> "):
            target = text.removeprefix("-> ")
            place.symlink_to(root / target.lstrip("/") if target.startswith("/") else target)
        else:
            place.write_text(PATHS.sub(f"{root}/", text))
            place.chmod(0o755 if text.startswith("#!") else 0o644)
    (root / "programs").mkdir()
    for name in TOOLS:
        if name in case.get("programs", {}):
            continue
        (root / "programs" / name).symlink_to(shutil.which(name) or "")
    for name, text in case.get("programs", {}).items():
        program = root / "programs" / name
        program.write_text(f"#!/bin/sh\n{PATHS.sub(f'{root}/', text)}")
        program.chmod(0o755)


def run(root: Path, case: dict[str, Any]) -> CollectorOutput:
    request = ProbeRequest(settings=tuple(case.get("settings", ())))
    command = PATHS.sub(f"{root}/", BY_NAME[case["collector"]].command(request))
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PATH": str(root / "programs"), "R": redaction_script(), "LC_ALL": "C.UTF-8"},
        check=False,
        timeout=20,
    )
    stdout, stderr = (text.replace(str(root), "") for text in (done.stdout, done.stderr))
    return CollectorOutput(command=command, stdout=stdout, stderr=stderr, status=done.returncode)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['collector']}: {case['id']}")
def test_a_command_shows_what_is_there(case: dict[str, Any], tmp_path: Path) -> None:
    make_root(tmp_path, case)
    output = run(tmp_path, case)
    if "stdout" in case:
        assert output.stdout == case["stdout"], output.stderr
    assert output.status == case.get("status", 0), output.stderr
    recording = Recording(host="h", os="", arch="", taken="", collectors={case["collector"]: output})
    found = observe(BY_NAME[case["collector"]], recording)
    check_observed(found, case["expect"])
