"""A lab with its spec folder, and how the end-to-end tests act on it: gpuprov, a person on a node, the power switch."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuprov.lab.lab import node
from gpuprov.lab.names import LabNames
from gpuprov.lab.node import Node
from gpuprov.lab.state import LabState

GPUPROV = Path(sys.executable).parent / "gpuprov"
SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How one run of gpuprov ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def body(self) -> Any:
        """The JSON on stdout; the whole of stdout must be one document."""
        return json.loads(self.stdout)

    @property
    def codes(self) -> list[str]:
        """Codes of the errors on stderr, in order."""
        return re.findall(r"^error\[(GP-[A-Z]+-\d+)\]", self.stderr, flags=re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class LabSite:
    """The folder of one lab: its spec, inventory and keys."""

    lab: LabState
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the spec is."""
        return self.lab.folder

    @property
    def names(self) -> list[str]:
        """All nodes."""
        return [n.name for n in self.lab.description.nodes]

    @property
    def train(self) -> list[str]:
        """The nodes with GPUs."""
        return [n.name for n in self.lab.description.nodes if n.gpu is not None]

    def node(self, name: str) -> Node:
        """A node, for what the power switch and the console can do."""
        return node(self.lab.id, name)

    def start(self, *argv: str, **options: Any) -> subprocess.Popen[str]:
        """Start gpuprov and do not wait."""
        return subprocess.Popen(
            [str(GPUPROV), *argv], cwd=self.folder, env={**os.environ, **self.env}, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
        )  # fmt: skip

    def run(self, *argv: str, expect: int | None = 0, seconds: float = SECONDS) -> Ended:
        """Run gpuprov; its status must be `expect` (None: any)."""
        process = self.start(*argv)
        stdout, stderr = process.communicate(timeout=seconds)
        ended = Ended(status=process.returncode, stdout=stdout, stderr=stderr)
        if expect is not None:
            assert ended.status == expect, f"gpuprov {' '.join(argv)}: {ended.status}\n{stdout}\n{stderr}"
        return ended

    def up(self, *argv: str, target: str = "onprem", expect: int | None = 0, seconds: float = SECONDS) -> Ended:
        """`up` without a question, with its result as JSON."""
        return self.run("up", "--target", target, "--yes", "--json", *argv, expect=expect, seconds=seconds)

    def drift(self, *argv: str) -> Ended:
        """`parity` against the lock, as JSON; any status."""
        return self.run("parity", "--against", "lock", "--json", *argv, expect=None)

    def root(self, name: str, command: str, *, check: bool = True) -> str:
        """Run a shell command on a node as root, past ssh; return its stdout."""
        done = self.node(name).exec(["sh", "-c", command], timeout=SECONDS)
        assert not check or done.status == 0, f"{name}: {command}: {done.status}\n{done.stdout}{done.stderr}"
        return str(done.stdout)

    def edit(self, old: str, new: str) -> None:
        """Change the spec; the old text must be there exactly once."""
        path = self.folder / "gpuprov.yaml"
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in\n{text}"
        path.write_text(text.replace(old, new), encoding="utf-8")


def touched(ended: Ended) -> dict[str, str]:
    """Host -> state, of an `up --json`."""
    return {host["host"]: host["state"] for host in ended.body["hosts"]}


FORGET = "rm -rf /var/cache/gpuprov /var/lib/apt/lists/*"
"""Deletes what a host's apt knows of any source, which may be gone at any time."""


@contextmanager
def vendor_gone(site: LabSite) -> Iterator[None]:
    """The vendor's repository has nothing any more, and the hosts remember nothing of it."""
    place = LabNames(site.lab.id).repository
    aside = place.with_name("aside")
    place.rename(aside)
    try:
        for name in site.names:
            site.root(name, FORGET)
        yield
    finally:
        aside.rename(place)


def exported(path: Path) -> dict[str, str]:
    """What a file of `export NAME=VALUE` lines sets."""
    words = [
        shlex.split(line)[1] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("export ")
    ]
    return dict(word.split("=", 1) for word in words)
