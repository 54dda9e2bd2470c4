"""The demo: what a newcomer watches.

Every step is a command that a person could type; each has the exit status that it must have. The demo looks for itself
whether anything of the lab is left.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.e2e.account import Account
from tests.e2e.site import exported

ONPREM = ("--target", "onprem")
CLOUD = ("--target", "cloud")
GPUPROV = Path(sys.executable).parent / "gpuprov"
STEP_SECONDS = 900


class DemoError(Exception):
    """A step did not do what it must."""


class Demo:
    """Runs commands in the demo's folder, shows them, and checks their exit status.

    Args:
        folder: where the lab writes its spec, inventory and keys.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.times: list[tuple[str, float]] = []
        self.environment: dict[str, str] = {}

    def step(self, title: str, *argv: str, expect: int = 0, show: bool = True, folder: Path | None = None) -> str:
        """Run one gpuprov command; return its stdout.

        Raises:
            DemoError: it ended with another status than `expect`.
        """
        return self._run(title, [str(GPUPROV), *argv], expect=expect, show=show, folder=folder)

    def on_host(self, title: str, host: str, command: str) -> str:
        """Run a command on a node as its administrator, over ssh."""
        argv = ["ssh", "-F", str(self.folder / "ssh_config"), host, command]
        return self._run(title, argv, expect=0, show=True, folder=None)

    def _run(self, title: str, argv: list[str], *, expect: int, show: bool, folder: Path | None) -> str:
        shown = shlex.join([Path(argv[0]).name, *argv[1:]]).replace(str(self.folder), ".")
        print(f"\n== {title}\n$ {shown}", flush=True)
        started = time.monotonic()
        # stderr (progress) goes straight to the screen; stdout is shown when it is complete.
        done = subprocess.run(
            argv,
            cwd=folder or self.folder,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            text=True,
            timeout=STEP_SECONDS,
            check=False,
        )
        seconds = time.monotonic() - started
        if show or done.returncode != expect:
            print(done.stdout, end="")
        print(f"-- status {done.returncode}, {seconds:.1f} s", flush=True)
        self.times.append((title, seconds))
        if done.returncode != expect:
            raise DemoError(f"{title}: status {done.returncode}, expected {expect}")
        return done.stdout


def must(condition: object, sentence: str) -> None:
    """Check a claim of the demo and say it."""
    if not condition:
        raise DemoError(f"not true: {sentence}")
    print(f"   checked: {sentence}", flush=True)


def another_release(demo: Demo, host: str, package: str) -> tuple[str, str]:
    """The installed release of a package and another one that the host's sources offer."""
    look = f"sudo apt-get update -qq && apt-cache policy {package}"
    text = demo.on_host(f"which releases of {package} are on offer", host, look)
    installed = next(line.split()[-1] for line in text.splitlines() if "Installed:" in line)
    offered = demo.on_host("all of them", host, f"apt-cache madison {package}")
    others = [line.split("|")[1].strip() for line in offered.splitlines()]
    return installed, next(version for version in others if version != installed)


def run_demo(demo: Demo, seed: int, *, rack_alone: bool) -> None:
    """The rack, or rack and cloud, from the lab's start to its end."""
    lab_id = f"demo{seed}"
    up_argv = ("lab", "up", "--seed", str(seed), "--id", lab_id, "--dir", str(demo.folder))
    title = "a data centre on this machine" if rack_alone else "a data centre and a cloud on this machine"
    demo.step(title, *up_argv, *["--no-cloud"] * rack_alone, folder=Path.cwd())
    try:
        if rack_alone:
            rack = tell_the_rack(demo)
            tell_of_drift(demo, rack, [])
            hand_back(demo, rack)
        else:
            tell_both(demo)
    finally:
        demo.step("the data centre goes", "lab", "down", "--id", lab_id, folder=Path.cwd())
    left = leftovers(f"gpl-{lab_id}")
    must(not left, f"nothing of the lab is left: processes, mounts, namespaces, cgroups, rules {left or ''}".strip())


def tell_both(demo: Demo) -> None:
    """The rack, the cloud, what differs between them, and that the account is at the end as it was."""
    demo.environment = exported(demo.folder / "aws.env")
    account = Account(demo.environment)
    before = account.listing()
    rack, cloud = tell_the_rack(demo), tell_the_cloud(demo)
    tell_of_drift(demo, rack, cloud)
    hand_back(demo, rack)
    take_the_cloud_down(demo, account, before)


def tell_the_rack(demo: Demo) -> list[str]:
    """From two untouched hosts to a rack that is what the lock says; returns the names of the GPU hosts."""
    lab = json.loads((demo.folder / "lab.json").read_text(encoding="utf-8"))
    nodes = [node["name"] for node in lab["nodes"]]
    train = [node["name"] for node in lab["nodes"] if node["group"] == "train"]
    must(len(nodes) >= 4, f"the lab has {len(nodes)} nodes: {', '.join(nodes)}")
    demo.step("two untouched hosts: what differs?", "parity", f"host:{train[0]}", f"host:{train[1]}")
    demo.step("is the spec sound?", "validate")
    demo.step("from constraints to exact packages", "lock")
    demo.step("the rack: what would happen?", "preview", *ONPREM)
    demo.step("do it", "up", *ONPREM, "--yes")
    demo.step("is every host of the rack what the lock says?", "parity", "target:onprem", "--against", "lock")
    second = json.loads(demo.step("once more: nothing to do", "up", *ONPREM, "--yes", "--json", show=False))
    must_be_untouched(second)
    return train


