"""`parity` over files and folders of snapshots: what is compared with what, and what cannot be."""

import gc
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from host_builders import make_snapshot

from gpuprov.app import parity_sides
from gpuprov.app.access import Access
from gpuprov.app.parity import ParityRequest, parity
from gpuprov.cli.main import main
from gpuprov.document.snapshot_rows import RowCache, RowFacts
from gpuprov.document.snapshot_text import write_snapshot
from gpuprov.model.progress import ignore_progress
from gpuprov.model.snapshot import Snapshot
from gpuprov.parity.types import Parity

CASES = Path(__file__).parents[2] / "cases" / "parity"
FOLDERS = yaml.safe_load((CASES / "folders.yaml").read_text())
REFUSED = yaml.safe_load((CASES / "refused.yaml").read_text())
FACTS = {f"stack.driver.{leaf}": "580.95.05" for leaf in ("on_disk", "loaded", "nvml")} | {"gpu.count": 8}


def write(files: dict[str, Any]) -> None:
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, str):
            path.write_text(content)
            continue
        host, _, how = path.stem.partition("~")
        text = write_snapshot(make_snapshot({**FACTS, "host.name": host, **content}, host))
        path.write_text(text.replace("580.95.05", "580.95.06") if how == "edited" else text)


def compare(*operands: str) -> Parity:
    request = ParityRequest(operands=operands, against_lock=False, site=None, access=Access())
    return parity(request, ignore_progress)


@pytest.mark.parametrize("name", FOLDERS)
def test_folders(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = FOLDERS[name]
    monkeypatch.chdir(tmp_path)
    write(case["files"])
    found = compare(*case["argv"])
    assert int(found.status) == case["status"]
    assert list(found.hosts) == case.get("hosts", [])
    assert {row.finding.address: list(row.hosts) for row in found.rows} == case.get("rows", {})
    assert sorted(host.host for host in found.not_compared) == case.get("not_compared", [])
    for row in found.rows:
        assert list(row.finding.sides) == case.get("sides", list(row.finding.sides))


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["id"])
def test_refused(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(case.get("files", {}))
    assert main(["parity", *case["argv"]]) == case["status"]
    shown = capsys.readouterr()
    assert case.get("code", "") in shown.err
    assert [word for word in case["words"] if word not in " ".join(shown.err.split())] == []
    assert shown.err.count("error[") == ("code" in case)
    assert shown.out == ""


def test_ids_of_a_fleet_stay_when_another_host_becomes_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def ids() -> dict[str, str]:
        assert main(["parity", "./s", "--json"]) == 7
        return {row["address"]: row["finding"] for row in json.loads(capsys.readouterr().out)["rows"]}

    write({f"s/n{number}.json": {"gpu.count": 7 if number == 4 else 8} for number in range(1, 5)})
    before = ids()
    write({"s/n1.json": {"stack.driver.modules": "proprietary"}})
    after = ids()
    assert after["gpu.count"] == before["gpu.count"]
    assert set(after) == {"gpu.count", "stack.driver.modules"}


@pytest.mark.slow
def test_of_a_folder_no_more_than_what_is_compared_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write({f"s/n{number}.json": {} for number in range(6)})
    alive: list[int] = []
    read = parity_sides.read_snapshot_file

    def watched(path: Path, cache: RowCache) -> Snapshot:
        alive.append(sum(isinstance(thing, RowFacts) for thing in gc.get_objects()))
        return read(path, cache)

    monkeypatch.setattr(parity_sides, "read_snapshot_file", watched)
    before = sum(isinstance(thing, RowFacts) for thing in gc.get_objects())
    assert compare("./s").hosts == ("n1", "n2", "n3", "n4", "n5")
    assert len(alive) == 6
    assert max(alive) - before <= 2
