"""`gpuprov catalog`: what it prints, and its statuses."""

import json
from pathlib import Path

import pytest

from gpuprov.cli.main import main

OWN = """
sources: {card: {title: our data sheet, url: "https://example.org", as_of: "2026-10"}}
rows: [{id: T4, min_driver: "418.40.04", sources: [card]}]
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    (tmp_path / "gpus.yaml").write_text(OWN)
    return tmp_path


def test_all_tables_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "show"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("gpus ") and "GPUs" in line for line in lines)
    assert len(lines) > 15


def test_a_table_is_listed_with_what_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "show", "branches"]) == 0
    shown = capsys.readouterr().out
    assert "580" in shown
    assert "2028-06" in shown
    assert "?: no source that was seen says it" in shown


def test_a_row_is_shown_with_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "show", "gpu", "T4"]) == 0
    shown = capsys.readouterr().out
    assert "min_driver" in shown
    assert "unknown: no source that was seen says it" in shown
    assert "pciutils/pciids pci.ids, 2026-08-22" in shown
    assert main(["catalog", "show", "gpu", "T4", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["id"], row["min_driver"]) == ("T4", None)
    assert "min_driver" in row["unverified"]
    assert all(set(source) == {"id", "title", "url", "as_of"} for source in row["sources"])


def test_own_rows_count_and_are_told(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "show", "gpu", "T4", "--rows", str(rows)]) == 0
    shown = capsys.readouterr()
    assert "418.40.04" in shown.out
    assert "own/card: our data sheet, 2026-10" in shown.out
    assert "note[GP-CAT-003]" in shown.err
    assert main(["catalog", "show", "gpus", "--rows", str(rows)]) == 0
    assert "(your own)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (["show", "gpsu"], 6, "did you mean gpus?"),
        (["show", "gpus", "T5"], 6, "did you mean"),
        (["show", "--rows", "nowhere"], 2, "there is no folder nowhere"),
    ],
)
def test_statuses(arguments: list[str], status: int, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", *arguments]) == status
    assert word in capsys.readouterr().err


def test_a_sound_catalog_is_verified(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "verify"]) == 0
    assert capsys.readouterr().out.startswith("sound: ")
    assert main(["catalog", "verify", "--rows", str(rows)]) == 0
    assert "1 of them your own" in capsys.readouterr().out


def test_rows_that_do_not_fit_are_refused(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rows / "gpus.yaml").write_text(OWN.replace("min_driver", "architecture"))
    assert main(["catalog", "verify", "--rows", str(rows), "--json"]) == 2
    body = json.loads(capsys.readouterr().out)
    assert body["status"] == 2
    assert [d["code"] for d in body["diagnostics"]] == ["GP-CAT-001"]
    assert "418.40.04" in body["diagnostics"][0]["summary"]
