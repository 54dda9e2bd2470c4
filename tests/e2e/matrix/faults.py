"""What goes wrong, each undone at its end: to the controller, to its way to the host, to the host, to the source.

A fault is entered before the run, or at the moment of it that its case names.
"""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from gpuprov.lab.command import run as run_program
from gpuprov.lab.names import NETNS_FOLDER
from gpuprov.lab.vendor.hardware import describe
from tests.e2e.matrix.rack import Rack, until

_TABLE = "gpuprov_matrix"
_CUT = """\
table inet {table} {{
  chain inward {{
    type filter hook input priority -10
    tcp dport {port} {action}
  }}
  chain outward {{
    type filter hook output priority -10
    tcp sport {port} tcp flags & rst == 0 {action}
  }}
}}
"""
_NO_WAY_OUT = """\
table inet {table} {{
  chain outward {{
    type filter hook output priority -10
    tcp dport {port} reject with tcp reset
  }}
}}
"""
HOLDER = "import fcntl,time; f=open('/var/lib/dpkg/lock-frontend','w'); fcntl.lockf(f,fcntl.LOCK_EX); time.sleep(9999)"
"""A program that holds dpkg's lock and never gives it back."""
_DAEMON = "/etc/docker/daemon.json"
_HARDWARE = "/usr/lib/lab-hardware/description.json"
_FABRIC = "/etc/systemd/system/nvidia-fabricmanager.service.d/fault.conf"


# ---- the controller


@contextmanager
def kill_parent(rack: Rack) -> Iterator[None]:
    """`kill -9` of gpuprov; Ansible and ssh are left to themselves."""
    _signal(rack, signal.SIGKILL)
    yield


@contextmanager
def kill_all(rack: Rack) -> Iterator[None]:
    """`kill -9` of gpuprov and of everything that it started."""
    assert rack.run is not None
    for process in rack.run.family():
        _kill(process, signal.SIGKILL)
    yield


@contextmanager
def interrupt(rack: Rack) -> Iterator[None]:
    """Ctrl-C."""
    _signal(rack, signal.SIGINT)
    yield


@contextmanager
def interrupt_twice(rack: Rack) -> Iterator[None]:
    """Ctrl-C, and again."""
    _signal(rack, signal.SIGINT)
    time.sleep(1)
    _signal(rack, signal.SIGINT)
    yield


# ---- the way to the host


@contextmanager
def cut(rack: Rack) -> Iterator[None]:
    """Every connection over ssh is reset, and no new one comes about."""
    with _rules(rack, _CUT.format(table=_TABLE, port=22, action="reject with tcp reset")):
        yield


@contextmanager
def silence(rack: Rack) -> Iterator[None]:
    """What is sent over ssh gets lost, in both directions, and nobody is told."""
    with _rules(rack, _CUT.format(table=_TABLE, port=22, action="drop")):
        yield


# ---- the host


@contextmanager
def power_off(rack: Rack) -> Iterator[None]:
    """The host's power goes; its connections just stop."""
    with silence(rack):
        rack.node.power_off()
        try:
            yield
        finally:
            rack.node.start()
    rack.node.wait_ssh()


@contextmanager
def disk_full(rack: Rack) -> Iterator[None]:
    """A file system that the driver's packages write to is full to its last byte, and is not the one of /usr."""
    folder = "/usr/src"
    rack.root(f"cp -a {folder} /run/aside && mount -t tmpfs -o size=8m tmpfs {folder}")
    rack.root(f"cp -a /run/aside/. {folder}/ && rm -r /run/aside")
    rack.root(f"cat /dev/zero > {folder}/ballast 2>/dev/null || true")
    try:
        yield
    finally:
        rack.root(f"umount {folder}")


@contextmanager
def lock_held(rack: Rack) -> Iterator[None]:
    """Another program holds dpkg's lock and never gives it back."""
    rack.root(f'systemd-run --quiet --unit=holder python3 -c "{HOLDER}"')
    try:
        yield
    finally:
        rack.root("systemctl stop holder")


@contextmanager
def build_fails(rack: Rack) -> Iterator[None]:
    """The driver's module cannot be built: something stands where it is put together."""
    place = "/lib/modules/$(uname -r)/updates/dkms/nvidia.ko.new"
    rack.root(f"mkdir {place}")
    try:
        yield
    finally:
        rack.root(f"rmdir {place}")


