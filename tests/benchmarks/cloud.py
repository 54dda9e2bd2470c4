"""The cloud half beside the bare engine, in one run on one machine; nothing here is a goal, all of it is for looking.

First part, without root and without a node: an account on paper (moto, the strict plugin) that holds 2, 50 and 500
instances. The provision step of an `up` that has nothing to do, `preview`, and the cloud's part of `status`, beside
Pulumi's own `up` and `preview` of the same project, state and plugin; what each process takes, how many requests AWS
would answer, and how all of that grows with instances.

Second part, with `--nodes` (root, the lab): one instance from its baked image to parity 0 beside one from the base
image; and a whole `up` of two instances that has nothing to do, beside the bare engine's.
"""

import argparse
import itertools
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cloud_site
from measure import Command, Sample, once

SIZES = "2,50,500"
ROUNDS = 3
BARE = {"up": "bare engine, up", "preview": "bare engine, preview"}
OURS = {"up": "gpuprov, no-op up: provision", "preview": "gpuprov, preview", "status": "gpuprov, status: cloud"}
BESIDE = {"up": "up", "preview": "preview", "status": "preview"}
"""Step of gpuprov -> the engine's that it is held beside."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """One process: what all of it took, what its Python alone took, and what it asked of AWS."""

    sample: Sample
    own_cpu: float
    own_peak: float
    calls: int


def taken(command: Command, calls: cloud_site.Calls) -> Taken:
    """Run a step to its end."""
    before = calls.number
    sample = once(command)
    own = json.loads((command.folder / "step.json").read_text(encoding="utf-8"))
    return Taken(sample=sample, own_cpu=own["cpu"], own_peak=own["peak"], calls=calls.number - before)


def middle(rounds: Sequence[Taken]) -> Taken:
    """The median of each figure."""
    wall, cpu, peak = (
        statistics.median(getattr(one.sample, name) for one in rounds) for name in ("wall", "cpu", "peak")
    )
    return Taken(
        sample=Sample(wall=wall, cpu=cpu, peak=peak),
        own_cpu=statistics.median(one.own_cpu for one in rounds),
        own_peak=statistics.median(one.own_peak for one in rounds),
        calls=round(statistics.median(one.calls for one in rounds)),
    )


def measure(site: cloud_site.ManySite, rounds: int) -> dict[str, Taken]:
    """Each step so many times, in turn, after one that is not counted (bytecode, page cache)."""
    commands = {
        **{BARE[step]: site.bare(step) for step in BARE},
        **{OURS[step]: site.gpuprov(step) for step in OURS},
    }
    found: dict[str, list[Taken]] = {label: [] for label in commands}
    for command in commands.values():
        taken(command, site.calls)
    for _ in range(rounds):
        for label, command in commands.items():
            found[label].append(taken(command, site.calls))
    return {label: middle(each) for label, each in found.items()}


def table(rows: Mapping[str, Taken]) -> None:
    """Print the steps of one size; a ratio is to the bare engine's step, of wall time and of CPU seconds."""
    print(f"  {'':<30}   wall   ratio     CPU   ratio   of it Python  its peak  whole peak  AWS requests")
    for label, one in rows.items():
        step = next((name for name, text in OURS.items() if text == label), None)
        beside = rows[BARE[BESIDE[step]]] if step else one
        print(
            f"  {label:<30} {one.sample.wall:6.2f} s {one.sample.wall / beside.sample.wall:5.2f}x"
            f" {one.sample.cpu:6.2f} s {one.sample.cpu / beside.sample.cpu:5.2f}x"
            f" {one.own_cpu:10.2f} s {one.own_peak:6.0f} MB {one.sample.peak:8.0f} MB {one.calls:10}",
            flush=True,
        )


def growth(by_size: Mapping[int, Mapping[str, Taken]]) -> None:
    """Print what a hundred more instances cost, between one size and the next: equal rows grow in a line."""
    sizes = sorted(by_size)
    if len(sizes) < 2:
        return
    print("growth for each 100 instances more")
    for label in by_size[sizes[0]]:
        parts = []
        for small, large in itertools.pairwise(sizes):
            a, b, more = by_size[small][label], by_size[large][label], (large - small) / 100
            parts.append(
                f"{small} to {large}: {(b.sample.wall - a.sample.wall) / more:+6.2f} s,"
                f" {(b.sample.cpu - a.sample.cpu) / more:+6.2f} s CPU,"
                f" {(b.own_peak - a.own_peak) / more:+5.0f} MB Python, {(b.calls - a.calls) / more:+6.1f} requests"
            )
        print(f"  {label:<30} {'; '.join(parts)}")


def paper(sizes: Sequence[int], rounds: int) -> None:
    """The first part."""
    by_size: dict[int, dict[str, Taken]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as name, cloud_site.many(size, Path(name) / "site") as site:
            made = taken(site.gpuprov("make"), site.calls)
            print(
                f"{size} instances (made in {made.sample.wall:.0f} s, {made.calls} requests;"
                f" state {site.state_bytes / 1e6:.2f} MB), {rounds} rounds in turn"
            )
            by_size[size] = measure(site, rounds)
            table(by_size[size])
    growth(by_size)


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=SIZES, help="numbers of instances; empty leaves the first part out")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--nodes", action="store_true", help="the second part, on the lab's nodes; needs root")
    given = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    paper([int(size) for size in given.sizes.split(",") if size], given.rounds)
    if given.nodes:
        import cloud_nodes  # noqa: PLC0415 - it needs the lab

        cloud_nodes.nodes(given.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
