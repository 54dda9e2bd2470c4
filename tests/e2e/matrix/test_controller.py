"""The controller is killed at every moment of a run; a second one comes while the first is at work."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.matrix.case import Case, cases
from tests.e2e.matrix.moments import Watcher
from tests.e2e.matrix.rack import SECONDS, Rack
from tests.e2e.matrix.trial import Note, attempt, mend, noted
from tests.e2e.site import GPUPROV, Ended

pytestmark = [pytest.mark.lab, pytest.mark.matrix, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("case", cases("controller.yaml"))
def test_what_a_lost_controller_leaves_is_mended(case: Case, rack: Rack, record_property: Note) -> None:
    attempt(case, rack, record_property)


def test_a_second_controller_is_told_and_the_first_goes_on(rack: Rack, tmp_path: Path, record_property: Note) -> None:
    """From a copy of the site's folder, as on another machine, the host's lock counts; in the folder, the site's."""
    other = tmp_path / "other"
    shutil.copytree(rack.site.folder, other, ignore=shutil.ignore_patterns(".gpuprov"))
    with noted(record_property, fault="two_controllers", at="draining, driver") as seen:
        rack.ready()
        rack.turn("driver")
        for name in ("gpuprov.yaml", "gpuprov.lock"):
            shutil.copy(rack.site.folder / name, other)
        watcher = Watcher(rack)
        run = rack.start("up", "--target", "onprem", "--yes", "--json", env={})
        # Not later: the other would see the transaction, wait for its end, and find nothing to do.
        watcher.wait(run, "draining")
        second = run_gpuprov(other, "up", "--target", "onprem", "--yes", "--json")
        third = rack.site.up(expect=None)
        seen.update(status=str(second.status), told=" ".join(second.codes))
        first = run.end(SECONDS)
        assert first.status == 0, first.stderr
        assert (second.status, second.codes[:1]) == (5, ["GP-RUN-011"]), second.stderr
        assert (third.status, third.codes) == (5, ["GP-RUN-001"]), third.stderr
        for refused in (second, third):
            assert str(run.process.pid) in refused.stderr, "who holds the host, or the site, is named"
        found = rack.look()
        seen["after"] = ", ".join(f"{name} {value}" for name, value in found.items())
        assert (found["packages"], found["dpkg"], found["loaded"]) == ("after", "whole", "after")
        mend(rack)
        seen["mended"] = "nothing to mend"
        rack.known = True


def run_gpuprov(folder: Path, *argv: str) -> Ended:
    """Run gpuprov in a folder to its end."""
    done = subprocess.run(
        [str(GPUPROV), *argv], cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    return Ended(status=done.returncode, stdout=done.stdout, stderr=done.stderr)
