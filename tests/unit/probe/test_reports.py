"""Public reports: a recording of the host, read as `snapshot --replay` reads it, gives the facts that matter there."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.document.recording_text import read_recording, write_recording
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.sharing import Sharing
from gpuprov.probe.snapshot import snapshot_of

FOLDER = Path(__file__).parents[2] / "cases" / "reports"
CASES = [case for path in sorted(FOLDER.glob("probe_*.yaml")) for case in yaml.safe_load(path.read_text())]
GPU_CASES = yaml.safe_load((FOLDER / "probe_gpu.yaml").read_text())


def recording(case: dict[str, Any]) -> Recording:
    outputs = {
        name: CollectorOutput(
            command="", stdout=said.get("stdout", ""), stderr=said.get("stderr", ""), status=said.get("status", 0)
        )
        for name, said in case["outputs"].items()
    }
    return Recording(host="gpu-1", os="", arch="amd64", taken="2026-11-30T10:00:00Z", collectors=outputs, seconds=0.3)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']} {case['name']}")
def test_a_recording_of_a_reported_host_gives_its_facts(case: dict[str, Any]) -> None:
    snapshot = snapshot_of(read_recording(write_recording(recording(case)), "gpu-1.yaml"))
    for address, expected in case["expect"].items():
        seen = snapshot.observe(address)
        if expected == "absent":
            assert seen == Absent(), address
        elif "unknown" in expected:
            assert isinstance(seen, Unknown), (address, seen)
            assert expected["unknown"] in seen.reason
        else:
            assert seen == Known(expected["known"]), address


@pytest.mark.parametrize("case", GPU_CASES, ids=lambda case: f"{case['id']} {case['name']}")
def test_a_recording_for_sharing_gives_the_same_facts_of_gpus(case: dict[str, Any]) -> None:
    full = recording(case)
    before, after = (snapshot_of(one).facts for one in (full, Sharing().share(full)))
    assert {a: fact.observation for a, fact in after.items()} == {a: fact.observation for a, fact in before.items()}
