"""Versions against dpkg itself, and the cases that people reported."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpuprov.model.package import Family
from gpuprov.model.rpm_version import RpmVersion
from gpuprov.model.version import Constraint, DebVersion, compare, compare_driver, driver_branch, holds, upstream

CASES: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "model" / "version.yaml").read_text(encoding="utf-8")
)
REPORTS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "reports" / "version.yaml").read_text(encoding="utf-8")
)
SIGN = {"<": -1, "=": 0, ">": 1}
VERSIONS = {Family.DEB: DebVersion, Family.RPM: RpmVersion}
DPKG = shutil.which("dpkg")


@pytest.mark.parametrize(("a", "relation", "b"), CASES["compare"])
def test_packages_are_ordered_as_dpkg_orders_them(a: str, relation: str, b: str) -> None:
    assert compare(a, b) == SIGN[relation]
    assert compare(b, a) == -SIGN[relation]
    assert (DebVersion(a) == DebVersion(b)) is (relation == "=")
    assert (DebVersion(a) < DebVersion(b)) is (relation == "<")


@pytest.mark.parametrize("text", CASES["invalid"])
def test_text_that_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no Debian version"):
        DebVersion(text)


@pytest.mark.parametrize(("a", "relation", "b"), CASES["driver"])
def test_drivers_are_ordered_by_number_and_upstream_part(a: str, relation: str, b: str) -> None:
    assert compare_driver(a, b) == SIGN[relation]
    assert compare_driver(b, a) == -SIGN[relation]


@pytest.mark.parametrize("text", CASES["not_a_driver"])
def test_what_is_no_driver_version_has_no_branch(text: str) -> None:
    with pytest.raises(ValueError, match="no driver version"):
        driver_branch(text)


@pytest.mark.parametrize(("text", "expected"), CASES["upstream"].items())
def test_the_upstream_part_keeps_its_text(text: str, expected: str) -> None:
    assert upstream(text) == expected


@pytest.mark.parametrize(("text", "expected"), CASES["branch"].items())
def test_the_branch_is_read_from_the_version(text: str, expected: int) -> None:
    assert driver_branch(text) == expected


@pytest.mark.parametrize("case", CASES["constraints"], ids=lambda case: case["text"] or "any")
def test_constraints_allow_and_refuse(case: dict[str, Any]) -> None:
    constraint = Constraint.parse(case["text"])
    assert {v: constraint.allows(v) for v in case["allows"]} == dict.fromkeys(case["allows"], True)
    assert {v: constraint.allows(v) for v in case["refuses"]} == dict.fromkeys(case["refuses"], False)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("580.95.05", "580.95.05"),
        (" = 580.95.05 ", "580.95.05"),
        ("580.*", ""),
        ("580.1,>=570", ""),
        (">=5", ""),
        ("", ""),
    ],
)
def test_a_constraint_of_one_version_gives_it(text: str, version: str) -> None:
    assert Constraint.parse(text).version == version


@pytest.mark.parametrize("text", CASES["bad_constraints"])
def test_a_broken_constraint_says_what_is_expected(text: str) -> None:
    with pytest.raises(ValueError, match="expected a version"):
        Constraint.parse(text)


def test_the_relations_of_dependencies_hold_as_dpkg_says() -> None:
    assert [r for r in (">=", ">>", "=", "<<", "<=", "") if holds("2.0-1", r, "2.0-1")] == [">=", "=", "<=", ""]
    with pytest.raises(ValueError, match="no relation"):
        holds("1", "~=", "1")


@pytest.mark.parametrize("case", REPORTS, ids=lambda case: case["id"])
def test_a_report(case: dict[str, Any]) -> None:
    version = VERSIONS[Family(case["family"])]
    for a, relation, b in case["packages"]:
        first, second = version(a), version(b)
        assert (first < second, first == second, first > second) == (relation == "<", relation == "=", relation == ">")
    for a, relation, b in case.get("drivers", []):
        assert compare_driver(a, b) == SIGN[relation]
    assert [str(version(text)) for text in case.get("kept", [])] == case.get("kept", [])


PART = st.text(alphabet="0123456789abzAZ.+~", max_size=7)
VERSION = st.builds(
    lambda epoch, head, part, revision: epoch + head + part + revision,
    st.sampled_from(["", "", "0:", "1:", "12:"]),
    st.sampled_from("0129"),
    PART,
    st.one_of(st.just(""), st.text(alphabet="0123456789ab.+~", min_size=1, max_size=5).map(lambda t: "-" + t)),
)
REAL = st.sampled_from(sorted({v for row in CASES["compare"] for v in (row[0], row[2])}))


def _dpkg(a: str, relation: str, b: str) -> bool:
    assert DPKG is not None
    return subprocess.run([DPKG, "--compare-versions", a, relation, b], check=False).returncode == 0


@pytest.mark.skipif(DPKG is None, reason="no dpkg on this machine")
@settings(deadline=None)
@given(a=st.one_of(VERSION, REAL), b=st.one_of(VERSION, REAL))
def test_law_the_order_is_dpkgs(a: str, b: str) -> None:
    sign = compare(a, b)
    assert _dpkg(a, {-1: "lt", 0: "eq", 1: "gt"}[sign], b)


@pytest.mark.skipif(DPKG is None, reason="no dpkg on this machine")
@settings(deadline=None)
@given(text=st.one_of(VERSION, st.text(alphabet="0129ab:-+~._é٣", max_size=6)))
def test_law_what_is_refused_dpkg_refuses_too(text: str) -> None:
    assert DPKG is not None
    assume(not text.startswith("+"))  # dpkg's number parser takes a sign before an epoch; no policy allows one
    valid = subprocess.run([DPKG, "--validate-version", text], check=False, capture_output=True).returncode == 0
    try:
        DebVersion(text)
    except ValueError:
        assert not valid
    else:
        assert valid
