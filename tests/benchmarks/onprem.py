"""`up` on hosts in a rack beside what people would use instead, all in one run on the same nodes; needs root.

First part, four hosts with GPUs and the whole stack: a first installation beside bare `apt-get install` of the same
packages on an equal node (in turn: up, apt-get, apt-get, up); then a run with nothing to do, beside each host's own
probe script, ansible-playbook of the same roles, and pyinfra's equal operations. Second part, 32 hosts without GPUs and
a small spec: nothing to do, one package changed, and how that grows with hosts. The nodes share the processors of this
machine: "at once" is what these can do at once.

Goals: first installation <= 1.15 times apt-get + 5 s; nothing to do <= the slowest probe script + 0.8 s.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onprem_others as others
from measure import GPUPROV, Command, Sample, once

from gpuprov.lab import lab as labs
from gpuprov.lab.description import LabDescription, NodeDescription
from gpuprov.lab.seed import draw
from gpuprov.model.progress import ignore_progress
from gpuprov.model.snapshot import Snapshot
from gpuprov.probe.probe import ProbeRequest, probe_hosts
from gpuprov.provision.onprem import read_inventory

SEED = 1
ROUNDS = 3
FIRST_RATIO, FIRST_SECONDS = 1.15, 5.0
NOOP_SECONDS = 0.8
MANY = 32
GROWTH = (1, 2, 4, 8, 16, 32)
SMALL = """\
apiVersion: gpuprov/v1
name: many
os: {os}
stack: {{packages: [{packages}]}}
files: {{"/etc/gpu-host": {{text: "GPU host\\n"}}}}
pools: {{cpu: {{gpu: none, onprem: {{group: cpu}}, rollout: {{batch: "100%"}}}}}}
targets: {{onprem: {{inventory: inventory/site.yml}}}}
"""


@dataclass(frozen=True, kw_only=True)
class Up:
    """One run of `up`: what it took, and what it did."""

    sample: Sample
    tasks: int
    states: Mapping[str, int]


class Bench:
    """A lab and its spec folder."""

    def __init__(self, description: LabDescription, folder: Path) -> None:
        self.lab = labs.up(description, folder, ignore_progress)
        self.folder = folder
        self.hosts = read_inventory(folder / "inventory" / "site.yml").hosts

    def command(self, *argv: str) -> Command:
        """A command of gpuprov in the folder."""
        return Command(argv=(GPUPROV, *argv), folder=self.folder)

    def lock(self) -> None:
        """Lock the spec."""
        once(self.command("lock"))

    def up(self, *hosts: str) -> Up:
        """`up` on hosts, or on all; a run that fails ends the benchmark."""
        limit = ("-l", ",".join(hosts)) if hosts else ()
        result = self.folder / "up.json"
        argv = ("up", "--target", "onprem", "--yes", "--json", *limit)
        # A shell of no more than one exec: the time and memory are gpuprov's.
        shell = ("sh", "-c", f'exec "$@" >{result} 2>{self.folder}/up.err', "sh", GPUPROV, *argv)
        try:
            sample = once(Command(argv=shell, folder=self.folder))
        except SystemExit as failed:
            sys.exit(f"{failed}{(self.folder / 'up.err').read_text()}{result.read_text()}")
        told = json.loads(result.read_text())["hosts"]
        states = [host["state"] for host in told]
        return Up(
            sample=sample,
            tasks=max((host["tasks"] for host in told), default=0),
            states={state: states.count(state) for state in sorted(set(states))},
        )

    def scripts(self, number: int) -> float:
        """Probe so many hosts at once; the seconds of the slowest host's own script."""
        found = [seen.result for seen in probe_hosts(self.hosts[:number], ProbeRequest(), limit=MANY)]
        missing = [one for one in found if not isinstance(one, Snapshot)]
        if missing:
            sys.exit(f"not observed: {missing[0].host}: {missing[0].reason}")
        return max(one.seconds for one in found if isinstance(one, Snapshot))


def all_train(nodes: int) -> LabDescription:
    """A lab whose nodes all have the same GPUs."""
    drawn = draw(SEED, nodes=nodes, cloud=False)
    gpu = drawn.nodes[0].gpu
    return replace(drawn, id="bchgpu", nodes=tuple(replace(n, gpu=gpu, group="train") for n in drawn.nodes))


def no_gpus(nodes: int) -> LabDescription:
    """A lab whose nodes have none."""
    drawn = draw(SEED, nodes=nodes, cloud=False)
    plain: list[NodeDescription] = [replace(node, gpu=None, group="cpu") for node in drawn.nodes]
    return replace(drawn, id="bchmny", nodes=tuple(plain))


def line(label: str, sample: Sample, more: str = "") -> None:
    """Print one row."""
    text = f"  {label:<44} {sample.wall:7.2f} s {sample.cpu:7.2f} s CPU here {sample.peak:5.0f} MB   {more}"
    print(text.rstrip(), flush=True)


