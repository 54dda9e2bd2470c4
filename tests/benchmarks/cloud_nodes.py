"""The second part of `cloud.py`: instances that boot, on the lab; needs root."""

import json
import statistics
import sys
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cloud_site
import yaml
from measure import GPUPROV, Command, Sample, once

from gpuprov.lab import lab as labs
from gpuprov.lab.seed import draw
from gpuprov.model.progress import ignore_progress

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.e2e.site import exported

SEED = 1
LAB = "bchcld"
CLOUD = ("--target", "cloud")


@dataclass(frozen=True, kw_only=True)
class Site:
    """A lab's spec folder, and its account."""

    folder: Path
    environment: Mapping[str, str]

    def run(self, *argv: str) -> Sample:
        """Run a command of gpuprov to its end; one that fails ends the benchmark."""
        return once(Command(argv=(GPUPROV, *argv), folder=self.folder, more=self.environment))

    def up(self, *argv: str) -> tuple[Sample, Any]:
        """`up` of the cloud: what it took and what it told."""
        told = self.folder / "up.json"
        shell = f'exec "$@" >{told} 2>{self.folder}/up.err'
        command = ("sh", "-c", shell, "sh", GPUPROV, "up", *CLOUD, "--yes", "--json", *argv)
        sample = once(Command(argv=command, folder=self.folder, more=self.environment))
        return sample, json.loads(told.read_text(encoding="utf-8"))

    def to_parity(self, name: str) -> tuple[float, int]:
        """Make one instance anew and bring it to parity 0; seconds, and the packages that moved on it."""
        made, told = self.up("--replace", name)
        proof = self.run("parity", f"host:{name}", "--against", "lock")
        (host,) = (row for row in told["hosts"] if row["host"] == name)
        return made.wall + proof.wall, len(host["packages"])


def baked_and_base(site: Site, name: str) -> None:
    """One instance from the base image and its converge, then the same one from the image that was baked."""
    first, _ = site.up()
    print(f"  the first up, with the network and all that           {first.wall:7.1f} s")
    base, moved = site.to_parity(name)
    print(f"  base image, converge, parity 0                        {base:7.1f} s   {moved} package(s) moved")
    print(f"  image build                                           {site.run('image', 'build').wall:7.1f} s")
    baked, moved = site.to_parity(name)
    print(
        f"  baked image, parity 0                                 {baked:7.1f} s   {moved} package(s) moved,"
        f" {baked / base:.2f}x",
        flush=True,
    )


def whole_no_op(site: Site, stack: str, rounds: int) -> None:
    """A whole `up` that has nothing to do, hosts looked at, beside the bare engine's update of the same stack."""
    once(Command(argv=(sys.executable, str(cloud_site.HERE / "cloud_step.py"), "document"),
                 folder=site.folder, more=site.environment))  # fmt: skip
    bare = cloud_site.bare(site.folder, stack, site.environment, "up")
    once(bare)
    site.up()
    engine, ours = [], []
    for _ in range(rounds):
        engine.append(once(bare))
        sample, told = site.up()
        if told["resources"]["changed"] or any(host["tasks"] for host in told["hosts"]):
            sys.exit("the second up had something to do")
        ours.append(sample)
    for label, taken in (("bare engine, up", engine), ("gpuprov up, hosts and proof too", ours)):
        wall, cpu = (statistics.median(getattr(one, name) for one in taken) for name in ("wall", "cpu"))
        peak = max(one.peak for one in taken)
        print(f"  {label:<50} {wall:7.2f} s {cpu:7.2f} s CPU {peak:5.0f} MB")
    ratio = statistics.median(a.wall / b.wall for a, b in zip(ours, engine, strict=True))
    print(f"  {ratio:.2f}x", flush=True)


def nodes(rounds: int) -> None:
    """Bring a lab up, measure, take it down."""
    drawn = draw(SEED, nodes=4, cloud=True)
    if drawn.cloud is None:
        sys.exit("the lab has no cloud")
    one, *others = drawn.cloud.hosts
    description = replace(drawn, id=LAB, nodes=tuple(node for node in drawn.nodes if node.gpu is not None)[:1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labs.down(LAB, ignore_progress)  # what a killed run left
        try:
            labs.up(description, folder, ignore_progress)
            environment = exported(folder / "aws.env") | {"PATH": cloud_site.path_with_engine()}
            site = Site(folder=folder, environment=environment)
            spec = folder / "gpuprov.yaml"
            whole = spec.read_text(encoding="utf-8")
            spec.write_text(_with_one(whole, others), encoding="utf-8")
            site.run("lock")
            print(f"one instance of {drawn.cloud.instance}, from an image to parity 0")
            baked_and_base(site, one)
            spec.write_text(whole, encoding="utf-8")
            site.up()
            print(f"{len(drawn.cloud.hosts)} instances, nothing to do, {rounds} rounds in turn")
            whole_no_op(site, yaml.safe_load(whole)["name"], rounds)
        finally:
            labs.down(LAB, ignore_progress)


def _with_one(spec: str, others: Collection[str]) -> str:
    """The lab's spec without some of its cloud hosts, each of which has a line of its own."""
    lines = spec.splitlines(keepends=True)
    kept = [line for line in lines if line.strip() not in {f"- {name}" for name in others}]
    if len(lines) - len(kept) != len(others):
        sys.exit("the lab's spec names its hosts otherwise than this benchmark thinks")
    return "".join(kept)
