"""The runs of a host: written before anything is changed, in order, and bounded."""

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils import gpuprov_runs
from ansible.module_utils.gpuprov_record import Broken
from ansible.module_utils.gpuprov_runs import Runs


def want(digest: str, *packages: str) -> str:
    rows = [dict(zip(("name", "version", "sha256"), text.split("="), strict=False)) for text in packages]
    return json.dumps({"digest": digest, "pool": {"packages": rows}})


def begin(folder: Path, run: str, digest: str, *packages: str, complete: str = "", found: str = "") -> None:
    documents = {"want.json": want(digest, *packages), "spec.yaml": "s\n", "lock.json": "{}\n"}
    Runs(folder).begin(run, digest, documents, complete=complete, found=found)


def rows(folder: Path) -> list[tuple[Any, ...]]:
    return [(row["run"], row["number"], row["want"], row["done"], row["left"]) for row in Runs(folder).rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def test_a_run_is_done_when_the_next_one_finds_its_want_complete(folder: Path) -> None:
    begin(folder, "r1", "A", "x=1")
    assert rows(folder) == [("r1", 0, "A", False, False)]
    begin(folder, "r2", "B", "x=2", complete="A")
    assert rows(folder) == [("r1", 0, "A", True, False), ("r2", 1, "B", False, False)]
    begin(folder, "r3", "C", "x=3", complete="A")
    assert [row[3] for row in rows(folder)] == [True, False, False], "B was never complete"
    assert (folder / "r2" / "spec.yaml").read_text() == "s\n"
    assert (folder / "r2" / "want.json").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_the_same_want_once_more_is_the_same_run(folder: Path) -> None:
    begin(folder, "r1", "A")
    begin(folder, "r2", "A")
    assert [row[0] for row in rows(folder)] == ["r1"]


def test_a_run_that_was_left_is_not_gone_on_with(folder: Path) -> None:
    for run, digest, complete in (("r1", "A", ""), ("r2", "B", "A"), ("r3", "C", "B")):
        begin(folder, run, digest, complete=complete)
    Runs(folder).go_back("r1")
    assert [row[4] for row in rows(folder)] == [False, True, True]
    begin(folder, "r4", "C", complete="A")
    assert rows(folder)[-1] == ("r4", 3, "C", False, False)


@pytest.mark.parametrize(
    ("complete", "left", "kept"),
    [
        ("ABC", "", "43"),
        ("AB", "", "42"),
        ("A", "", "41"),
        ("ABC", "r3", "432"),
        ("ABC", "r1", "41"),
        ("", "", "4"),
    ],
)
def test_archives_of_the_newest_run_and_of_the_last_complete_ones_are_needed(
    folder: Path, complete: str, left: str, kept: str
) -> None:
    before = ""
    for number, digest in enumerate("ABCD", start=1):
        begin(folder, f"r{number}", digest, f"x={number}", complete=before)
        before = digest if digest in complete else before
    Runs(folder).go_back(left)
    assert Runs(folder).packages() == {("x", version) for version in kept}


def test_the_digest_of_a_package_is_that_of_its_lock(folder: Path) -> None:
    begin(folder, "r1", "A", "x=1=aaa", "y=1")
    assert Runs(folder).sha256("x", "1") == "aaa"
    assert [Runs(folder).sha256(*pair) for pair in (("x", "2"), ("y", "1"))] == ["", ""]


def test_the_host_as_it_was_found_comes_before_the_first_run(folder: Path) -> None:
    begin(folder, "r1", "A", "x=2", found=want("F", "x=1"))
    assert rows(folder) == [("as-found", 0, "F", True, False), ("r1", 1, "A", False, False)]
    assert Runs(folder).packages() == {("x", "1"), ("x", "2")}


def test_the_oldest_runs_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpuprov_runs, "KEEP", 2)
    for number in range(4):
        begin(folder, f"r{number}", str(number))
    Runs(folder).prune()
    assert [row[0] for row in rows(folder)] == ["r2", "r3"]
    assert sorted(path.name for path in folder.iterdir()) == ["r2", "r3"]


def test_a_folder_that_a_killed_run_left_without_its_row_is_no_run(folder: Path) -> None:
    (folder / "r0").mkdir(parents=True)
    (folder / "r0" / "want.json").write_text("{}")
    assert Runs(folder).rows == []


def test_a_broken_row_is_told(folder: Path) -> None:
    (folder / "r0").mkdir(parents=True)
    (folder / "r0" / "run.json").write_text("{")
    with pytest.raises(Broken, match=r"run\.json"):
        Runs(folder)
