"""Transport, inventory and probe on real systems: sshd, sudo, systemd and dpkg are the nodes' own."""

import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuprov.lab import lab, seed
from gpuprov.lab.state import LabState
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.host import Become, Connection, Host
from gpuprov.model.progress import ignore_progress
from gpuprov.model.snapshot import Snapshot
from gpuprov.probe.probe import ProbeRequest, probe_host, probe_hosts
from gpuprov.probe.snapshot import snapshot_of
from gpuprov.provision.onprem import read_inventory
from gpuprov.transport.ssh import connect

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]
SEED = int(os.environ.get("GPUPROV_LAB_SEED", secrets.randbelow(1_000_000)))
PASSWORD = "a host's own password"
TEMPORARY = "ls -d /dev/shm/gpuprov.* /run/gpuprov.* /tmp/gpuprov.* /var/tmp/gpuprov.* 2>/dev/null"


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabState]:
    """Two nodes; on the last one sudo wants a password."""
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\nGPUPROV_LAB_SEED={SEED}")  # noqa: T201
    drawn = seed.draw(SEED, nodes=2, cloud=False)
    drawn = replace(drawn, id="hosts", nodes=(*drawn.nodes[:-1], replace(drawn.nodes[-1], sudo_password=PASSWORD)))
    lab.down(drawn.id, ignore_progress)  # what a killed test run left
    state = lab.up(drawn, tmp_path_factory.mktemp("hosts"), ignore_progress)
    yield state
    lab.down(state.id, ignore_progress)


@pytest.fixture(scope="module")
def hosts(made: LabState) -> list[Host]:
    """The hosts of the lab's own inventory, in the description's order."""
    found = {h.name: h for h in read_inventory(made.folder / "inventory" / "site.yml").hosts}
    return [found[node.name] for node in made.description.nodes]


def told(connection: Connection, command: str = "true", *, root: bool = False, timeout: float = 30.0) -> Diagnostic:
    with pytest.raises(GpuprovError) as caught:
        connect(connection).run(command, timeout=timeout, root=root)
    return caught.value.diagnostics[0]


def test_a_probe_sees_a_fresh_system_and_leaves_nothing(made: LabState, hosts: list[Host]) -> None:
    path = "/etc/hostname"
    request = ProbeRequest(paths=(path, "/etc/none"), services=("ssh",))
    for node, host, probed in zip(made.description.nodes, hosts, probe_hosts(hosts, request), strict=True):
        seen = probed.result
        assert isinstance(seen, Snapshot)
        assert seen.observe("host.name") == Known(host.name)
        assert seen.observe("gpu.count") == Known(node.gpu.count if node.gpu else 0)
        assert seen.observe("stack.driver.loaded") == Absent()
        assert seen.observe("apt.dpkg") == Known("ok")
        assert seen.observe('package["openssh-server"].state') == Known("installed")
        assert seen.observe('package["no-such-package"].version') == Absent()
        assert seen.observe(f'file["{path}"].text') == Known(host.name + "\n")
        assert seen.observe('file["/etc/none"].mode') == Absent()
        assert seen.observe('service["ssh"].active') == Known("active")
        assert seen.observe('service["docker"].active') == Absent()
        assert seen.observe('exporter["node"].answers') == Known(value=False)
        assert seen.observe("host.clock.correct") == Known(value=True)
        assert seen.observe('user["root"].uid') == Known(0)
        assert isinstance(seen.observe(f'user["{node.user}"].groups'), Known)
        # The last one's sudo asks for a password, which nobody gives here.
        assert isinstance(seen.observe("host.sudo"), Unknown if host is hosts[-1] else Known)
        assert "tcp 22 any" in str(seen.observe("host.ports"))
        assert isinstance(seen.observe('mount["/"].type'), Known)
        assert isinstance(seen.observe('sysctl["vm.swappiness"].value'), Known)
        assert probed.recording is not None
        assert snapshot_of(probed.recording) == seen
        assert connect(host.connection).run(TEMPORARY, timeout=20).stdout == b""


