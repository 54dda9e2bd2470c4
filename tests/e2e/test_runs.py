"""Kept plans, runs that were killed or interrupted, the lock of a host, and plain Ansible in the place of gpuprov."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuprov.app.access import Access
from gpuprov.app.hosts import open_fleet
from gpuprov.app.site import open_lock, open_site
from gpuprov.model.host import Host
from gpuprov.rollout.host_lock import PATH, HostLocks
from gpuprov.store.lock import owner_now
from gpuprov.transport.ssh import connect
from tests.e2e.site import GPUPROV, Ended, LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

HELD = "prometheus-node-exporter"
"""A package that every node has: without its hold a node has drifted, and nothing on it has to restart."""


def login(site: LabSite) -> str:
    """The node without GPUs: nothing on it ever reboots for a driver."""
    return next(name for name in site.names if name not in site.train)


def host_of(site: LabSite, name: str) -> Host:
    """A node as gpuprov itself reaches it."""
    here = open_site(site.folder / "gpuprov.yaml")
    (host,) = open_fleet(here, open_lock(here)[0], Access(limit=name)).hosts
    return host


def drift(site: LabSite, name: str) -> None:
    site.root(name, f"apt-mark unhold {HELD}")


def wait_for_batch(site: LabSite, name: str, process: subprocess.Popen[str]) -> None:
    """Until a run has the node's lock."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, f"up ended before its batch began: {process.communicate()}"
        if site.root(name, f"cat {PATH} 2>/dev/null", check=False).strip():
            return
        time.sleep(0.2)
    pytest.fail("no batch within 120 s")


def is_free(site: LabSite, name: str) -> bool:
    return site.root(name, f"flock -n {PATH} echo free || true", check=False).strip() == "free"


def free_soon(site: LabSite, name: str) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not is_free(site, name):
        time.sleep(0.2)
    return is_free(site, name)


def last_run(site: LabSite) -> dict[str, object]:
    return dict(site.run("runs", "show", "--json").body)


def test_a_kept_plan_is_made_as_it_stands_and_by_one_run_at_a_time(site: LabSite) -> None:
    name = login(site)
    drift(site, name)
    site.run("preview", "--target", "onprem", "-l", name, "--out", "plan.json")
    up = ("-l", name, "--plan", "plan.json")
    site.root(name, "mv /etc/apt/preferences.d/gpuprov.pref /root/")
    moved = site.up(*up, expect=5)
    assert moved.codes == ["GP-PLAN-001"]
    assert "gpuprov.pref" in moved.stderr
    site.root(name, "mv /root/gpuprov.pref /etc/apt/preferences.d/")
    # Another folder is another site: only the host itself can keep two runs apart.
    with HostLocks(lambda host: connect(host.connection), owner_now(["gpuprov", "rollback"])) as locks:
        locks.keep(host_of(site, name))
        second = site.up(*up, expect=5)
    assert second.codes == ["GP-RUN-011"]
    assert f"(process {os.getpid()})" in second.stderr
    assert "gpuprov rollback" in second.stderr
    assert HELD not in site.root(name, "apt-mark showhold"), "nothing was done"
    assert touched(site.up(*up)) == {name: "changed"}
    assert HELD in site.root(name, "apt-mark showhold")
    assert is_free(site, name)
    assert site.up(*up, expect=5).codes == ["GP-PLAN-001"], "a plan is true once"


def go_on(site: LabSite, name: str, end: str) -> Ended:
    """Look at what a run left, and go on with it."""
    left = last_run(site)
    assert left["end"] == end
    assert [host["host"] for host in left["hosts"]] == [name]  # type: ignore[attr-defined]
    assert free_soon(site, name), "the lock of a run that is gone locks nobody out"
    resumed = site.run("up", "--resume", "--yes")
    assert f"note[GP-RUN-009] {left['run']}" in resumed.stderr
    assert site.run("runs", "show", str(left["run"]), "--json").body["resumed_by"] == last_run(site)["run"]
    assert HELD in site.root(name, "apt-mark showhold")
    again = site.run("up", "--resume", "--yes", expect=6)
    assert again.codes == ["GP-RUN-008"]
    return resumed


def test_a_killed_run_is_explained_and_gone_on_with(site: LabSite) -> None:
    name = login(site)
    drift(site, name)
    process = site.start("up", "--target", "onprem", "-l", name, "--yes", start_new_session=True)
    wait_for_batch(site, name, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    go_on(site, name, "killed")


@pytest.mark.matrix
def test_a_second_ctrl_c_stops_at_once_and_the_run_can_be_gone_on_with(site: LabSite) -> None:
    name = login(site)
    drift(site, name)
    process = site.start("up", "--target", "onprem", "-l", name, "--yes", start_new_session=True)
    wait_for_batch(site, name, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in stderr) == (8, False), stderr
    assert time.monotonic() - began < 10
    assert "up --resume" in stderr
    go_on(site, name, "interrupted")


def plain_ansible(folder: Path, *argv: str) -> dict[str, int]:
    """Run the exported play; the recap's counts of its only host."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    done = subprocess.run(
        [str(GPUPROV.parent / "ansible-playbook"), "playbooks/site.yml", *argv],
        cwd=folder, env={**environment, "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default", "ANSIBLE_NOCOLOR": "1"},
        text=True, capture_output=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    recap = done.stdout.rpartition("PLAY RECAP")[2].splitlines()[1]
    return {key: int(value) for key, _, value in (word.partition("=") for word in recap.split() if "=" in word)}


@pytest.mark.matrix
def test_plain_ansible_brings_a_host_to_the_same(site: LabSite, tmp_path: Path) -> None:
    name = login(site)
    drift(site, name)
    site.root(name, "rm /etc/apt/preferences.d/gpuprov.pref")
    site.run("export", "ansible", str(tmp_path / "out"), "-l", name)
    assert plain_ansible(tmp_path / "out")["changed"] > 0
    status = site.run("preview", "--target", "onprem", "-l", name, "--expect-no-changes", "--json")
    assert [host["satisfied"] for host in status.body["plan"]["hosts"]] == [True]
    assert plain_ansible(tmp_path / "out")["changed"] == 0


@pytest.mark.matrix
def test_plain_ansible_sets_a_new_host_up_like_up(
    site: LabSite, fresh_lab: Callable[..., LabSite], tmp_path: Path
) -> None:
    """The same node of the same seed in two labs: one set up by `up`, one by the play alone."""
    other = fresh_lab("export", train=0, cpu=1)
    (name,) = other.names
    other.run("lock")
    other.run("export", "ansible", str(tmp_path / "out"))
    assert plain_ansible(tmp_path / "out")["failed"] == 0
    other.run("preview", "--target", "onprem", "--expect-no-changes")
    ours, theirs = (json.loads(each.root(name, "cat /var/lib/gpuprov/owned.json")) for each in (site, other))
    assert theirs["packages"] == ours["packages"]
    assert set(theirs["files"]) == set(ours["files"])
    assert other.drift().status == 0
