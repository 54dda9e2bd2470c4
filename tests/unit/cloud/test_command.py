import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pulumi.automation.errors import CommandError, StackNotFoundError

from gpuprov.cloud.command import EngineCommand, is_held
from gpuprov.cloud.engine import Engine

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def command(folder: Path, script: str) -> EngineCommand:
    """An engine that is a shell script."""
    path = folder / "pulumi"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    engine = Engine(path=path, version="3.274.1", origin="PATH")
    return EngineCommand(engine, log=folder / "log", hold=folder / "train.engine")


def test_output_status_and_environment(tmp_path: Path) -> None:
    one = command(tmp_path, 'echo "$@"; echo "$MINE"; echo "$PULUMI_AUTOMATION_API"; pwd; echo complaint >&2')
    result = one.run(["up", "--yes"], str(tmp_path), {"MINE": "x"})
    assert result.stdout.splitlines() == ["--non-interactive up --yes", "x", "true", str(tmp_path)]
    assert (result.stderr, result.code) == ("complaint", 0)


def test_a_status_is_kept_and_becomes_the_sdks_error(tmp_path: Path) -> None:
    one = command(tmp_path, "echo 'error: no stack named train found' >&2; exit 6")
    with pytest.raises(StackNotFoundError):
        one.run(["stack", "select"], str(tmp_path), {})
    assert one.last is not None
    assert one.last.code == 6
    killed = command(tmp_path, "kill -9 $$")
    with pytest.raises(CommandError):
        killed.run(["up"], str(tmp_path), {})
    assert killed.last is not None
    assert killed.last.code == -9


def test_lines_are_handed_on_as_they_come_and_none_is_lost(tmp_path: Path) -> None:
    one = command(tmp_path, "for i in 1 2 3; do echo line $i; sleep 0.1; done; echo 'Grüße'")
    lines: list[str] = []
    result = one.run(["preview"], str(tmp_path), {}, on_output=lines.append)
    assert lines == result.stdout.splitlines() == ["line 1", "line 2", "line 3", "Grüße"]


def test_logs_of_runs_are_private_and_kept_and_others_go(tmp_path: Path) -> None:
    one = command(tmp_path, "echo secret")
    one.run(["stack", "export"], str(tmp_path), {})
    assert list((tmp_path / "log").iterdir()) == []
    one.run(["up"], str(tmp_path), {})
    files = sorted((tmp_path / "log").iterdir())
    assert [path.suffix for path in files] == [".err", ".out"]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """A run that a shell put into the background ignores SIGINT, and so do its children: not here."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_one_interrupt_goes_to_the_engine_alone_and_no_second(tmp_path: Path) -> None:
    script = (
        "trap 'echo asked >> asked' INT; touch begun; sleep 0.4 & wait; sleep 0.4;"
        " echo 'error: update canceled'; exit 1"
    )
    one = command(tmp_path, script)
    one.cancel = threading.Event()

    def stop() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        one.cancel.set()

    threading.Thread(target=stop).start()
    with pytest.raises(CommandError):
        one.run(["up"], str(tmp_path), {})
    assert (tmp_path / "asked").read_text() == "asked\n"
    assert one.last is not None
    assert "update canceled" in one.last.stdout


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_asks_the_engine_and_waits_for_its_end(tmp_path: Path) -> None:
    script = "trap 'touch asked' INT; touch begun; sleep 5 & wait; sleep 0.3; touch ended; exit 1"
    one = command(tmp_path, script)

    def press() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        time.sleep(0.5)  # until the engine is being waited for
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        one.run(["up"], str(tmp_path), {})
    assert (tmp_path / "asked").exists()
    assert (tmp_path / "ended").exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the engine is left to its end
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_after_the_run_was_cancelled_leaves_the_engine_to_its_end(tmp_path: Path) -> None:
    """The application takes the first Ctrl-C itself, and promises that the second one stops now."""
    script = "trap 'echo asked >> asked' INT; touch begun; sleep 0.6 & wait; sleep 0.6; touch ended; exit 1"
    one = command(tmp_path, script)
    one.cancel = threading.Event()

    def press() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        one.cancel.set()
        while not (tmp_path / "asked").exists():
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        one.run(["up"], str(tmp_path), {})
    assert not (tmp_path / "ended").exists()
    assert is_held(one.hold)
    while is_held(one.hold):
        time.sleep(0.02)
    assert (tmp_path / "ended").exists()
    assert (tmp_path / "asked").read_text() == "asked\n"


def test_a_kill_of_python_leaves_the_engine_at_work_and_the_hold_says_so(tmp_path: Path) -> None:
    command(tmp_path, "touch begun; i=0; while [ $i -lt 20 ]; do echo $i; i=$((i+1)); sleep 0.05; done; touch ended")
    code = (
        "import sys; from pathlib import Path; from gpuprov.cloud.command import EngineCommand; "
        "from gpuprov.cloud.engine import Engine; f = Path(sys.argv[1]); "
        "EngineCommand(Engine(path=f / 'pulumi', version='3.274.1', origin='PATH'), log=f / 'log', "
        "hold=f / 'train.engine').run(['up'], str(f), {})"
    )
    hold = tmp_path / "train.engine"
    assert not is_held(hold)
    python = subprocess.Popen(
        (sys.executable, "-c", code, str(tmp_path)), env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )
    while not (tmp_path / "begun").exists():
        assert python.poll() is None
        time.sleep(0.02)
    python.kill()
    python.wait()
    assert is_held(hold)
    assert not (tmp_path / "ended").exists()
    while is_held(hold):
        time.sleep(0.05)
    assert (tmp_path / "ended").exists()


def test_a_run_that_only_looks_holds_nothing(tmp_path: Path) -> None:
    one = command(tmp_path, "touch begun; sleep 0.2")
    one.run(["preview"], str(tmp_path), {})
    assert not (tmp_path / "train.engine").exists()