def median(samples: Sequence[Sample]) -> Sample:
    """The middle of each figure; the peak is the highest."""
    wall, cpu = (statistics.median(getattr(s, name) for s in samples) for name in ("wall", "cpu"))
    return Sample(wall=wall, cpu=cpu, peak=max(s.peak for s in samples))


def first_installation(bench: Bench) -> bool:
    """Install on two nodes by `up` and on two by apt-get, in turn."""
    rows = others.locked_packages(bench.folder)
    print(f"first installation, {len(rows)} locked packages, without a reboot")
    mine, bare = [], []
    names = [host.name for host in bench.hosts]
    for name, by_apt in zip(names, (False, True, True, False), strict=True):
        if by_apt:
            bare.append(once(others.bare_apt(bench.folder, name, rows)))
            line(f"apt-get update && install, on {name}", bare[-1])
        else:
            done = bench.up(name)
            mine.append(done.sample)
            line(f"gpuprov up, on {name}", done.sample, f"{done.tasks} Ansible tasks")
    ours, theirs = (statistics.mean(s.wall for s in samples) for samples in (mine, bare))
    limit = FIRST_RATIO * theirs + FIRST_SECONDS
    met = ours <= limit
    print(
        f"  {ours:.1f} s : {theirs:.1f} s = {ours / theirs:.2f}x; goal <= {limit:.1f} s: {'met' if met else 'MISSED'}"
    )
    return met


def nothing_to_do(bench: Bench) -> bool:
    """A run that has nothing to do, beside what others take for the same."""
    settled = bench.up()
    line("gpuprov up, what apt-get left to do", settled.sample, str(dict(settled.states)))
    commands = {
        "gpuprov up": bench.command("up", "--target", "onprem", "--yes"),
        "ansible-playbook of the same roles": others.same_roles(bench.folder),
    }
    pyinfra = others.same_by_pyinfra(bench.folder)
    if isinstance(pyinfra, Command):
        commands["pyinfra, equal operations"] = pyinfra
    print(f"nothing to do, {len(bench.hosts)} hosts, {ROUNDS} rounds in turn")
    samples: dict[str, list[Sample]] = {label: [] for label in commands}
    scripts: list[float] = []
    for command in commands.values():  # once unmeasured: bytecode, page cache
        once(command)
    for _ in range(ROUNDS):
        scripts.append(bench.scripts(len(bench.hosts)))
        for label, command in commands.items():
            samples[label].append(once(command))
    slowest = statistics.median(scripts)
    print(f"  {'the own probe script of the slowest host':<44} {slowest:7.2f} s")
    for label, taken in samples.items():
        line(label, median(taken))
    if not isinstance(pyinfra, Command):
        print(f"  pyinfra: not measured: {pyinfra}")
    wall = median(samples["gpuprov up"]).wall
    met = wall <= slowest + NOOP_SECONDS
    result = "met" if met else "MISSED"
    print(f"  {wall:.2f} s - {slowest:.2f} s = {wall - slowest:.2f} s; goal <= {NOOP_SECONDS} s: {result}")
    return met


def many_hosts(bench: Bench) -> None:
    """Nothing to do and one package changed, on 32 hosts; and how nothing grows."""
    os_id = bench.lab.description.nodes[0].os
    spec = bench.folder / "gpuprov.yaml"
    spec.write_text(SMALL.format(os=os_id, packages="figlet"), encoding="utf-8")
    bench.lock()
    print(f"{len(bench.hosts)} hosts, a small spec")
    line("gpuprov up, the first", (first := bench.up()).sample, f"{dict(first.states)}, {first.tasks} Ansible tasks")
    line("gpuprov up, nothing to do", median([bench.up().sample for _ in range(ROUNDS)]))
    spec.write_text(SMALL.format(os=os_id, packages="figlet, tree"), encoding="utf-8")
    bench.lock()
    line(
        "gpuprov up, one package more", (done := bench.up()).sample, f"{dict(done.states)}, {done.tasks} Ansible tasks"
    )
    print("growth, nothing to do")
    for number in (n for n in GROWTH if n <= len(bench.hosts)):
        names = [host.name for host in bench.hosts[:number]]
        sample = median([bench.up(*names).sample for _ in range(ROUNDS)])
        line(
            f"{number} hosts",
            sample,
            f"slowest script {bench.scripts(number):.2f} s, {sample.cpu / number:.2f} s CPU a host",
        )


def in_lab(description: LabDescription, measure: Any) -> bool:
    """Bring a lab up, measure, take it down; whether the goals are met."""
    with tempfile.TemporaryDirectory() as name:
        labs.down(description.id, ignore_progress)  # what a killed run left
        try:
            return bool(measure(Bench(description, Path(name))))
        finally:
            labs.down(description.id, ignore_progress)


def stack(bench: Bench) -> bool:
    """The first part."""
    bench.lock()
    first = first_installation(bench)
    return nothing_to_do(bench) and first


def main() -> int:
    """Measure and print the tables; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=MANY, help="nodes of the second part; 0 leaves it out")
    given = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    met = in_lab(all_train(4), stack)
    if given.hosts:
        in_lab(no_gpus(given.hosts), many_hosts)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
