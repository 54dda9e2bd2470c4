"""One host between two states: it is moved by `up`, something goes wrong, and the next run must bring it there."""

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from gpuprov.lab import cgroup
from gpuprov.lab import lab as labs
from gpuprov.lab.description import LabDescription
from gpuprov.lab.gpus import MODELS
from gpuprov.lab.names import LabNames
from gpuprov.lab.node import Node, command_line
from gpuprov.lab.seed import draw
from gpuprov.lab.state import LabState
from gpuprov.model.diagnostic import GpuprovError
from tests.e2e.conftest import SEED, say, small
from tests.e2e.matrix.run import Run
from tests.e2e.site import LabSite

SECONDS = 900.0
"""How long one `up` may take on a busy machine."""
TOOLKITS = ("1.18.*", "1.19.*")
VERSIONS = "dpkg-query -W -f='${Package} ${Version} ${db:Status-Status}\\n'"
WORK = """\
    rollout:
      batch: "1"
      drain: {{command: "echo off > {file}; sleep 1", back: "sleep 1; echo on > {file}"}}
"""
"""Takes work off the host and gives it back, each slowly enough to be caught at it."""
STATE = "systemctl is-system-running || true"
UNITS = "systemctl list-units --no-legend --state=active,activating --plain 'gpuprov-transaction-*'"


