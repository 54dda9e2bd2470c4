"""Parity over a fleet's snapshots on the disk: whole processes, time and peak memory, for 100, 1,000 and 10,000 hosts.

Each host has 300 facts with evidence; names, boot ids, uptimes and the digests of what collectors printed are its own;
5% of the hosts differ in 3 random facets. Goal: 10,000 in less than 15 s and 500 MB, and linear growth.

    .venv/bin/python tests/benchmarks/parity.py [HOSTS ...]
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import GPUPROV, Command, once

from gpuprov.document.canonical import canonical_json, digest_text
from gpuprov.document.envelope import open_document
from gpuprov.document.snapshot_text import write_snapshot
from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Evidence, Fact, Known, Observation
from gpuprov.model.snapshot import Snapshot

SIZES = (100, 1_000, 10_000)
FACTS = 300
COLLECTORS = 30
ODD = 0.05
MOVED = 3
SEED = 6
GOAL_SECONDS = 15.0
GOAL_MB = 500
TAKEN = "2026-11-30T02:00:00Z"
# What is each host's own, as it stands in the text that all hosts are made from.
HOST, BOOT, UPTIME, WHEN = "gpu-HOST", "BOOT-ID", 987654321, "OWNED-WHEN"


def usual_facts() -> dict[str, Observation]:
    """What all hosts of the fleet have in common."""
    facts: dict[str, Observation] = {
        "host.os": Known("ubuntu-24.04"),
        "host.arch": Known("amd64"),
        "host.kernel.release": Known("6.8.0-60-generic"),
        "gpu.count": Known(8),
        "gpu.models": Known(["NVIDIA H100 80GB HBM3"]),
        "stack.driver.on_disk": Known("580.95.05"),
        "stack.driver.loaded": Known("580.95.05"),
        "stack.driver.nvml": Known("580.95.05"),
        "stack.driver.modules": Known("open"),
        "stack.cuda.toolkits": Known(["13.0"]),
        "stack.container.runtimes": Known(["nvidia", "runc"]),
        "apt.dpkg": Known("ok"),
        "apt.sources": Known(
            [{"file": "gpuprov-nvidia.sources", "uris": ["http://repo.example/cuda"], "suites": ["/"]}]
        ),
    }
    for name in ("docker", "containerd", "nvidia-fabricmanager", "nvidia-dcgm-exporter"):
        facts[member_address("service", name, "active")] = Known("active")
    number = 0
    while len(facts) < FACTS - len(own_facts()):
        for leaf, value in (("version", f"580.95.05-0ubuntu{number % 7}"), ("state", "installed"), ("held", True)):
            facts[member_address("package", f"libnvidia-part{number}-580", leaf)] = Known(value)
        number += 1
    return dict(list(facts.items())[: FACTS - len(own_facts())])


def own_facts() -> dict[str, Observation]:
    """What is each host's own."""
    return {
        "host.name": Known(HOST),
        "host.boot_id": Known(BOOT),
        "host.uptime": Known(UPTIME),
        "gpuprov.owned": Known({"packages": {"libcuda1": "580.95.05-1"}, "when": WHEN}),
    }


def snapshot_of(facts: dict[str, Observation]) -> Snapshot:
    """A snapshot with evidence."""
    seen = [
        Evidence(collector=f"collector{number:02}", status=0, digest=f"sha256:PRINTED-{number:02}")
        for number in range(COLLECTORS)
    ]
    rows = {
        address: Fact(address=address, observation=value, evidence=seen[place % COLLECTORS])
        for place, (address, value) in enumerate(sorted(facts.items()))
    }
    families = dict.fromkeys(("package", "file", "service", "exporter"), Absent())
    return Snapshot(host=HOST, taken=TAKEN, facts=rows, families=families, seconds=1.5)


class Template:
    """The text of a snapshot, and the text that its digest is over: hosts are made of both by putting their own in."""

    def __init__(self, facts: dict[str, Observation]) -> None:
        self._text = write_snapshot(snapshot_of(facts))
        body = open_document(self._text, "template", "Snapshot")
        self._sealed = canonical_json({"apiVersion": "gpuprov/v1", "body": body, "kind": "Snapshot"})

    def host(self, number: int, chance: random.Random) -> str:
        """The text of one host."""
        own = {
            HOST: f"gpu{number:05}",
            BOOT: f"{chance.getrandbits(128):032x}",
            str(UPTIME): str(chance.randrange(1, 10_000_000)),
            WHEN: f"2026-11-{1 + number % 29:02}",
        }
        own |= {f"PRINTED-{place:02}": f"{chance.getrandbits(256):064x}" for place in range(COLLECTORS)}
        text, sealed = self._text, self._sealed
        for word, mine in own.items():
            text, sealed = text.replace(word, mine), sealed.replace(word, mine)
        return text.replace(digest_text(self._sealed), digest_text(sealed))


def write_fleet(folder: Path, number: int) -> int:
    """Write the snapshots of a fleet; gives how many of them differ."""
    chance = random.Random(SEED)  # noqa: S311 - a fleet that is the same in every run
    usual = usual_facts()
    plain = Template(usual | own_facts())
    odd = 0
    for place in range(number):
        template = plain
        if chance.random() < ODD:
            odd += 1
            moved = dict.fromkeys(chance.sample(sorted(usual), MOVED), Known("moved by hand"))
            template = Template(usual | moved | own_facts())
        (folder / f"gpu{place:05}.json").write_text(template.host(place, chance))
    return odd


def measured(folder: Path) -> tuple[float, float, float, str]:
    """Compare a fleet; gives wall and CPU seconds, peak MB (10^6 bytes) and the last line of the table."""
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        started = subprocess.Popen((GPUPROV, "parity", "./"), cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(started.pid, 0)
        wall = time.perf_counter() - began
        started.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        last = output.read().decode().rstrip().rpartition("\n")[2]
    if started.returncode != 7:
        sys.exit(f"status {started.returncode}: {last}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6, last


def main(sizes: tuple[int, ...]) -> int:
    """Measure and print the table; 1 when a goal is missed."""
    nothing = Command(argv=(sys.executable, "-c", "pass"), folder=Path.cwd())
    yardstick = statistics.median(once(nothing).cpu for _ in range(9)) * 1000
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", end=", ")
    print(f"`python -c pass` {yardstick:.0f} ms of CPU in this run (8 ms where nothing else runs)")
    print(f"{'hosts':>6} {'differ':>6} {'wall':>9} {'CPU':>9} {'a host':>9} {'peak':>8}   the table's last line")
    met = True
    for number in sizes:
        with tempfile.TemporaryDirectory() as name:
            odd = write_fleet(Path(name), number)
            wall, cpu, peak, last = measured(Path(name))
        print(f"{number:>6} {odd:>6} {wall:7.2f} s {cpu:7.2f} s {cpu / number * 1000:6.2f} ms {peak:5.0f} MB   {last}")
        met = met and wall < GOAL_SECONDS and peak < GOAL_MB
    print(f"goal: each < {GOAL_SECONDS:g} s, < {GOAL_MB} MB: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(tuple(int(word) for word in sys.argv[1:]) or SIZES))
