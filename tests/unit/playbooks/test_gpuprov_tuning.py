"""gpuprov_tuning in a process of its own, on settings of the test."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # starts other programs: not for `make quick`

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "sys" / "vm").mkdir(parents=True)
    (tmp_path / "sys" / "vm" / "swappiness").write_text("60\n")
    (tmp_path / "sys" / "vm" / "tcp_rmem").write_text("4096\t131072\t6291456\n")
    return tmp_path


@pytest.fixture
def tuning(run_module: Run, kernel: Path) -> Run:
    def run(*, check: bool = False, **params: Any) -> dict[str, Any]:
        places = {"record": str(kernel / "state" / "tuning.json"), "root": str(kernel / "sys")}
        return run_module("gpuprov_tuning", check=check, **places, **params)

    return run


def value(kernel: Path, key: str = "vm/swappiness") -> str:
    return (kernel / "sys" / key).read_text().strip()


def record(kernel: Path) -> Any:
    path = kernel / "state" / "tuning.json"
    return json.loads(path.read_text()) if path.exists() else {}


SWAPPINESS = {"key": "vm.swappiness", "value": "10"}


def test_a_setting_comes_into_force_and_what_was_before_comes_back(tuning: Run, kernel: Path) -> None:
    assert tuning(settings=[SWAPPINESS])["changes"] == ["vm.swappiness 60 -> 10"]
    assert (value(kernel), record(kernel)) == ("10", {"vm.swappiness": "60"})
    assert tuning(settings=[SWAPPINESS])["changed"] is False
    assert tuning(settings=[{**SWAPPINESS, "value": "5"}])["changes"] == ["vm.swappiness 10 -> 5"]
    assert record(kernel) == {"vm.swappiness": "60"}, "what was there before gpuprov, not before this run"
    assert tuning(restore=["vm.swappiness"])["changes"] == ["vm.swappiness 5 -> 60"]
    assert (value(kernel), record(kernel)) == ("60", {})


def test_blanks_do_not_count_and_what_is_right_is_not_written_down(tuning: Run, kernel: Path) -> None:
    done = tuning(settings=[{"key": "vm.tcp_rmem", "value": "4096 131072  6291456"}])
    assert (done["changed"], record(kernel)) == (False, {})


def test_check_mode_says_the_same_and_touches_nothing(tuning: Run, kernel: Path) -> None:
    assert tuning(check=True, settings=[SWAPPINESS])["changes"] == ["vm.swappiness 60 -> 10"]
    assert (value(kernel), record(kernel)) == ("60", {})


def test_what_the_kernel_lacks_is_told_by_name_and_the_others_come_into_force(tuning: Run, kernel: Path) -> None:
    done = tuning(settings=[{"key": "kernel.no_such", "value": "1"}, SWAPPINESS])
    assert done["failed"] is True
    assert (done["gpuprov"]["reason"], done["gpuprov"]["path"]) == ("setting", "kernel.no_such")
    assert "refuses 1: No such file" in done["gpuprov"]["text"]
    assert value(kernel) == "10"


def test_a_refusal_leaves_nothing_to_put_back(tuning: Run, kernel: Path) -> None:
    """A file system that is mounted read-only: like a node of the lab, which may not set the machine's own kernel."""
    (kernel / "sys" / "vm" / "ro").symlink_to("/proc/version")
    done = tuning(settings=[{"key": "vm.ro", "value": "1"}])
    assert "the kernel refuses 1" in done["gpuprov"]["text"]
    assert record(kernel) == {}


def test_a_kernel_that_takes_less_is_told_with_what_it_gave(tuning: Run, kernel: Path) -> None:
    """Like vm.nr_hugepages on a host with little memory in one piece: the write succeeds."""
    (kernel / "sys" / "vm" / "full").symlink_to("/dev/null")
    done = tuning(settings=[{"key": "vm.full", "value": "1024"}])
    assert "made nothing of 1024" in done["gpuprov"]["text"]


def test_our_unit_is_stopped_before_its_file_goes(tuning: Run, kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (kernel / "programs").mkdir()
    program = kernel / "programs" / "systemctl"
    program.write_text(f'#!/bin/sh\necho "$*" >>{kernel}/calls\n[ $1 = disable ] || echo active\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{kernel / 'programs'}:{os.environ['PATH']}")
    assert tuning(check=True, stop=["gpuprov-tuning"])["changed"] is True
    assert "disable" not in (kernel / "calls").read_text()
    assert tuning(stop=["gpuprov-tuning"])["changed"] is True
    assert (kernel / "calls").read_text().endswith("disable --now gpuprov-tuning\n")


def test_a_limit_that_would_end_every_login_is_refused_before_it_is_written(tuning: Run, kernel: Path) -> None:
    """Also root may not have more open files than fs.nr_open."""
    done = tuning(limits=[{"item": "core", "value": "0"}, {"item": "nofile", "value": "unlimited"}])
    assert (done["gpuprov"]["reason"], done["gpuprov"]["path"]) == ("setting", "nofile")
    assert "nobody could log in" in done["gpuprov"]["text"]
    assert tuning(limits=[{"item": "core", "value": "0"}, {"item": "maxlogins", "value": "4"}])["changed"] is False
