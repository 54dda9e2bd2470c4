import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow  # starts other programs: not for `make quick`

SCRIPT = """
import threading, time, click
from gpuprov.cli.ending import end_with

@click.command()
def command():
    if {thread}:
        threading.Thread(target=time.sleep, args=(60,), daemon={daemon}).start()
    raise KeyboardInterrupt

print("ended with", end_with(command, []))
"""


@pytest.mark.parametrize(
    ("thread", "daemon", "returns"), [(True, False, False), (True, True, True), (False, False, True)]
)
def test_ctrl_c_ends_gpuprov_whatever_a_library_waits_for(*, thread: bool, daemon: bool, returns: bool) -> None:
    began = time.monotonic()
    done = subprocess.run(
        (sys.executable, "-c", SCRIPT.format(thread=thread, daemon=daemon)),
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert time.monotonic() - began < 40
    assert "GP-RUN-003" in done.stderr
    assert ("ended with 8" in done.stdout) is returns
    assert done.returncode == (0 if returns else 8)
