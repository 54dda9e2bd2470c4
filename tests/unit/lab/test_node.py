from pathlib import Path

import pytest

from gpuprov.lab import cgroup, node
from gpuprov.lab.names import LabNames
from gpuprov.lab.node import Node, launch_argv
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError


def test_a_boot_has_its_own_clock_and_network() -> None:
    argv = launch_argv(LabNames("abc"), "gpu1", uptime=500)
    assert argv[:7] == ["unshare", "--time", "--fork", "--boottime", "-500", "--monotonic", "-500"]
    assert "--network-namespace-path=/run/netns/gpl-abc-gpu1" in argv
    assert "--hostname=gpu1" in argv
    assert "--machine=gpl-abc-gpu1" in argv


def test_without_time_namespaces_nspawn_is_started_itself() -> None:
    assert launch_argv(LabNames("abc"), "gpu1", uptime=None)[0] == "systemd-nspawn"


def test_what_docker_needs_in_a_node_is_there() -> None:
    argv = launch_argv(LabNames("abc"), "gpu1", uptime=None)
    assert "--system-call-filter=@keyring bpf" in argv
    assert "--capability=CAP_NET_ADMIN" in argv
    assert "--bind=/var/lib/gpuprov-lab/abc/nodes/gpu1/docker:/var/lib/docker" in argv


@pytest.fixture
def off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    """A node of which nothing runs."""
    monkeypatch.setattr(cgroup, "hierarchies", lambda: (tmp_path,))
    monkeypatch.setattr(node, "_DEATH_SECONDS", 0.1)
    lab = draw(2, nodes=1)
    return Node(lab=lab, description=lab.nodes[0], folder=tmp_path)


def test_a_node_that_is_off_cannot_be_entered(off: Node) -> None:
    assert off.leader() is None
    assert off.supervisor() is None
    with pytest.raises(GpuprovError) as caught:
        off.exec(["true"])
    assert caught.value.diagnostics[0].summary == "the node is off"


def test_waiting_for_a_node_that_ended_stops_early(off: Node) -> None:
    with pytest.raises(GpuprovError) as caught:
        off.wait_ssh(timeout=20)
    assert caught.value.diagnostics[0].summary == "the node ended while it booted"
    assert off.description.name in caught.value.diagnostics[0].address
