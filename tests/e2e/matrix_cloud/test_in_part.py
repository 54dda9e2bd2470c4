"""What was made in part, or is being made by another run: the next run makes it good, with nothing twice."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.lab.aws.faults import Fault
from tests.e2e.matrix_cloud.struck import SLOW, Site, ended, in_flight, note

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "matrix_cloud" / "troubles.yaml").read_text())

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("case", CASES["in_part"], ids=lambda case: f"{case['verb']}: {case['id']}")
def test_what_was_made_in_part_is_made_good_by_the_next_run(
    case: dict[str, Any], site: Site, whole_site: Counter[str]
) -> None:
    began = time.monotonic()
    for old, new in case.get("edit", []):
        site.edit(old, new)
    number = site.cloud.account.book.add(Fault(**case["fault"]))
    done = site.run(case["verb"])
    site.cloud.account.book.remove(number)
    assert done.errors == set(case["codes"]), done
    assert set(case.get("notes", [])) <= {code for code, _, _ in done.told}
    if case.get("makes") == "nothing":
        assert site.there() == frozenset()
    made = {line for line in site.there() if line.startswith("instance ")}
    again = site.run(case["verb"])
    assert again.status == 0, again
    expected = Counter(case["after"]) if "after" in case else whole_site
    left, lost = sorted((site.counts() - expected).elements()), sorted((expected - site.counts()).elements())
    note(f"`{case['verb']}`: {case['id']}", done.summed, left, [*lost, *site.strangers()], began)
    assert (left, lost) == ([], [])
    if case["verb"] == "up":
        assert made <= site.there(), "a host that had come up was made anew"
        assert site.strangers() == []
    for zone in case.get("zone", []):
        (instance,) = site.client("ec2").describe_instances(
            Filters=[{"Name": "instance-state-name", "Values": ["running"]}]
        )["Reservations"]
        assert instance["Instances"][0]["Placement"]["AvailabilityZone"] == zone


@pytest.mark.parametrize("second", ["up", "destroy", "image", "recover"])
def test_a_second_command_waits_for_nobody_and_changes_nothing(
    second: str, site: Site, whole_site: Counter[str]
) -> None:
    began, action = time.monotonic(), "ec2:RunInstances"
    site.cloud.account.book.add(Fault(kind="slow", action=action, seconds=2 * SLOW, times=1))
    first = site.start("up")
    while not in_flight(site.cloud, action):
        assert first.poll() is None, ended(first)
        time.sleep(0.05)
    done = site.run(second)
    assert (done.status, done.errors) == (5, {"GP-RUN-001"}), done
    assert ended(first).status == 0
    left, lost = sorted((site.counts() - whole_site).elements()), sorted((whole_site - site.counts()).elements())
    note(f"`{second}` beside `up`", done.summed, left, [*lost, *site.strangers()], began)
    assert (left, lost, site.strangers()) == ([], [], [])
