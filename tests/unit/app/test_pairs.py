"""Pairs that are no twins: two recordings in the real forms of two places, and what an expert finds between them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.app.access import Access
from gpuprov.app.parity import ParityRequest, parity
from gpuprov.cli.main import main
from gpuprov.document.recording_text import write_recording
from gpuprov.model.finding import Finding
from gpuprov.model.progress import ignore_progress
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.parity.types import Parity
from gpuprov.probe.collectors import COLLECTORS

FOLDER = Path(__file__).parents[2] / "cases" / "pairs"
REPORTS = yaml.safe_load((FOLDER.parent / "reports" / "parity.yaml").read_text())
PAIRS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))}
BASES = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((FOLDER / "base").glob("*.yaml"))}


def recorded(pair: dict[str, Any], side: str, folder: Path) -> Path:
    """Write one side's recording, and the snapshot that its replay gives."""
    base, mine = BASES[pair["base"]], pair[side]
    outputs = {**base["outputs"], "name": {"stdout": mine["host"] + "\n"}, **pair.get("both", {}), **mine["outputs"]}
    recording = Recording(
        host=mine["host"],
        os="",
        arch="",
        taken=base["taken"],
        collectors={
            name: CollectorOutput(
                command="", stdout=seen.get("stdout", ""), stderr=seen.get("stderr", ""), status=seen.get("status", 0)
            )
            for name, seen in outputs.items()
        },
    )
    written = folder / f"{side}.yaml"
    written.write_text(write_recording(recording))
    out = folder / f"{side}.json"
    assert main(["snapshot", "--replay", str(written), "--out", str(out)]) == 0
    return out


def compared(first: Path, second: Path) -> Parity:
    operands = (str(first), str(second))
    return parity(ParityRequest(operands=operands, against_lock=False, site=None, access=Access()), ignore_progress)


def told(finding: Finding) -> str:
    return f"{finding.kind}: {finding.address}" + ("" if finding.counts else f" ({finding.parity})")


@pytest.mark.parametrize("name", PAIRS)
def test_an_expert_finds_the_same(name: str, tmp_path: Path) -> None:
    check(PAIRS[name], tmp_path)


@pytest.mark.parametrize("case", REPORTS, ids=lambda case: f"{case['id']} {case['name']}")
def test_public_reports_whose_answer_is_paritys(case: dict[str, Any], tmp_path: Path) -> None:
    check(case, tmp_path)


def check(pair: dict[str, Any], tmp_path: Path) -> None:
    first, second = (recorded(pair, side, tmp_path) for side in ("first", "second"))
    found = compared(first, second)
    assert [told(finding) for finding in found.findings if finding.counts] == pair["findings"]
    assert set(pair["told"]) <= {told(finding) for finding in found.findings if not finding.counts}
    assert int(found.status) == pair["status"]
    mirrored = {finding.address for finding in compared(second, first).findings if finding.counts}
    assert mirrored == {line.partition(": ")[2] for line in pair["findings"]}


def test_a_place_is_in_parity_with_its_twin(tmp_path: Path) -> None:
    for name, base in BASES.items():
        twin = {"base": name, **{side: {"host": side, "outputs": {}} for side in ("first", "second")}}
        found = compared(*(recorded(twin, side, tmp_path) for side in ("first", "second")))
        assert [told(finding) for finding in found.findings] == ["different: host.name (target-specific)"]
        assert int(found.status) == 0
        assert set(base["outputs"]) == {collector.name for collector in COLLECTORS}


def test_the_reports_that_name_parity_are_here() -> None:
    assert {case["id"] for case in REPORTS} >= {"A01", "A02", "A08", "A22", "A31", "A33", "A53"}


def test_every_pair_names_the_sources_of_its_forms() -> None:
    for name, pair in PAIRS.items():
        assert pair["about"], name
        assert pair["sources"], name
    assert len(PAIRS) >= 6