class Rack:
    """A lab of one host with GPUs and an NVSwitch, brought up, and where it stands.

    A move goes from one release to the other: `driver` needs a reboot, `toolkit` restarts the container engine.
    """

    def __init__(self, lab_id: str, folder: Path) -> None:
        labs.down(lab_id, say)  # what a killed test run left
        self._state = labs.up(_described(lab_id), folder, say)
        self.site = LabSite(lab=self._state)
        self.name = self.site.train[0]
        spec = (folder / "gpuprov.yaml").read_text(encoding="utf-8")
        # Exporters answer late on a machine that is as busy as one that runs this, which is no matter of these trials.
        self._spec, found = re.subn(r"^monitoring:\n(?: .*\n)+", "", spec, flags=re.MULTILINE)
        assert found == 1, spec
        self._work = folder / "work"
        self._work.write_text("on\n", encoding="utf-8")
        self._spec, found = re.subn(
            r'^    rollout:\n      batch: "100%"\n', WORK.format(file=self._work), self._spec, flags=re.MULTILINE
        )
        assert found == 1, spec
        self._locks: dict[str, str] = {}
        releases = self._state.description.driver_releases
        self._choices = {"driver": (releases[0], releases[-1]), "toolkit": TOOLKITS}
        self._at = {"driver": 0, "toolkit": 0}
        self.known = True
        """Whether the host is where it was last brought; a failed case leaves it anywhere."""
        self.moving = "driver"
        self.run: Run | None = None
        self._write()
        self.site.up()
        # All that a move needs is the vendor's; reading the OS's 64,000 packages costs each apt-get 1 to 2.5 s of CPU.
        self.root("rm -rf /var/lib/apt/lists/*")

    @property
    def lab(self) -> LabState:
        """The lab."""
        return self._state

    @property
    def node(self) -> Node:
        """The host's power switch and console."""
        return self.site.node(self.name)

    @property
    def names(self) -> LabNames:
        """Names of what the lab made."""
        return LabNames(self._state.id)

    def root(self, command: str, *, check: bool = True) -> str:
        """Run a shell command on the host as root, past ssh."""
        return self.site.root(self.name, command, check=check)

    def ready(self) -> None:
        """Bring the host back to where it last should have been, when a case before this one failed."""
        if not self.known:
            self.node.start()
            self.node.wait_ssh()
            self.site.up(seconds=SECONDS)
            self.known = True

    def turn(self, move: str) -> None:
        """Ask for the other release in spec and lock."""
        self.moving, self.known = move, False
        self._at[move] = 1 - self._at[move]
        self._write()

    def turn_back(self) -> None:
        """Ask again for the release before."""
        self.turn(self.moving)

    def start(self, *argv: str, env: Mapping[str, str]) -> Run:
        """Start a run that is watched."""
        self.run = Run(self.site, *argv, env=env)
        return self.run

    def target(self, *, before: bool = False) -> re.Pattern[str]:
        """What the versions of the moving packages look like after (or before) the move."""
        chosen = self._choices[self.moving][self._at[self.moving] ^ before]
        return re.compile(re.escape(chosen.removesuffix("*")) + r".*-1$")

    def archives(self) -> list[Path]:
        """The packages of the move's target in the vendor's repository."""
        files = self.names.repository.glob("*.deb")
        return [file for file in files if self.target().match(file.name.split("_")[1])]

    def look(self) -> dict[str, str]:
        """Where the host is in the move: packages, dpkg, the loaded driver, the container engine, and its work."""
        rows = [line.split() for line in self.root(VERSIONS).splitlines()]
        moved = sum(bool(self.target().match(row[1])) for row in rows if row[2] == "installed")
        stayed = sum(bool(self.target(before=True).match(row[1])) for row in rows if row[2] == "installed")
        whole = self.root("dpkg --audit; find /var/lib/dpkg/updates -name '[0-9]*'") == ""
        loaded = self.root("cat /sys/module/nvidia/version 2>/dev/null || true").strip()
        return {
            "packages": "after" if moved and not stayed else "mixed" if moved else "before",
            "dpkg": "whole" if whole else "broken",
            "loaded": self._place_of(loaded),
            "engine": self.root("systemctl is-active docker || true").strip(),
            "work": self._work.read_text(encoding="utf-8").strip(),
        }

    def settle(self) -> None:
        """Wait until the host neither boots nor goes down, and no package transaction of a lost run is at work."""
        until(
            lambda: self.root(STATE).strip() in {"running", "degraded"} and not self.root(UNITS).strip(),
            120,
            "the host is not up, or a transaction of a lost run is still at work",
        )

    def processes(self) -> list[str]:
        """The command lines of the host's processes."""
        found = cgroup.processes(self.names.node_cgroup(self.name))
        return [" ".join(command_line(process)) for process in found]

    def file(self, path: str) -> Path | None:
        """A file of the host as this machine sees it; None while the host is off."""
        leader = self.node.leader()
        return None if leader is None else Path(f"/proc/{leader}/root{path}")

    def _place_of(self, release: str) -> str:
        if self.moving != "driver":
            return "same" if release else "none"
        old, new = (self._choices["driver"][self._at["driver"] ^ back] for back in (True, False))
        return {old: "before", new: "after", "": "none"}.get(release, release)

    def _write(self) -> None:
        chosen = {name: values[self._at[name]] for name, values in self._choices.items()}
        branch = self._state.description.driver_branch
        text = self._spec
        for old, new in ((f"{branch}.*", chosen["driver"]), (TOOLKITS[0], chosen["toolkit"])):
            assert text.count(f'"{old}"') == 1
            text = text.replace(f'"{old}"', f'"{new}"')
        (self.site.folder / "gpuprov.yaml").write_text(text, encoding="utf-8")
        lock = self.site.folder / "gpuprov.lock"
        if text in self._locks:
            lock.write_text(self._locks[text], encoding="utf-8")
        else:
            lock.unlink(missing_ok=True)
            self.site.run("lock")
            self._locks[text] = lock.read_text(encoding="utf-8")


def _described(lab_id: str) -> LabDescription:
    lab = small(draw(SEED, nodes=4, cloud=False), lab_id, train=1, cpu=0)
    (node,) = lab.nodes
    assert node.gpu is not None
    if node.gpu.nvswitch:
        return lab
    model = next(row for row in MODELS if row.nvswitch)
    values = {name: getattr(model, name) for name in ("model", "nvml_name", "pci_device", "memory_mib", "nvswitch")}
    gpu = replace(node.gpu, count=model.counts[0], **values)
    return replace(lab, nodes=(replace(node, gpu=gpu),))


def until(true: Callable[[], bool], seconds: float, otherwise: str) -> None:
    """Wait for something; a host that is just going down or coming up cannot be asked."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(GpuprovError):
            if true():
                return
        time.sleep(0.1)
    pytest.fail(otherwise)
