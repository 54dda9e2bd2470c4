"""The probe of a whole lab beside `ssh HOST true` of the same hosts in the same rounds; needs root.

`probe.py` brings up a lab of 32 nodes of its own and takes it down; `probe.py --lab ID` measures one that is up.
The nodes share the processors of this machine: "at once" is what these can do at once.

Goal: the whole probe takes no longer than the slowest host's own script, one `ssh HOST true` and 0.3 s together. Where
logins at once take longer than one alone, for want of processors, both are shown.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprov.lab import lab as labs
from gpuprov.lab.cgroup import hierarchies
from gpuprov.lab.names import LabNames
from gpuprov.lab.record import read_record
from gpuprov.lab.seed import draw
from gpuprov.model.host import Host
from gpuprov.model.progress import ignore_progress
from gpuprov.model.snapshot import Snapshot
from gpuprov.probe.collectors import COLLECTORS
from gpuprov.probe.probe import ProbeRequest, probe_hosts
from gpuprov.provision.onprem import read_inventory

ROUNDS = 3
MARGIN = 0.3
"""Seconds of the goal."""
ID = "bench"


@dataclass(frozen=True, kw_only=True)
class Took:
    """What one row of the table took in one round; seconds."""

    wall: float
    here: float = 0.0
    """Processor time of this machine's side, all hosts together."""
    there: float = 0.0
    """Processor time on the hosts, all together: sshd, sudo and what they ran."""
    script: float = 0.0
    """The slowest host's own script."""


class Nodes:
    """The nodes of a lab: how to log in, and the processor time that they have used."""

    def __init__(self, lab_id: str, folder: Path) -> None:
        self.hosts: Sequence[Host] = read_inventory(folder / "inventory" / "site.yml").hosts
        self._config = folder / "ssh_config"
        self._names = LabNames(lab_id)

    def used(self) -> float:
        """Processor seconds of all nodes since they were started."""
        total = 0
        for host in self.hosts:
            stat = hierarchies()[0] / self._names.node_cgroup(host.name) / "cpu.stat"
            total += int(stat.read_text(encoding="ascii").split()[1])
        return total / 1e6

    def ssh_true(self, host: Host) -> None:
        """Log in with OpenSSH and do nothing."""
        argv = ["ssh", "-F", str(self._config), "-o", "BatchMode=yes", host.name, "true"]
        subprocess.run(argv, check=True, capture_output=True)


def timed(nodes: Nodes, work: Callable[[], float]) -> Took:
    """Do the work, which returns the slowest script's seconds, and say what it took."""
    used, children = nodes.used(), os.times()
    began = time.perf_counter()
    script = work()
    wall = time.perf_counter() - began
    now = os.times()
    here = sum(now[:4]) - sum(children[:4])
    return Took(wall=wall, here=here, there=nodes.used() - used, script=script)


def probe(hosts: Sequence[Host]) -> float:
    """Probe hosts at once; returns the slowest script's seconds.

    Raises:
        SystemExit: a host could not be observed; what that took says nothing.
    """
    results = [found.result for found in probe_hosts(hosts, ProbeRequest(), limit=len(hosts))]
    missing = [result for result in results if not isinstance(result, Snapshot)]
    if missing:
        sys.exit(f"not observed: {missing[0].host}: {missing[0].reason}")
    return max(result.seconds for result in results if isinstance(result, Snapshot))


def measure(nodes: Nodes) -> dict[str, list[Took]]:
    """Every row once in each round, in turn, so that a machine that gets busy slows all of them alike."""

    def at_once() -> float:
        with ThreadPoolExecutor(len(nodes.hosts)) as pool:
            list(pool.map(nodes.ssh_true, nodes.hosts))
        return 0.0

    def alone() -> float:
        nodes.ssh_true(nodes.hosts[0])
        return 0.0

    rows = {
        "ssh HOST true, one": (1, alone),
        "ssh HOST true, all at once": (len(nodes.hosts), at_once),
        "probe, one": (1, lambda: probe(nodes.hosts[:1])),
        "probe, all at once": (len(nodes.hosts), lambda: probe(nodes.hosts)),
    }
    took: dict[str, list[Took]] = {label: [] for label in rows}
    for _, work in rows.values():  # once unmeasured: imports, page cache
        work()
    for _ in range(ROUNDS):
        for label, (_, work) in rows.items():
            took[label].append(timed(nodes, work))
    return took


def show(took: dict[str, list[Took]], count: int) -> None:
    """Print the table and the goal."""
    load = os.getloadavg()[0]
    print(f"{count} hosts, {len(COLLECTORS)} collectors, {ROUNDS} rounds, {os.cpu_count()} cores, load {load:.1f}")
    print(
        f"{'median of the rounds':<28} {'wall':>8} {'slowest script':>15} {'CPU here/host':>14} {'CPU on a host':>14}"
    )
    for label, rows in took.items():
        hosts = count if label.endswith("at once") else 1
        wall, script = (statistics.median(getattr(row, name) for row in rows) for name in ("wall", "script"))
        here, there = (statistics.median(getattr(row, name) for row in rows) / hosts for name in ("here", "there"))
        shown = f"{script:13.2f} s" if script else f"{'':15}"
        print(f"{label:<28} {wall:6.2f} s {shown} {here * 1000:11.0f} ms {there * 1000:11.0f} ms")
    for probed, login in (("one", "one"), ("all at once", "one"), ("all at once", "all at once")):
        pairs = zip(took[f"probe, {probed}"], took[f"ssh HOST true, {login}"], strict=True)
        rest = statistics.median(probe.wall - probe.script - ssh.wall for probe, ssh in pairs)
        goal = "met" if rest <= MARGIN else "not met"
        print(f"probe, {probed} - slowest script - ssh HOST true, {login}: {rest:.2f} s (goal {MARGIN} s: {goal})")


def main() -> None:
    """Bring up a lab where none is named, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", help="id of a lab that is up")
    parser.add_argument("--nodes", type=int, default=32, help="nodes of a lab that is brought up")
    given = parser.parse_args()
    if given.lab:
        record = read_record(given.lab)
        if record is None:
            sys.exit(f"there is no lab {given.lab}")
        nodes = Nodes(given.lab, record.folder)
        show(measure(nodes), len(nodes.hosts))
        return
    with tempfile.TemporaryDirectory() as folder:
        labs.down(ID, ignore_progress)  # what a killed run left
        try:
            labs.up(replace(draw(1, nodes=given.nodes, cloud=False), id=ID), Path(folder), ignore_progress)
            nodes = Nodes(ID, Path(folder))
            show(measure(nodes), len(nodes.hosts))
        finally:
            labs.down(ID, ignore_progress)


if __name__ == "__main__":
    main()
