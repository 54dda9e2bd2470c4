"""`gpuprov validate -f FILE --json` on every fixture: status, code and position as written there."""

import json
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.cli.main import main

CASES = Path(__file__).parents[2] / "cases"
REFUSED = yaml.safe_load((CASES / "spec" / "refused.yaml").read_text())
CLOUD = yaml.safe_load((CASES / "spec" / "cloud.yaml").read_text())
LOADED = yaml.safe_load((CASES / "spec" / "loaded.yaml").read_text())
YAML = yaml.safe_load((CASES / "document" / "yaml.yaml").read_text())
REFUSALS = [(REFUSED["base"], case) for case in REFUSED["cases"]] + [(CLOUD["base"], case) for case in CLOUD["refused"]]
LOADS = [(REFUSED["base"], case) for case in LOADED["cases"]] + [(CLOUD["base"], case) for case in CLOUD["loaded"]]
KEYS = ["code", "severity", "address", "file", "line", "column", "summary", "detail", "hint", "source"]


def name_of(value: Any) -> str:
    return str(value["id"]) if isinstance(value, dict) else ""


def text_of(case: dict[str, Any], base: str) -> str:
    text: str = case.get("text", base)
    for old, new in case.get("change", {}).items():
        text = text.replace(old, new)
    return text


class Ran:
    """What one run of `validate` gave."""

    def __init__(self, data: bytes, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.file = folder / "gpuprov.yaml"
        self.file.write_bytes(data)
        with chdir(folder):  # where a fault's report would be
            self.status = main(["validate", "-f", str(self.file), "--json"])
        shown = capsys.readouterr()
        self.screen = shown.err
        self.found: list[dict[str, Any]] = json.loads(shown.out)["diagnostics"]
        assert list(folder.iterdir()) == [self.file]


@pytest.mark.parametrize(("base", "case"), REFUSALS, ids=name_of)
def test_refused(base: str, case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(text_of(case, base).encode(), tmp_path, capsys)
    assert ran.status == case["status"]
    assert [[d["code"], d["address"], d["line"], d["column"]] for d in ran.found] == [row[:4] for row in case["found"]]
    for found in ran.found:
        assert list(found) == KEYS
        assert (found["severity"], found["file"]) == ("error", str(ran.file))
        assert f"error[{found['code']}]" in ran.screen
        assert f"--> {ran.file}:{found['line']}:{found['column']}" in ran.screen


@pytest.mark.parametrize("case", YAML["refused"], ids=name_of)
def test_a_text_that_is_no_document(case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(case["text"].encode(), tmp_path, capsys)
    assert ran.status == 2
    found = [[d["code"], d["line"], d["column"]] for d in ran.found if d["code"].startswith("GP-DOC")]
    assert found == case["found"]


@pytest.mark.parametrize("case", YAML["bytes"], ids=name_of)
def test_bytes_that_are_no_text(case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(bytes.fromhex(case["hex"]) * case.get("times", 1), tmp_path, capsys)
    assert ran.status == 2
    assert [[d["code"], d["line"], d["column"]] for d in ran.found] == [case["found"]]


@pytest.mark.parametrize(("base", "case"), LOADS, ids=name_of)
def test_loaded(base: str, case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the form allows, only the rules may refuse or not know."""
    ran = Ran(text_of(case, base).encode(), tmp_path, capsys)
    assert ran.status in {0, 5, 10}
    assert {d["code"].rpartition("-")[0] for d in ran.found} <= {"GP-RULE", "GP-CAT", "GP-CLOUD"}


PARTS = """\
apiVersion: gpuprov/v1
name: t
os: debian-12
stack: {driver: {version: "580.*", modules: proprietary}, fabric: none}
pools:
  good: {gpu: {model: B200, per_host: 8}}
  bad: {gpu: {model: B200, per_host: 0}}
"""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("name: t", "name: t", [("GP-SPEC-005", 7), ("GP-RULE-003", 4)]),
        ("name: t", "name: t\nnam: x", [("GP-SPEC-001", 3), ("GP-SPEC-005", 8), ("GP-RULE-003", 5)]),
        # Whatever a pool may depend on is broken here, so that a rule could speak of what nobody wrote.
        ("580.*", "latest", [("GP-SPEC-005", 4), ("GP-SPEC-005", 7)]),
        ("os: debian-12", "os: &o debian-12", [("GP-DOC-003", 3), ("GP-SPEC-005", 7)]),
        ("per_host: 0", "per_host: *n", [("GP-DOC-003", 7), ("GP-RULE-003", 4)]),
        ("{gpu: {model: B200, per_host: 8}}", "{gpu: none, os: x}", [("GP-SPEC-007", 6), ("GP-SPEC-005", 7)]),
    ],
)
def test_one_run_tells_errors_of_form_and_of_rules(
    old: str, new: str, found: list[tuple[str, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Ran(PARTS.replace(old, new).encode(), tmp_path, capsys)
    assert [(d["code"], d["line"]) for d in ran.found if d["severity"] == "error"] == found


def test_origins_for_people_and_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "gpuprov.yaml"
    spec.write_text(REFUSED["base"].replace("onprem: {group: train}", 'stack: {dcgm: "4.*"}'))
    assert main(["validate", "-f", str(spec), "--show-origin"]) == 0
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in capsys.readouterr().out.splitlines()}
    assert lines["stack.cuda"] == f'"13.0" {spec}:6:9'
    assert lines["pools.train.stack.cuda"] == f'"13.0" {spec}:6:9, inherited from stack.cuda'
    assert lines["pools.train.stack.dcgm"] == f'"4.*" {spec}:12:19, in place of stack.dcgm'
    assert lines["stack.fabric"] == '"auto" default'
    assert main(["validate", "-f", str(spec), "--show-origin", "--json"]) == 0
    rows = {row["address"]: row for row in json.loads(capsys.readouterr().out)["origins"]}
    assert rows["pools.train.stack.dcgm"] == {
        "address": "pools.train.stack.dcgm", "value": "4.*", "layer": "override",
        "file": str(spec), "line": 12, "column": 19, "above": "stack.dcgm",
    }  # fmt: skip


def test_a_spec_that_is_not_sound_has_no_origins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "gpuprov.yaml"
    spec.write_text("apiVersion: gpuprov/v1\n")
    assert main(["validate", "-f", str(spec), "--show-origin", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["origins"] == []
