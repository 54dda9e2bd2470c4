"""A run of gpuprov that is watched from outside while it goes on: its words, its journal, its processes."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from gpuprov.store.journal import JOURNAL
from gpuprov.store.site import runs_folder
from tests.e2e.site import GPUPROV, Ended, LabSite


class Run:
    """One `gpuprov` process of a site, leader of a session of its own as under a service or a terminal.

    Args:
        site: where it runs.
        argv: its arguments.
        env: added to the environment.
    """

    def __init__(self, site: LabSite, *argv: str, env: Mapping[str, str]) -> None:
        self._runs = runs_folder(site.folder / ".gpuprov")
        self._before = set(self._runs.glob("*"))
        # Files, not pipes: they can be read while it runs, and a killed run's children may keep a pipe open.
        self._out, self._err = (tempfile.NamedTemporaryFile() for _ in range(2))  # noqa: SIM115 - they live as long
        self.started = time.time()
        self.process = subprocess.Popen(
            [str(GPUPROV), *argv], cwd=site.folder, env={**os.environ, **site.env, **env}, stdin=subprocess.DEVNULL,
            stdout=self._out, stderr=self._err, start_new_session=True,
        )  # fmt: skip

    @property
    def stderr(self) -> str:
        """What it has said until now."""
        return Path(self._err.name).read_text(encoding="utf-8")

    def begun(self, step: str) -> bool:
        """Whether its journal says that a step began."""
        for folder in set(self._runs.glob("*")) - self._before:
            journal = folder / JOURNAL
            lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
            if any(entry["step"] == step and entry["event"] == "begin" for entry in map(json.loads, lines)):
                return True
        return False

    def family(self) -> list[int]:
        """Its process and all that descend from it, the deepest last."""
        found = [self.process.pid]
        parents = dict(_parents())
        for pid in found:  # grows while it is walked
            found += [child for child, parent in parents.items() if parent == pid]
        return found

    def end(self, seconds: float) -> Ended:
        """Wait for its end; a killed one has a negative status."""
        status = self.process.wait(timeout=seconds)
        stdout = Path(self._out.name).read_text(encoding="utf-8")
        return Ended(status=status, stdout=stdout, stderr=self.stderr)


def _parents() -> list[tuple[int, int]]:
    pairs = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of a program may hold anything; what follows its last bracket does not.
            fields = place.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        pairs.append((int(place.parent.name), int(fields[1])))
    return pairs
