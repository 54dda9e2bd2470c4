"""The lab itself, on this machine: real nodes, power cuts, reboots, a second lab beside, and nothing left behind."""

import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuprov.lab import lab, making, seed, settings
from gpuprov.lab.description import GpuDescription, LabDescription
from gpuprov.lab.node import Node
from gpuprov.lab.state import LabState, Power
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress

# One lab for the module: a base that is not in the cache takes minutes.
pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]
SEED = int(os.environ.get("GPUPROV_LAB_SEED", secrets.randbelow(1_000_000)))
SUDO_PASSWORD = "a lab's password"


def description(offset: int, nodes: int) -> LabDescription:
    """A lab whose last node asks for a password in sudo."""
    drawn = seed.draw(SEED + offset, nodes=nodes, cloud=False)
    return replace(drawn, nodes=(*drawn.nodes[:-1], replace(drawn.nodes[-1], sudo_password=SUDO_PASSWORD)))


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabState]:
    """A lab of two nodes; its seed is printed, so that a failure can be seen again."""
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\nGPUPROV_LAB_SEED={SEED}")  # noqa: T201
    state = lab.up(description(0, 2), tmp_path_factory.mktemp("lab"), ignore_progress)
    yield state
    lab.down(state.id, ignore_progress)
    assert lab.leftovers(state.id).empty
    assert state.id not in lab.list_labs()


@pytest.fixture
def first(made: LabState) -> Node:
    return lab.node(made.id, made.description.nodes[0].name)


def ssh(made: LabState, name: str, command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    argv = ["ssh", "-F", str(made.folder / "ssh_config"), "-o", "StrictHostKeyChecking=yes", name, command]
    return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=60, check=False)


def test_every_node_lets_its_user_in_with_its_known_key(made: LabState) -> None:
    for node in made.description.nodes:
        done = ssh(made, node.name, "hostname; id -un; systemctl is-system-running --wait")
        assert (done.returncode, done.stdout.split()) == (0, [node.name, node.user, "running"]), done.stderr


def test_sudo_asks_for_a_password_only_where_the_description_says_so(made: LabState) -> None:
    free, guarded = made.description.nodes
    assert ssh(made, free.name, "sudo -n id -un").stdout == "root\n"
    assert ssh(made, guarded.name, "sudo -n id -un").returncode == 1
    assert ssh(made, guarded.name, "sudo -S -p '' id -un", f"{SUDO_PASSWORD}\n").stdout == "root\n"
    assert ssh(made, guarded.name, "sudo -S -p '' id -un", "another\n").returncode == 1


def test_nodes_do_not_share_an_identity(made: LabState) -> None:
    nodes = [lab.node(made.id, node.name) for node in made.description.nodes]
    for place in ("/etc/machine-id", "/etc/ssh/ssh_host_ed25519_key.pub", "/proc/sys/kernel/random/boot_id"):
        texts = [node.exec(["cat", place]).stdout for node in nodes]
        assert all(texts), place
        assert len(set(texts)) == len(nodes), place


def test_nodes_reach_the_archive_each_other_and_the_vendors_packages(made: LabState, first: Node) -> None:
    update = first.exec(["apt-get", "update"], timeout=120)
    assert (update.status, update.stderr) == (0, "")
    assert first.exec(["ping", "-c1", "-W2", made.description.nodes[1].name]).status == 0
    index = first.exec(["curl", "--fail", "--silent", f"{made.description.repository_url}Packages"])
    assert index.status == 0
    assert "\nVersion: " in index.stdout


def test_a_cloud_machines_metadata_service_is_out_of_reach(made: LabState, first: Node) -> None:
    def dropped() -> int:
        space = f"--net=/run/netns/{first.names.router_namespace}"
        argv = ["nsenter", space, "nft", "list", "table", "inet", first.names.table]
        rules = subprocess.run(argv, capture_output=True, text=True, check=True)
        return int(rules.stdout.split("counter packets ")[1].split()[0])

    before = dropped()
    assert first.exec(["curl", "--silent", "--max-time", "2", "http://169.254.169.254/"]).status != 0
    assert dropped() > before


def test_a_reboot_is_a_new_boot_with_a_new_clock(made: LabState, first: Node) -> None:
    before = first.boot_id()
    old = float(first.exec(["cat", "/proc/uptime"]).stdout.split()[0])
    assert ssh(made, first.description.name, "sudo systemctl reboot").returncode in (0, 255)
    first.wait_boot(before)
    assert float(first.exec(["cat", "/proc/uptime"]).stdout.split()[0]) < max(old, 30)
    assert ssh(made, first.description.name, "systemctl is-system-running --wait").stdout == "running\n"


def test_entering_a_node_at_any_moment_does_not_hold_its_reboot_up(first: Node) -> None:
    """Systemd's shutdown stops every process of the node for a moment; what was entered must not wait for ever then."""
    for _ in range(3):
        before = first.boot_id()
        sleepers = [threading.Thread(target=first.exec, args=(["sleep", "300"],)) for _ in range(3)]
        for sleeper in sleepers:
            sleeper.start()
        deadline = time.monotonic() + 20
        while first.exec(["pgrep", "-c", "sleep"]).stdout != "3\n":
            assert time.monotonic() < deadline
        first.exec(["systemctl", "reboot"])
        first.wait_boot(before, timeout=100)
        for sleeper in sleepers:
            sleeper.join(timeout=30)
            assert not sleeper.is_alive()


