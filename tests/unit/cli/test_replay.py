"""`snapshot --replay` on the command line: every recorded form becomes its facts, without a host."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.cli.main import main
from gpuprov.document.recording_text import write_recording
from gpuprov.document.snapshot_text import read_snapshot
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording, Snapshot

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]  # hundreds of files

FOLDER = Path(__file__).parents[2] / "cases"
CASES: list[dict[str, Any]] = [
    case
    for pattern in ("probe/*.yaml", "reports/probe_*.yaml")
    for path in sorted(FOLDER.glob(pattern))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
]


def recorded(case: dict[str, Any], host: str) -> Recording:
    said = case["outputs"] if "outputs" in case else {**case.get("context", {}), case["collector"]: case}
    outputs = {
        name: CollectorOutput(
            command="", stdout=one.get("stdout", ""), stderr=one.get("stderr", ""), status=one.get("status", 0)
        )
        for name, one in said.items()
    }
    return Recording(host=host, os="", arch="", taken=case.get("taken", "2026-11-30T10:00:00Z"), collectors=outputs)


def observed(snapshot: Snapshot, address: str) -> Observation:
    if address.endswith("[*]"):
        return snapshot.families[address.removesuffix("[*]")]
    return snapshot.observe(address)


def fits(seen: Observation, expected: Any) -> bool:
    if expected == "none":
        return not isinstance(seen, Known)
    if expected == "absent":
        return seen == Absent()
    if "unknown" in expected:
        return isinstance(seen, Unknown) and expected["unknown"] in seen.reason
    return seen == Known(expected["known"])


def test_every_recorded_form_gives_its_facts_by_the_command_line(tmp_path: Path) -> None:
    options: list[str] = []
    for number, case in enumerate(CASES):
        file = tmp_path / f"{number}.yaml"
        file.write_text(write_recording(recorded(case, f"host-{number}")), encoding="utf-8")
        options += ["--replay", str(file)]
    assert main(["snapshot", *options, "--out", str(tmp_path / "out")]) == 0
    wrong = []
    for number, case in enumerate(CASES):
        file = tmp_path / "out" / f"host-{number}.json"
        snapshot = read_snapshot(file.read_text(encoding="utf-8"), str(file))
        for address, expected in case["expect"].items():
            # The time of a case without one is made up here.
            if not (address.startswith("host.clock.") and "taken" not in case) and not fits(
                observed(snapshot, address), expected
            ):
                wrong.append((case["id"], address, expected, observed(snapshot, address)))
    assert wrong == []
