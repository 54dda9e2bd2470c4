import fcntl
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils import gpuprov_unit as unit


class Systemd:
    """Answers systemctl and systemd-run; a started script runs at once."""

    def __init__(self) -> None:
        self.units: dict[str, str] = {}
        self.calls: list[list[str]] = []
        self.silent = 0
        """So many looks get no answer."""

    def __call__(self, argv: list[str], data: str | None = None) -> tuple[int, str, str]:
        self.calls.append(argv)
        if argv[0] == "systemd-run":
            done = subprocess.run(argv[argv.index("/bin/sh") :], check=False)
            name = next(word for word in argv if word.startswith("--unit=")).removeprefix("--unit=")
            self.units[f"{name}.service"] = "exited" if done.returncode == 0 else "failed"
        if argv[1] == "list-units" and self.silent:
            self.silent -= 1
            return 1, "", "Failed to list units: Transport endpoint is not connected"
        if argv[1] == "list-units":
            return 0, "".join(f"{name} loaded active {state} x\n" for name, state in self.units.items()), ""
        if argv[1] == "stop":
            self.units.pop(argv[2], None)
        return 0, "", ""


@pytest.fixture
def systemd() -> Systemd:
    return Systemd()


@pytest.fixture
def units(systemd: Systemd, tmp_path: Path) -> unit.Units:
    return unit.Units(systemd, folder=tmp_path / "transactions", ask_every=0.0)


def test_commands_run_in_order_and_the_first_that_fails_ends_the_unit(units: unit.Units) -> None:
    units.start("a", {"x": 1}, [["echo", "it's one"], ["sh", "-c", "exit 7"], ["echo", "never"]])
    assert units.result("a") == 7
    lines = units.log("a").splitlines()
    assert "it's one" in lines
    assert "never" not in lines


def test_a_result_is_written_by_the_unit_itself(units: unit.Units, tmp_path: Path) -> None:
    before = time.time()
    units.start("a", {"x": 1}, [["true"]])
    result = json.loads((tmp_path / "transactions" / "a" / "result.json").read_text())
    assert result["status"] == 0
    assert result["ended"] >= int(before)
    assert json.loads((tmp_path / "transactions" / "a" / "request.json").read_text()) == {"x": 1}


def test_programs_speak_english_and_ask_nothing(units: unit.Units) -> None:
    units.start("a", {}, [["sh", "-c", 'echo "<$LC_ALL|$LANGUAGE|$DEBIAN_FRONTEND>"; read x; echo "stdin: $?"']])
    assert "<C.UTF-8||noninteractive>" in units.log("a")
    assert "stdin: 1" in units.log("a")


def test_a_second_run_keeps_the_log_and_not_the_result(units: unit.Units) -> None:
    units.start("a", {}, [["sh", "-c", "echo first; exit 3"]])
    assert units.result("a") == 3
    units.start("a", {}, [["echo", "second"]])
    assert units.result("a") == 0
    assert units.log("a").index("first") < units.log("a").index("second")


def test_a_running_unit_has_no_result_yet_and_one_that_vanished_has_failed(units: unit.Units, systemd: Systemd) -> None:
    systemd.units["gpuprov-transaction-a.service"] = "running"
    assert units.running() == ["gpuprov-transaction-a.service"]
    assert units.result("a") is None
    assert units.wait(0) == "gpuprov-transaction-a.service"
    del systemd.units["gpuprov-transaction-a.service"]
    assert units.wait(0) == ""
    assert units.result("a") == 255


def test_systemd_is_asked_now_and_then_and_the_result_is_looked_for_each_time(systemd: Systemd, tmp_path: Path) -> None:
    patient = unit.Units(systemd, folder=tmp_path, ask_every=3600.0)
    systemd.units["gpuprov-transaction-a.service"] = "running"
    assert [patient.result("a") for _ in range(5)] == [None] * 5
    assert len(systemd.calls) == 1
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "result.json").write_text('{"status": 0}')
    assert patient.result("a") == 0


def test_no_answer_is_not_an_empty_list(units: unit.Units, systemd: Systemd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit.time, "sleep", lambda _seconds: None)
    systemd.units["gpuprov-transaction-a.service"] = "running"
    systemd.silent = 3  # dbus is being upgraded
    assert units.running() == ["gpuprov-transaction-a.service"]
    systemd.silent = 10**9
    impatient = unit.Units(systemd, patience=0)
    for look in (impatient.running, impatient.tidy, lambda: impatient.wait(0), lambda: impatient.result("a")):
        with pytest.raises(unit.NoAnswer, match="Transport endpoint"):
            look()


@pytest.mark.parametrize("state", ["running", "start", "stop-sigterm", "final-sigterm", "reload"])
def test_a_unit_runs_until_it_has_ended(units: unit.Units, systemd: Systemd, state: str) -> None:
    systemd.units["gpuprov-transaction-a.service"] = state
    units.tidy()
    assert units.running() == ["gpuprov-transaction-a.service"]


def test_tidying_keeps_what_runs_and_the_last_ten(units: unit.Units, systemd: Systemd, tmp_path: Path) -> None:
    for number in range(13):
        units.start(f"t{number:02}", {}, [["true"]])
    systemd.units["gpuprov-transaction-live.service"] = "running"
    units.tidy()
    assert list(systemd.units) == ["gpuprov-transaction-live.service"]
    assert len(list((tmp_path / "transactions").iterdir())) == unit.KEEP
    assert not [call for call in systemd.calls if call[:1] == ["kill"] or "kill" in call[1:2]]


def test_requests_are_readable_by_root_only(units: unit.Units, tmp_path: Path) -> None:
    units.start("a", {}, [["true"]])
    folder = tmp_path / "transactions" / "a"
    assert folder.stat().st_mode & 0o777 == 0o700


HOLD = (
    "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX);"
    "print('held', flush=True); time.sleep(60)"
)


@pytest.fixture
def holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    lock = tmp_path / "lock-frontend"
    monkeypatch.setattr(unit, "LOCKS", (str(tmp_path / "absent"), str(lock)))
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_holder_of_dpkg_s_lock_is_named_and_left_alone(holder: subprocess.Popen[str]) -> None:
    found = unit.wait_for_lock(0)
    assert found is not None
    assert found[0] == holder.pid
    assert sys.executable in found[1]
    assert holder.poll() is None


def test_a_free_lock_has_no_holder(holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.wait()
    assert unit.wait_for_lock(5) is None


def test_turns_are_taken_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    first = unit.take_turn(0, path)
    assert first is not None
    assert unit.take_turn(0, path) is None
    fcntl.flock(first, fcntl.LOCK_UN)
    first.close()
    second = unit.take_turn(0, path)
    assert second is not None
    second.close()
