"""The closed test: given all rows of a plan by name and version, apt plans just these rows; the apt of trixie too.

It holds for every apt, where the exact test is for apt 2.x: from apt 3.1.10 on another solver is the default.
"""

import os
from pathlib import Path

import pytest
from differential import Archive, closed, difference, drawn, our_plan
from other_apt import unpack_apt

SETS = int(os.environ.get("GPUPROV_TEST_SETS", "4"))
BIG = ("docker.io", "nvidia-driver", "nvidia-cuda-toolkit", "prometheus")

pytestmark = [pytest.mark.network, pytest.mark.timeout(300 + 20 * SETS)]


def test_apt_plans_the_given_rows_and_no_other(archive: Archive) -> None:
    plans = [plan for request in (BIG, *drawn(archive.names, 7, SETS)) if (plan := our_plan(archive.index, request))]
    found = [text for plan in plans if (text := difference(plan, archive.apt.plan(closed(plan))))]
    assert len(plans) > SETS * 0.8
    assert found == []


def test_so_does_the_apt_of_trixie(archive: Archive, tmp_path: Path) -> None:
    other = unpack_apt("trixie", tmp_path / "trixie", archive.apt)
    version = other.run("--version").stdout
    assert version.startswith("apt 3."), version
    plans = [plan for request in (BIG, *drawn(archive.names, 9, SETS)) if (plan := our_plan(archive.index, request))]
    found = [text for plan in plans if (text := difference(plan, other.simulate("install", *closed(plan))))]
    assert len(plans) > SETS * 0.8
    assert found == []
    left_out = dict(list(our_plan(archive.index, BIG).items())[:-1])  # type: ignore[union-attr]
    assert difference(left_out, other.simulate("install", *closed(left_out))) != "", "the test has no teeth"