def tell_the_cloud(demo: Demo) -> list[str]:
    """The same spec and lock in the cloud: an image, instances from it; returns the instances' names."""
    demo.step("the cloud: what would happen?", "preview", *CLOUD)
    demo.step("bake an image of the same lock", "image", "build")
    up = json.loads(demo.step("make the instances", "up", *CLOUD, "--yes", "--json", show=False))
    hosts = [host["host"] for host in up["hosts"]]
    must(
        all(not host["packages"] for host in up["hosts"]), f"no package moved on {', '.join(hosts)}: the image had all"
    )
    demo.step("where are they?", "output")
    demo.step("do cloud, rack and lock carry the same stack?", "parity")
    again = json.loads(demo.step("once more: nothing to do", "up", *CLOUD, "--yes", "--json", show=False))
    must_be_untouched(again)
    must(not again["resources"]["changed"], "no resource was changed")
    return hosts


def tell_of_drift(demo: Demo, rack: list[str], cloud: list[str]) -> None:
    """Somebody changes one side by hand: found, repaired, in sync."""
    host, package = rack[-1], "cuda-toolkit-13-0"
    before, after = another_release(demo, host, package)
    move = f"sudo apt-get install -qq -y --allow-downgrades --allow-change-held-packages {package}={after}"
    demo.on_host("somebody moves a package by hand", host, f"{move} >/dev/null && dpkg-query -W {package}")
    drift = demo.step("the drift is found", "parity", expect=7)
    must(host in drift and package in drift, f"the report names {host} and {package}")
    must(before in drift and after in drift, f"and both versions: {before}, {after}")
    if cloud:
        must(not any(name in drift for name in cloud), f"and none of {', '.join(cloud)}")
    repair = json.loads(demo.step("and repaired", "up", *ONPREM, "--yes", "--json", show=False))
    touched = [h["host"] for h in repair["hosts"] if h["tasks"]]
    must(touched == [host], f"only {host} was touched")
    demo.step("in sync again", "parity")
    demo.step("how is every host?", "status")


def hand_back(demo: Demo, rack: list[str]) -> None:
    """The rack's hosts are their administrators' again."""
    demo.step("hand the rack's hosts back", "destroy", *ONPREM, "--yes")
    look = "apt-mark showhold | wc -l; ls /etc/apt/sources.list.d | grep -c gpuprov || true"
    must(demo.on_host("no hold is left", rack[-1], look).split() == ["0", "0"], "holds and sources of gpuprov are gone")


def take_the_cloud_down(demo: Demo, account: Account, before: frozenset[str]) -> None:
    """The cloud goes; what holds data only by its name."""
    gone = json.loads(demo.step("take the cloud down", "destroy", *CLOUD, "--yes", "--json", show=False))
    left = gone["resources"]["left"]
    must(left, f"what holds data is left, and named: {', '.join(left)}")
    data = [address for address in left if not address.startswith("image.")]
    names = sorted({address.partition(".")[2].partition("/")[0] for address in data})
    delete = [word for name in names for word in ("--delete-data", name)]
    demo.step("the data too", "destroy", *CLOUD, "--yes", *delete)
    demo.step("and the image", "image", "prune", "--keep", "0", "--yes")
    left_over = account.listing() - before
    must(not left_over, f"the account is as it was before {sorted(left_over) or ''}".strip())


def must_be_untouched(run: Any) -> None:
    """Check that an `up` ran nothing on any host."""
    must(all(h["tasks"] == 0 and h["state"] == "satisfied" for h in run["hosts"]), "0 tasks, 0 changes on every host")


def leftovers(mark: str) -> list[str]:
    """Everything on this machine whose name carries the lab's mark, found without the lab's own code."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                group = (entry / "cgroup").read_text(encoding="utf-8")
            except (FileNotFoundError, ProcessLookupError):
                continue  # the process ended while we looked
            if mark in command or mark in group:
                found.append(f"process {entry.name}: {command}")
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    found += [f"mount {line.split()[4]}" for line in mounts.splitlines() if mark in line]
    for argv in (["ip", "netns", "list"], ["ip", "-o", "link"], ["nft", "list", "tables"]):
        text = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout
        found += [f"{argv[0]}: {line}" for line in text.splitlines() if mark in line]
    found += [f"cgroup {path}" for path in Path("/sys/fs/cgroup").glob(f"*/*{mark}*")]
    found += [f"cgroup {path}" for path in Path("/sys/fs/cgroup").glob(f"*{mark}*")]
    return found


def main() -> int:
    """Run the demo; 0 when every step did what it must."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=["onprem"], help="the rack alone; default: rack and cloud")
    arguments = parser.parse_args()
    seed = arguments.seed
    print(f"gpuprov demo, seed {seed}: versions, names, addresses, GPU model and counts come from it", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gpuprov-demo-") as folder:
        demo = Demo(Path(folder))
        try:
            run_demo(demo, seed, rack_alone=arguments.target is not None)
        except DemoError as error:
            print(f"\nDEMO FAILED: {error}", file=sys.stderr)
            return 1
    print("\ntimes:")
    for title, seconds in demo.times:
        print(f"  {seconds:6.1f} s  {title}")
    print(f"demo passed, seed {seed}, {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
