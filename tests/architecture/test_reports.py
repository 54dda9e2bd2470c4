"""Every public report is a test: its id stands in a case or in a test, and not in a comment alone."""

import re
from pathlib import Path

import pytest
import yaml

TESTS = Path(__file__).parents[1]
INDEX = TESTS / "cases" / "reports" / "index.yaml"
BOOK = yaml.safe_load(INDEX.read_text(encoding="utf-8"))
ID = re.compile(r"(?<!NVIDIA )\bA\d\d\b(?!-)")
"""Some GPUs are called as some reports are: `NVIDIA A10`, `A10-24GB`."""
MERE = re.compile(r'\s*(#|"A\d\d",?$)')
ELSEWHERE = re.compile(r"^elsewhere:.*", re.MULTILINE | re.DOTALL)
"""Ids that a file of cases says are tested in another one."""


def named(text: str) -> set[str]:
    """The ids in a file, without those of comments and of mere lists."""
    lines = [line for line in ELSEWHERE.sub("", text).splitlines() if not MERE.match(line)]
    return {found for line in lines for found in ID.findall(line)}


@pytest.fixture(scope="module")
def in_tests() -> dict[str, set[str]]:
    """Id -> the files that name it."""
    found: dict[str, set[str]] = {}
    for path in TESTS.rglob("*"):
        if path.suffix in {".py", ".yaml"} and path not in {INDEX, Path(__file__)}:
            for one in named(path.read_text(encoding="utf-8")):
                found.setdefault(one, set()).add(str(path.relative_to(TESTS)))
    return found


@pytest.mark.parametrize("report", BOOK["reports"])
def test_a_report_has_a_test(report: str, in_tests: dict[str, set[str]]) -> None:
    assert in_tests.get(report), f"no case and no test names {report} ({BOOK['reports'][report]['name']})"


def test_what_waits_is_a_report_and_says_why() -> None:
    assert set(BOOK["waits"]) <= set(BOOK["reports"])
    assert all(len(why) > len("part: why") for why in BOOK["waits"].values())


def test_no_case_has_the_id_of_a_report_that_there_is_none_of(in_tests: dict[str, set[str]]) -> None:
    assert {one: files for one, files in in_tests.items() if one not in BOOK["reports"]} == {}
