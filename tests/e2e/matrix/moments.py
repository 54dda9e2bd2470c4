"""The moments of a run at which a fault strikes, and how each is recognised from outside."""

import re
import time

import pytest

from tests.e2e.matrix.rack import SECONDS, Rack
from tests.e2e.matrix.run import Run

_POLL = 0.05
DPKG_LOG = "/var/log/dpkg.log"


class Watcher:
    """Sees where a run is.

    Args:
        rack: the host, before the run was started.
    """

    def __init__(self, rack: Rack) -> None:
        self._rack = rack
        self._leader = rack.node.leader()
        self._seen = self._logged()

    def wait(self, run: Run, moment: str) -> None:
        """Wait for a moment; a run that ends before it fails the test."""
        deadline = time.monotonic() + SECONDS
        reached = getattr(self, moment)
        while not reached(run):
            if run.process.poll() is not None:
                ended = run.end(1)
                pytest.fail(f"the run ended ({ended.status}) before it was {moment}:\n{ended.stdout}\n{ended.stderr}")
            if time.monotonic() > deadline:
                pytest.fail(f"the run was not {moment} within {SECONDS:.0f} s:\n{run.stderr}")
            time.sleep(_POLL)

    def looking(self, run: Run) -> bool:
        """It probes the host, before there is a plan."""
        return "probe" in run.stderr

    def draining(self, run: Run) -> bool:
        """Work goes off the host."""
        return run.begun("drain")

    def playing(self, run: Run) -> bool:
        """The play has begun."""
        return run.begun("converge")

    def asking(self, run: Run) -> bool:
        """The host's apt is asked what it would do, before anybody is shown a plan."""
        return self._apt(r"apt-get (update|install)") and not run.begun("rollout")

    def refreshing(self, run: Run) -> bool:
        """The host fetches package lists for its transaction."""
        return run.begun("converge") and self._apt(r"apt-get update")

    def unpacking(self, run: Run) -> bool:
        """Dpkg unpacks packages."""
        return self._dpkg_said(r"status half-installed")

    def configuring(self, run: Run) -> bool:
        """Dpkg configures packages."""
        return self._dpkg_said(r"^\S+ \S+ configure ")

    def unpacked(self, run: Run) -> bool:
        """The transaction has ended, and the play goes on to files and services."""
        folder = self._rack.file("/var/lib/gpuprov/transactions")
        if folder is None:
            return False
        return any(result.stat().st_mtime > run.started for result in folder.glob("*/result.json"))

    def rebooting(self, run: Run) -> bool:
        """The host is told to reboot."""
        return run.begun("reboot")

    def down(self, run: Run) -> bool:
        """The host goes down or comes up."""
        return run.begun("reboot") and self._rack.node.leader() != self._leader

    def proving(self, run: Run) -> bool:
        """The host is looked at again."""
        return run.begun("proof")

    def returning(self, run: Run) -> bool:
        """The host gets its work back."""
        return run.begun("give back")

    def _apt(self, pattern: str) -> bool:
        return any(re.search(pattern, line) for line in self._rack.processes())

    def _logged(self) -> int:
        log = self._rack.file(DPKG_LOG)
        return log.stat().st_size if log is not None and log.exists() else 0

    def _dpkg_said(self, pattern: str) -> bool:
        log = self._rack.file(DPKG_LOG)
        if log is None or not log.exists():
            return False
        with log.open("rb") as file:
            file.seek(self._seen)
            text = file.read().decode(errors="replace")
        return re.search(pattern, text, flags=re.MULTILINE) is not None