@contextmanager
def never_back(rack: Rack) -> Iterator[None]:
    """After its next boot the host does not answer."""
    before = rack.node.boot_id()
    rack.root("systemctl mask ssh.service")
    try:
        yield
        # The run may give the host up before it has come up.
        until(lambda: rack.node.boot_id() != before, 120, "the host did not reboot")
    finally:
        rack.root("systemctl unmask ssh.service && systemctl start ssh.service")
        rack.node.wait_ssh()


@contextmanager
def gpu_missing(rack: Rack) -> Iterator[None]:
    """After its next boot the host has a GPU less; somebody seats it again, and boots."""
    gpu = rack.node.description.gpu
    assert gpu is not None
    _put(rack, _HARDWARE, json.dumps(describe(replace(gpu, faults=("gpu-missing",)))))
    try:
        yield
    finally:
        _put(rack, _HARDWARE, json.dumps(describe(gpu)))
        before = rack.node.boot_id()
        rack.root("systemctl reboot")
        rack.node.wait_boot(before)


@contextmanager
def fabric_fails(rack: Rack) -> Iterator[None]:
    """Fabric Manager ends as soon as it is started."""
    rack.root(f"mkdir -p {_FABRIC.rpartition('/')[0]}")
    _put(rack, _FABRIC, "[Service]\nExecStart=\nExecStart=/bin/false\n")
    rack.root("systemctl daemon-reload")
    try:
        yield
    finally:
        rack.root(f"rm {_FABRIC} && systemctl daemon-reload && systemctl reset-failed nvidia-fabricmanager || true")


@contextmanager
def daemon_broken(rack: Rack) -> Iterator[None]:
    """Somebody left the container engine's file half written; the engine runs on with what it read before."""
    text = '{"runtimes": {'
    rack.root(f"cp -p {_DAEMON} /root/daemon.json")
    _put(rack, _DAEMON, text)
    try:
        yield
        assert rack.root(f"cat {_DAEMON}") == text, "what was broken before gpuprov came was changed"
    finally:
        rack.root(f"mv /root/daemon.json {_DAEMON}")


# ---- the source


@contextmanager
def source_gone(rack: Rack) -> Iterator[None]:
    """The vendor's repository refuses connections."""
    port = rack.lab.description.repository_port
    with _rules(rack, _NO_WAY_OUT.format(table=_TABLE, port=port)):
        yield


@contextmanager
def archives_gone(rack: Rack) -> Iterator[None]:
    """The index still names the packages, and their files are gone."""
    with _changed_archives(rack) as archives:
        for archive in archives:
            archive.unlink()
        yield


@contextmanager
def bad_checksum(rack: Rack) -> Iterator[None]:
    """The packages have the right size and another content."""
    with _changed_archives(rack) as archives:
        for archive in archives:
            data = archive.read_bytes()
            archive.unlink()  # it is a second name of a file in the cache
            archive.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        yield


@contextmanager
def _changed_archives(rack: Rack) -> Iterator[list[Path]]:
    archives = rack.archives()
    assert archives, "the repository has no package of the move"
    aside = rack.names.folder / "aside"
    aside.mkdir()
    for archive in archives:
        shutil.copy2(archive, aside)
    # What the host fetched for an earlier move would do.
    rack.root("rm -rf /var/cache/gpuprov/apt/cache/archives")
    try:
        yield archives
    finally:
        for copy in aside.iterdir():
            place = rack.names.repository / copy.name
            place.unlink(missing_ok=True)
            shutil.move(copy, place)
        aside.rmdir()


@contextmanager
def _rules(rack: Rack, rules: str) -> Iterator[None]:
    """Rules in the host's network, out of its own reach; its power switch does not change them."""
    inside = ["nsenter", f"--net={NETNS_FOLDER / rack.names.node_namespace(rack.name)}", "nft"]
    run_program([*inside, "-f", "-"], stdin=rules)
    try:
        yield
    finally:
        run_program([*inside, "delete", "table", "inet", _TABLE])


def _put(rack: Rack, path: str, text: str) -> None:
    done = rack.node.exec(["sh", "-c", f"cat > {path}"], stdin=text)
    assert done.status == 0, done.stderr


def _signal(rack: Rack, number: signal.Signals) -> None:
    assert rack.run is not None
    _kill(rack.run.process.pid, number)


def _kill(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it ended by itself a moment ago
        os.kill(process, number)


FAULTS: dict[str, Callable[[Rack], AbstractContextManager[None]]] = {
    function.__name__: function
    for function in (
        *(kill_parent, kill_all, interrupt, interrupt_twice, cut, silence),
        *(power_off, disk_full, lock_held, build_fails, never_back, gpu_missing, fabric_fails, daemon_broken),
        *(source_gone, archives_gone, bad_checksum),
    )
}
