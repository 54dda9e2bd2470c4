"""Runs that end badly: kill -9 in the package transaction, Ctrl-C, two at once. The next `up` goes on from there."""

import os
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from tests.e2e.site import LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.matrix, pytest.mark.timeout(900)]


def wait_for_transaction(site: LabSite, name: str, process: subprocess.Popen[str]) -> None:
    """Until dpkg is at work on the node, under our unit."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        assert process.poll() is None, f"up ended before its transaction began: {process.communicate()}"
        running = site.root(
            name,
            "systemctl list-units --no-legend --state=active,activating 'gpuprov-transaction-*'; pgrep -x dpkg || true",
            check=False,
        )
        if "gpuprov-transaction-" in running and running.split()[-1].isdigit():
            return
        time.sleep(0.3)
    pytest.fail("no package transaction within 300 s")


@pytest.mark.parametrize("whole_group", [False, True], ids=["the parent alone", "the whole process group"])
def test_up_killed_in_the_package_transaction_is_finished_by_the_next(
    fresh_lab: Callable[..., LabSite],
    whole_group: bool,  # noqa: FBT001 - a test's parameter
) -> None:
    site = fresh_lab("kgroup" if whole_group else "kalone", train=1)
    name = site.train[0]
    site.run("lock")
    process = site.start("up", "--target", "onprem", "--yes", start_new_session=True)
    wait_for_transaction(site, name, process)
    if whole_group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate(timeout=60)
    assert touched(site.up()) == {name: "changed"}
    assert site.drift().status == 0
    assert site.root(name, "dpkg --audit") == ""


def test_ctrl_c_stops_after_the_step_and_the_next_up_goes_on(fresh_lab: Callable[..., LabSite]) -> None:
    site = fresh_lab("ctrlc", train=1)
    name = site.train[0]
    site.run("lock")
    process = site.start("up", "--target", "onprem", "--yes", start_new_session=True)
    wait_for_transaction(site, name, process)
    second = site.run("up", "--target", "onprem", "--yes", expect=None)
    assert (second.status, second.codes) == (5, ["GP-RUN-001"])
    assert str(process.pid) in second.stderr, "who holds the site is named"
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 8, stderr
    assert "GP-RUN-003" in stderr
    assert "Traceback" not in stderr
    site.up()
    assert site.drift().status == 0
