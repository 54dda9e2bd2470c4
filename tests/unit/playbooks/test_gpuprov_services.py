import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

SHOW = """Type=notify
Id=docker.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
NeedDaemonReload=no

Type=simple
Id=nvidia-dcgm.service
LoadState=not-found
ActiveState=inactive
SubState=dead
UnitFileState=
NeedDaemonReload=no
"""
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22)\n"
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n"


def test_units_are_read_from_one_answer(load: Callable[[str], ModuleType]) -> None:
    found = load("gpuprov_services").parse_show(SHOW)
    assert set(found) == {"docker", "nvidia-dcgm"}
    assert found["docker"]["ActiveState"] == "active"
    assert found["nvidia-dcgm"]["UnitFileState"] == ""


@pytest.mark.parametrize(("text", "version"), [(OPEN, "580.95.05"), (CLOSED, "535.183.01"), ("", ""), ("x\n", "")])
def test_the_loaded_driver_is_read_from_both_flavours(
    load: Callable[[str], ModuleType], text: str, version: str
) -> None:
    assert load("gpuprov_services").parse_loaded(text) == version


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """A systemctl over units given as name=state; acting on `broken` fails, `dying` stays up for a moment.

    Gives the calls that acted.
    """
    programs, calls = tmp_path / "programs", tmp_path / "calls"
    programs.mkdir()
    (programs / "systemctl").write_text(
        f"""#!/bin/sh
case "$1" in
show) shift 2; for u in "$@"; do
    echo "Id=$u"; echo LoadState=loaded; echo "ActiveState=$(cat {tmp_path}/$u)"; echo SubState=x
    echo UnitFileState=enabled; echo NeedDaemonReload=no
    case "$u" in simple*|dying*) echo Type=simple;; *) echo Type=notify;; esac; echo; done ;;
*) echo "$@" >>{calls}; case "$2" in broken*) echo "Job failed"; exit 1;; esac; echo active >{tmp_path}/$2
    case "$2" in dying*) (sleep 0.2; echo failed >{tmp_path}/$2) >/dev/null 2>&1 & ;; esac ;;
esac
"""
    )
    (programs / "journalctl").write_text("#!/bin/sh\necho 'a log line'\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return lambda: calls.read_text().splitlines() if calls.exists() else []


def services(run_module: Callable[..., Any], folder: Path, units: dict[str, str], **params: object) -> dict[str, Any]:
    for name, state in units.items():
        (folder / f"{name}.service").write_text(state)
    rows = [{"name": name, "packages": ["p"]} for name in units]
    return dict(run_module("gpuprov_services", services=rows, settle=1, **params))


def test_one_unit_that_fails_does_not_keep_the_others_from_restarting(
    run_module: Callable[..., Any], tmp_path: Path, systemctl: Callable[..., list[str]]
) -> None:
    result = services(run_module, tmp_path, {"broken": "active", "docker": "active"}, moved=["p"])
    assert (result["failed"], result["gpuprov"]["unit"]) == (True, "broken")
    assert "a log line" in result["gpuprov"]["detail"]
    assert systemctl() == ["restart broken.service", "restart docker.service"]


@pytest.mark.parametrize(
    ("state", "params", "calls"),
    [
        ("active", {"moved": ["p"]}, ["restart docker.service"]),
        ("active", {"restart": ["docker"]}, ["restart docker.service"]),
        ("active", {"moved": ["p"], "fresh": ["docker"]}, []),
        ("active", {}, []),
        # What does not run is started by the step that may start, not by a forced handler.
        ("inactive", {"moved": ["p"]}, []),
        ("failed", {"moved": ["p"]}, []),
    ],
)
def test_without_start_only_what_runs_and_has_to_restart_is_touched(
    run_module: Callable[..., Any],
    tmp_path: Path,
    systemctl: Callable[..., list[str]],
    state: str,
    params: dict[str, Any],
    calls: list[str],
) -> None:
    result = services(run_module, tmp_path, {"docker": state}, start=False, **params)
    assert systemctl() == calls
    assert result["started"] == (["docker"] if calls else [])


def test_what_does_not_run_is_started(
    run_module: Callable[..., Any], tmp_path: Path, systemctl: Callable[..., list[str]]
) -> None:
    result = services(run_module, tmp_path, {"docker": "inactive"})
    assert (result["changes"], systemctl()) == (["docker started"], ["start docker.service"])


def test_what_dies_after_its_start_is_named_and_the_others_are_waited_for_beside_it(
    run_module: Callable[..., Any], tmp_path: Path, systemctl: Callable[..., list[str]]
) -> None:
    units = {"dying": "inactive", "simple-a": "inactive", "docker": "inactive", "dying-too": "inactive"}
    result = services(run_module, tmp_path, units)
    assert (result["failed"], result["gpuprov"]["unit"]) == (True, "dying")
    assert result["gpuprov"]["text"] == "it cannot be started"
    assert "dying-too: it cannot be started" in result["gpuprov"]["detail"]
    assert "simple-a" not in result["gpuprov"]["detail"]
    assert systemctl() == [f"start {name}.service" for name in units]


def test_all_that_stays_up_is_told_as_started(
    run_module: Callable[..., Any], tmp_path: Path, systemctl: Callable[..., list[str]]
) -> None:
    result = services(run_module, tmp_path, {"simple-a": "inactive", "docker": "active", "simple-b": "inactive"})
    assert (result["started"], result["changes"]) == (
        ["simple-a", "simple-b"],
        ["simple-a started", "simple-b started"],
    )
    assert systemctl() == ["start simple-a.service", "start simple-b.service"]