def test_without_the_password_the_user_looks_and_what_needs_root_is_unknown(hosts: list[Host]) -> None:
    probed = probe_host(hosts[-1], ProbeRequest(paths=("/etc/shadow", "/etc/hostname")))
    assert isinstance(probed.result, Snapshot)
    secret = probed.result.observe('file["/etc/shadow"].sha256')
    assert isinstance(secret, Unknown)
    assert "needs root" in secret.reason
    assert "sudo needs a password" in secret.reason
    rules = probed.result.observe("host.sudo")
    assert isinstance(rules, Unknown)
    assert "needs root" in rules.reason
    assert isinstance(probed.result.observe('file["/etc/hostname"].sha256'), Known)
    assert isinstance(probed.result.observe('user["root"].uid'), Known)


def test_sudo_with_a_password(hosts: list[Host]) -> None:
    connection = hosts[-1].connection
    right = replace(connection, become=Become(password=PASSWORD))
    outcome = connect(right).run("id -u; cat", stdin=b"data", timeout=30, root=True)
    assert outcome.stdout == b"0\ndata"
    assert "none was given" in told(connection, root=True).summary
    wrong = told(replace(connection, become=Become(password="wrong")), root=True)
    assert (wrong.code, "refused the password" in wrong.summary) == ("GP-SSH-005", True)
    probed = probe_host(replace(hosts[-1], connection=right), ProbeRequest(paths=("/etc/shadow",)))
    assert isinstance(probed.result, Snapshot)
    assert isinstance(probed.result.observe('file["/etc/shadow"].sha256'), Known)


def test_a_host_behind_another_one(made: LabState, hosts: list[Host]) -> None:
    inner, outer = hosts[0].connection, hosts[-1].connection
    through = replace(inner, jump=(replace(outer, host="bastion"),))
    assert connect(through).run("hostname", timeout=30).stdout.decode().strip() == hosts[0].name
    del made


def test_a_user_or_key_that_the_host_does_not_know(hosts: list[Host], tmp_path: Path) -> None:
    stranger = told(replace(hosts[0].connection, user="nobody-here", use_agent=False))
    assert stranger.code == "GP-SSH-002"
    assert "publickey" in stranger.detail
    known = tmp_path / "known_hosts"
    lines = [line.split() for line in Path(hosts[0].connection.known_hosts[0]).read_text().splitlines() if line.strip()]
    own = next(line for line in lines if hosts[0].connection.address in line[0].split(","))
    other = next(line for line in lines if line[2] != own[2])
    known.write_text(f"# moved\n{own[0]} {own[1]} {other[2]}\n")
    changed = told(replace(hosts[0].connection, known_hosts=(str(known),)))
    assert (changed.code, f"{known}:2" in changed.summary) == ("GP-SSH-003", True)
    known.write_text("")
    assert told(replace(hosts[0].connection, known_hosts=(str(known),))).code == "GP-SSH-004"


def test_a_command_that_hangs_is_ended_on_the_host_too(hosts: list[Host]) -> None:
    assert told(hosts[0].connection, "sleep 4711", timeout=1.0).code == "GP-SSH-006"
    time.sleep(1)
    assert connect(hosts[0].connection).run("pgrep -f '[s]leep 4711'", timeout=20).stdout == b""


def test_a_reboot_in_the_middle_of_a_command(hosts: list[Host]) -> None:
    before = probe_host(hosts[0], ProbeRequest()).result
    assert isinstance(before, Snapshot)
    lost = told(hosts[0].connection, "systemctl reboot; sleep 60", root=True, timeout=60.0)
    assert lost.code == "GP-SSH-007"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        after = probe_host(hosts[0], ProbeRequest()).result
        if isinstance(after, Snapshot) and after.observe("host.boot_id") != before.observe("host.boot_id"):
            break
        time.sleep(0.5)
    else:
        pytest.fail("the node did not come back")
