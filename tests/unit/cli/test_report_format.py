"""`parity --format`: what can be asked for, and what stands in the reports when nothing could be compared."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from host_builders import make_snapshot

from gpuprov.cli.main import main
from gpuprov.document.snapshot_text import write_snapshot

FACTS = {"host.os": "debian-12", "gpu.count": 8, 'package["bash"].version': "5.2-1", 'package["libcuda1"].version': "1"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two snapshots, of a host with eight GPUs and one with seven, and a copy of the first."""
    monkeypatch.chdir(tmp_path)
    for name, gpus in (("a", 8), ("b", 7), ("c", 8)):
        snapshot = make_snapshot({**FACTS, "gpu.count": gpus}, host=f"node-{name}")
        Path(f"{name}.json").write_text(write_snapshot(snapshot), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("formats", "words"),
    [
        (["sarfi"], ["did you mean `sarif`", "table, json, junit"]),
        (["junit:"], ["names no file"]),
        (["junit:."], ["is a folder"]),
        (["junit:nowhere/report.xml"], ["folder `nowhere` is not there"]),
        (["junit", "markdown:-"], ["junit and markdown would both go to stdout"]),
        (["junit:x", "sarif:./x"], ["junit and sarif would both go to"]),
    ],
)
def test_what_could_not_be_written_is_refused_before_anything_is_looked_at(
    formats: list[str], words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    status = main(["parity", "./a.json", "./missing.json", *(part for f in formats for part in ("--format", f))])
    shown = capsys.readouterr()
    assert status == 2
    assert "GP-RUN-004" in shown.err
    assert [word for word in words if word not in shown.err] == [], shown.err
    assert sorted(folder.iterdir()) == before


def test_json_and_a_form_on_stdout_are_one_too_many(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parity", "./a.json", "./b.json", "--json", "--format", "markdown"]) == 2
    assert "markdown and json would both go to stdout" in capsys.readouterr().err


@pytest.mark.parametrize(("other", "status"), [("b", 7), ("c", 0)])
def test_the_table_stays_on_stdout_beside_reports_in_files(
    other: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["parity", "./a.json", f"./{other}.json"])
    alone = capsys.readouterr().out
    argv = ["parity", "./a.json", f"./{other}.json", "--format", "junit:r.xml", "--format", "sarif:r.sarif"]
    assert main(argv) == status
    assert capsys.readouterr().out == alone
    assert ("<failure" in Path("r.xml").read_text(encoding="utf-8")) is (status == 7)
    (run,) = json.loads(Path("r.sarif").read_text(encoding="utf-8"))["runs"]
    assert (len(run["results"]), run["invocations"][0]["exitCode"]) == ({7: 1, 0: 0}[status], status)


def test_json_means_the_same_by_both_names(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for argv in (["--json"], ["--format", "json"], ["--format", "json:-"]):
        assert main(["parity", "./a.json", "./b.json", *argv]) == 7
        outputs.append(json.loads(capsys.readouterr().out))
    assert outputs[0] == outputs[1] == outputs[2]
    assert [finding["address"] for finding in outputs[0]["findings"]] == ["gpu.count"]


@pytest.mark.parametrize("form", ["junit", "sarif", "markdown", "html", "github", "json"])
def test_reports_are_the_same_in_every_run(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for _ in range(2):
        assert main(["parity", "./a.json", "./b.json", "--format", form]) == 7
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


def test_an_error_stands_in_the_reports_too_with_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".git").mkdir()
    (folder / "site").mkdir()
    Path("site/gpuprov.yaml").write_text(
        "apiVersion: gpuprov/v1\nname: t\nos: debian-12\npoolz: {}\n", encoding="utf-8"
    )
    reports = ["--format", "github", "--format", "junit:r.xml", "--format", "json:r.json"]
    assert main(["parity", "-f", "site/gpuprov.yaml", *reports]) == 2
    shown = capsys.readouterr()
    annotation = r"^::error file=site/gpuprov.yaml,line=4,col=1,.*title=GP-SPEC-001::.*poolz"
    assert re.search(annotation, shown.out, re.MULTILINE)
    assert "error[GP-SPEC-001]" in shown.err
    assert "error[GP-SPEC-001] poolz" in Path("r.xml").read_text(encoding="utf-8")
    body: Any = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert "GP-SPEC-001" in [diagnostic["code"] for diagnostic in body["diagnostics"]]


def test_errors_as_json_are_written_to_stdout_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parity", "./a.json", "./missing.json", "--json", "--format", "markdown:r.md"]) == 2
    assert [d["code"] for d in json.loads(capsys.readouterr().out)["diagnostics"]] == ["GP-DOC-001"]
    assert "GP-DOC-001" in Path("r.md").read_text(encoding="utf-8")
