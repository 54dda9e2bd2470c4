"""The process that keeps a node running: it boots it again after a reboot and ends when the node's power goes.

Called as `python -m gpuprov.lab.supervise LAB NODE`. It lives outside the node's cgroup, so a power cut spares it.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from gpuprov.lab import cgroup
from gpuprov.lab.names import LabNames
from gpuprov.lab.node import DEVICES, REBOOT_STATUS, launch_argv


def main(lab: str, node: str) -> int:
    """Boot the node until it is powered off; returns the status of its last boot."""
    names = LabNames(lab)
    cgroup.join(names.supervisors_cgroup)
    while True:
        # A fresh group each time. What the old boot left behind goes with the old one; and what is cloned from a group
        # that was killed once into a newer one is killed by the kernel (CLONE_INTO_CGROUP, systemd 257 on Linux 6.18:
        # every service of the second boot ended with SIGKILL, seen 2026-11-30).
        cgroup.remove(names.node_cgroup(node))
        cgroup.create(names.node_cgroup(node))
        status = boot(names, node)
        _say(f"{node} ended with status {status}")
        if status != REBOOT_STATUS:
            return status


def boot(names: LabNames, node: str) -> int:
    """Boot the node once and wait for its end."""
    folder = names.node_folder(node)
    clock = Path("/proc/self/ns/time").exists()
    uptime = int(float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])) if clock else None
    devices = folder / DEVICES
    shown = json.loads(devices.read_text(encoding="utf-8")) if devices.exists() else {}
    environment = {"PATH": os.environ["PATH"], "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1", "LC_ALL": "C.UTF-8"}
    # preexec_fn is safe here: this process has one thread.
    with (folder / "console.log").open("ab") as console:
        return subprocess.run(
            launch_argv(names, node, uptime=uptime, devices=shown),
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            env=environment,
            preexec_fn=lambda: cgroup.join(names.node_cgroup(node)),
            check=False,
        ).returncode


def _say(text: str) -> None:
    """Write a line to the supervisor's log."""
    print(time.strftime("%H:%M:%SZ", time.gmtime()), text, flush=True)  # noqa: T201 (its standard output is the log)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
