"""Two equal hosts on the lab; then one thing wrong on one of them: what parity says of it, with which status.

Rack and cloud side by side: test_cloud.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.site import Ended, LabSite
from tests.e2e.test_bad_hosts import cut_power, refuse_key, stop_sshd

pytestmark = [pytest.mark.lab, pytest.mark.network, pytest.mark.timeout(900)]
CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "parity" / "lab-matrix.yaml").read_text(encoding="utf-8"))
ACTIONS = {action.__name__: action for action in (cut_power, refuse_key, stop_sshd)}
UNKNOWN = "unknown "


@pytest.fixture(scope="module")
def pair(site: LabSite) -> Iterator[LabSite]:
    """Two hosts of a kind that needs Fabric Manager, brought up; the second can be told another time."""
    second = site.train[-1]
    faketime = "apt-get install -qq -y --no-install-recommends libfaketime >/dev/null"
    site.root(second, f"export DEBIAN_FRONTEND=noninteractive; apt-get update -qq; {faketime}")
    yield site
    site.root(second, "apt-get purge -qq -y libfaketime >/dev/null")


def compare(site: LabSite, against: str = "host") -> Ended:
    """Hold the second host against the first, or both against the lock; any status."""
    if against == "lock":
        return site.drift("-l", ",".join(site.train))
    return site.run("parity", *(f"host:{name}" for name in site.train), "--json", expect=None)


def counting(ended: Ended) -> list[tuple[str, str]]:
    """Host, and kind with address, of the findings that have a say in the status."""
    return sorted((f["host"], f"{f['kind']} {f['address']}") for f in ended.body["findings"] if f["counts"])


def lost(ended: Ended) -> list[tuple[str, str]]:
    """The hosts that were not compared, with the reason's code."""
    return [(host["host"], host["code"]) for host in ended.body["not_compared"]]


@pytest.mark.parametrize("against", ["host", "lock"])
def test_two_hosts_of_one_lock_are_equal(pair: LabSite, against: str) -> None:
    found = compare(pair, against)
    assert (found.status, counting(found), lost(found)) == (0, [], []), found.stdout
    assert found.body["facets"] > 0


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_one_thing_wrong_is_found_and_nothing_else(case: dict[str, Any], pair: LabSite) -> None:
    first, second = pair.train
    with broken(case, pair, second):
        found = compare(pair, case.get("against", "host"))
    said = counting(found)
    print("|", case["id"], "|", found.status, "|", "; ".join(text for _, text in said) or lost(found), "|")  # noqa: T201
    assert {host for host, _ in said} <= {second}, found.stdout
    assert [text for _, text in said if not text.startswith(UNKNOWN)] == sorted(case.get("findings", []))
    hidden = {text.removeprefix(UNKNOWN) for _, text in said if text.startswith(UNKNOWN)}
    by_pattern = {pattern: {a for a in hidden if fnmatchcase(a, pattern)} for pattern in case.get("unknown", [])}
    assert all(by_pattern.values()), hidden
    assert set().union(*by_pattern.values()) == hidden
    assert lost(found) == ([(second, case["lost"]["code"])] if "lost" in case else [])
    if "lost" in case:
        assert found.body["hosts"] == [first]
        assert [word for word in case["lost"]["words"] if word not in found.stdout] == []
    assert found.status == case["status"]


def test_a_difference_beside_a_host_that_is_down_is_a_difference(pair: LabSite) -> None:
    first, second = pair.train
    with cut_power(pair, second):
        pair.root(first, "systemctl stop prometheus-node-exporter")
        try:
            found = compare(pair, "lock")
        finally:
            pair.root(first, "systemctl start prometheus-node-exporter")
    assert found.status == 7
    assert {host for host, _ in counting(found)} == {first}
    assert [host for host, _ in lost(found)] == [second]


@contextmanager
def broken(case: dict[str, Any], site: LabSite, name: str) -> Iterator[None]:
    """One thing is wrong on a host while the block runs."""
    if "action" in case:
        with ACTIONS[case["action"]](site, name):
            yield
        return
    releases = site.lab.description.driver_releases
    words = {"older": releases[0], "user": site.lab.description.node(name).user}
    site.root(name, f"export DEBIAN_FRONTEND=noninteractive; {case['break'].format(**words)}")
    try:
        yield
    finally:
        site.root(name, f"export DEBIAN_FRONTEND=noninteractive; {case['heal'].format(**words)}")