def test_a_power_cut_stops_everything_and_keeps_the_disk(made: LabState, first: Node) -> None:
    first.exec(["sh", "-c", "echo kept >/root/file; systemd-run --unit=busy sleep 1000"])
    before = first.boot_id()
    first.power_off()
    assert first.leader() is None
    assert not first.ssh_answers()
    powers = {node.name: node.power for node in lab.status(made.id).nodes}
    assert powers.pop(first.description.name) is Power.OFF
    assert set(powers.values()) == {Power.ON}
    first.start()
    first.wait_ssh()
    assert first.boot_id() != before
    assert first.exec(["cat", "/root/file"]).stdout == "kept\n"
    assert first.exec(["systemctl", "is-active", "busy"]).status != 0


def test_a_lab_that_is_up_is_not_made_again(made: LabState) -> None:
    with pytest.raises(GpuprovError) as caught:
        lab.up(made.description, made.folder, ignore_progress)
    assert "is up already" in caught.value.diagnostics[0].summary
    assert lab.status(made.id).phase == "up"


def test_another_lab_of_the_same_seed_is_made_and_removed_beside(made: LabState, tmp_path: Path, first: Node) -> None:
    """The address range is the same one as drawn, and must become another."""
    other = lab.up(replace(description(0, 1), id="other"), tmp_path, ignore_progress)
    assert not other.description.network.overlaps(made.description.network)
    assert {made.id, other.id} <= set(lab.list_labs())
    way_in = lab.node(other.id, other.description.nodes[0].name)
    assert way_in.exec(["true"]).status == 0
    assert not lab.down(other.id, ignore_progress).empty
    assert lab.leftovers(other.id).empty
    assert not (tmp_path / "id_ed25519").exists()
    assert first.ssh_answers()
    assert settings.read("net.ipv4.ip_forward") == 1
    assert lab.status(made.id).repository


def test_the_folder_of_another_lab_is_refused(made: LabState) -> None:
    with pytest.raises(GpuprovError) as caught:
        lab.up(description(2, 1), made.folder, ignore_progress)
    assert "belongs to the lab" in caught.value.diagnostics[0].summary
    assert lab.leftovers(description(2, 1).id).empty


@pytest.mark.parametrize("error", [ValueError("no such fault"), KeyboardInterrupt()], ids=["failed", "interrupted"])
def test_nothing_is_left_of_a_lab_that_cannot_be_made(
    made: LabState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """The second node's hardware fails, when the first one boots already."""
    drawn = description(5, 2)
    real = making.hardware_files

    def fail(gpu: GpuDescription | None) -> dict[str, tuple[bytes, int]]:
        if gpu is None:
            time.sleep(0.5)
            raise error
        return real(gpu)

    monkeypatch.setattr(making, "hardware_files", fail)
    before = time.monotonic()
    with pytest.raises(type(error)):
        lab.up(drawn, tmp_path, ignore_progress)
    assert time.monotonic() - before < 100
    assert lab.leftovers(drawn.id).empty
    assert not (tmp_path / "id_ed25519").exists()
    assert lab.status(made.id).phase == "up"


KILLED_UP = """
import os, signal, subprocess, sys
from pathlib import Path
from gpuprov.lab import lab, seed
from gpuprov.model.progress import ignore_progress

left = int(sys.argv[3])
start = subprocess.Popen.__init__

def counting(*args, **kwargs):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    start(*args, **kwargs)

subprocess.Popen.__init__ = counting
lab.up(seed.draw(int(sys.argv[1]), nodes=2, cloud=False), Path(sys.argv[2]), ignore_progress)
"""


@pytest.mark.parametrize("programs", [4, 6, 9, 12, 16, 22, 30])
def test_nothing_is_left_of_a_lab_that_was_killed_while_it_was_made(
    made: LabState, tmp_path: Path, programs: int
) -> None:
    """Killed with -9 at its n-th program; `made` sees to it that the base is there."""
    number = SEED + 3
    argv = [sys.executable, "-c", KILLED_UP, str(number), str(tmp_path), str(programs)]
    assert subprocess.run(argv, check=False, timeout=180).returncode == -9
    lab_id = seed.lab_id(number)
    lab.down(lab_id, ignore_progress)
    assert lab.leftovers(lab_id).empty
    assert lab.down(lab_id, ignore_progress).empty
    assert lab.status(made.id).phase == "up"


def test_a_lab_is_made_over_the_leftovers_of_a_killed_one(made: LabState, tmp_path: Path) -> None:
    number = SEED + 4
    argv = [sys.executable, "-c", KILLED_UP, str(number), str(tmp_path), "16"]
    assert subprocess.run(argv, check=False, timeout=180).returncode == -9
    assert not lab.leftovers(seed.lab_id(number)).empty
    state = lab.up(seed.draw(number, nodes=1, cloud=False), tmp_path, ignore_progress)
    try:
        assert [node.ssh for node in lab.status(state.id).nodes] == [True]
    finally:
        lab.down(state.id, ignore_progress)
    assert lab.leftovers(state.id).empty


@pytest.mark.slow
def test_docker_runs_a_container_on_a_node(first: Node) -> None:
    install = "apt-get update -q && apt-get install -y -q --no-install-recommends docker.io busybox-static"
    assert first.exec(["sh", "-c", install], timeout=600).status == 0
    image = "mkdir -p /root/i/bin && cp /bin/busybox /root/i/bin/ && tar -C /root/i -c . | docker import - bb"
    assert first.exec(["sh", "-c", image]).status == 0
    assert first.exec(["docker", "run", "--rm", "bb", "/bin/busybox", "echo", "inside"]).stdout == "inside\n"
    assert first.exec(["docker", "info", "--format", "{{.Driver}}"]).stdout == "overlay2\n"
