"""The commands themselves, struck at the actions that count; the truth is listed from the account, past gpuprov.

`up` and `destroy` meet every type of resource in test_matrix.py; here is what stands around the engine: settling,
looking, emptying, tidying, and the steps of `image build` that are calls of gpuprov's own.
"""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.matrix_cloud.struck import Site, note
from tests.e2e.striking import IN_THE_MIDDLE

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "matrix_cloud" / "verbs.yaml").read_text())
FAULTS = {fault["id"]: fault for fault in CASES["faults"]}

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.timeout(1800),
    # The fault `cut` ends a thread of the server like this.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


def cases(verb: str) -> list[Any]:
    """Fault x place of a verb; an engine is killed where it makes the call."""
    return [
        pytest.param(place, fault, id=f"{place['action']}: {fault['id']}")
        for place in CASES[verb]
        for fault in CASES["faults"]
        if not (place.get("own") and fault["kind"] == "killed")
    ]


def strike(site: Site, place: dict[str, Any], fault: dict[str, Any], *words: str) -> list[str]:
    """Strike a command, and see that it says so; what it was told."""
    done = site.struck(fault, place["action"], *words)
    told = done.summed
    wanted = place.get("codes", {}).get(fault["id"], fault["own" if place.get("own") and "own" in fault else "codes"])
    assert set(told) & set(wanted), done
    return told


def name(verb: str, place: dict[str, Any], fault: dict[str, Any]) -> str:
    """How the table calls it."""
    return f"`{verb}` at {place['action']}: {fault['id']}"


@pytest.mark.parametrize(("place", "fault"), cases("up"))
def test_up(site: Site, whole_site: Counter[str], place: dict[str, Any], fault: dict[str, Any]) -> None:
    began = time.monotonic()
    told = strike(site, place, fault, "up")
    again = site.run("up")
    assert again.status == 0, again
    orphans = sorted((site.counts() - whole_site).elements())
    missing = [*(whole_site - site.counts()).elements(), *site.strangers()]
    note(name("up", place, fault), told, orphans, missing, began)
    assert (orphans, missing) == ([], [])


@pytest.mark.parametrize(("place", "fault"), cases("destroy"))
def test_destroy_leaves_data_and_nothing_else(site: Site, place: dict[str, Any], fault: dict[str, Any]) -> None:
    assert site.run("up").status == 0
    data = {line for line in site.there() if line.startswith("bucket ")}
    data |= {f"Volumes {row['VolumeId']}" for row in _volumes(site)}
    (bucket,) = (line.partition(" ")[2] for line in data if line.startswith("bucket "))
    site.put(bucket, "raw/one", b"data")
    began = time.monotonic()
    told = strike(site, place, fault, "destroy")
    again = site.run("destroy")
    assert again.status == 0, again
    orphans, lost = sorted(site.there() - data), sorted(data - site.there())
    note(name("destroy", place, fault), told, orphans, lost, began)
    assert (orphans, lost, site.strangers()) == ([], [], [])
    assert site.get(bucket, "raw/one") == b"data"


@pytest.mark.parametrize(("place", "fault"), cases("destroy --delete-data"))
def test_destroy_with_data_leaves_nothing(site: Site, place: dict[str, Any], fault: dict[str, Any]) -> None:
    assert site.run("up").status == 0
    began = time.monotonic()
    told = strike(site, place, fault, "destroy", "datasets", "scratch")
    # What is gone already can be named no more.
    site.wait_for_the_engine()
    held = site.held()
    if held or site.there():
        again = site.run("destroy", *held)
        assert again.status == 0, again
    left = sorted(site.there())
    note(name("destroy --delete-data", place, fault), told, left, site.strangers(), began)
    assert left == []
    assert site.strangers() == []


@pytest.mark.parametrize(("place", "fault"), cases("image build"))
def test_image_build(site: Site, place: dict[str, Any], fault: dict[str, Any]) -> None:
    began = time.monotonic()
    told = strike(site, place, fault, "image")
    for verb in ("image", "prune"):
        again = site.run(verb)
        assert again.status == 0, again
    left = sorted(line.partition(" ")[0] for line in site.there())
    note(
        name("image build", place, fault), told, [kind for kind in left if kind not in {"image", "snapshot"}], [], began
    )
    assert left == ["image", "snapshot"]
    (image,) = site.client("ec2").describe_images(Owners=["self"])["Images"]
    assert {"Key": "gpuprov:checked", "Value": "true"} in image["Tags"]


def _volumes(site: Site) -> list[dict[str, Any]]:
    """The volumes of the spec, without the instance's own."""
    asked = [{"Name": "tag:gpuprov:id", "Values": ["train/volume/*"]}]
    found: list[dict[str, Any]] = site.client("ec2").describe_volumes(Filters=asked)["Volumes"]
    return found


assert {fault["kind"] for fault in CASES["faults"]} >= IN_THE_MIDDLE
