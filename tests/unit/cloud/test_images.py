from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.cloud.images import fitting, outdated, prunable, statuses
from gpuprov.cloud.types import Image, Made, MadeHost
from gpuprov.lock.types import LockedImage
from gpuprov.model.diagnostic import Severity

DATA = yaml.safe_load((Path(__file__).parents[2] / "cases" / "cloud" / "images.yaml").read_text(encoding="utf-8"))
REGION = "us-east-1"


def image(name: str) -> Image:
    id_, pool, baked, base, made, checked, *region = DATA["images"][name]
    return Image(
        id=id_,
        name=name,
        pool=pool,
        os="debian-12",
        arch="amd64",
        region=region[0] if region else REGION,
        baked=baked,
        base=base,
        made=made,
        checked=checked,
    )


def images(names: Sequence[str]) -> tuple[Image, ...]:
    return tuple(image(name) for name in names)


@pytest.mark.parametrize("case", DATA["fitting"], ids=lambda case: case["name"])
def test_new_hosts_start_from(case: dict[str, Any]) -> None:
    found = fitting(images(case["images"]), "train", case["baked"], REGION)
    assert (found.id if found else None) == case["found"]


@pytest.mark.parametrize("case", DATA["outdated"], ids=lambda case: case["name"])
def test_an_instance_is_outdated(case: dict[str, Any]) -> None:
    host = MadeHost(
        name="train-a",
        pool="train",
        instance_id="i-1",
        type="g6.xlarge",
        image=case["started"],
        zone="us-east-1a",
        private_address="10.0.0.1",
        public_address="",
    )
    base = LockedImage(
        os="debian-12", arch="amd64", region=REGION, owner="1", name="debian-12", id=case.get("base", "base-2")
    )
    baked = {"train": case.get("baked", "d1")} if case.get("baked", "d1") else {}
    notes = outdated(Made(hosts=(host,)), images(case["images"]), baked, {"train": base})
    if case["note"] is None:
        assert notes == ()
        return
    (note,) = notes
    assert (note.code, note.address, note.severity) == ("GP-CLOUD-020", "train-a", Severity.NOTE)
    text = f"{note.summary} {note.detail} {note.hint}"
    assert all(word in text for word in (case["started"], *case["note"]))


@pytest.mark.parametrize("case", DATA["prunable"], ids=lambda case: case["name"])
def test_images_that_may_go(case: dict[str, Any]) -> None:
    found = prunable(
        images(case["images"]),
        keep=case["keep"],
        used=case["used"],
        settled=case.get("settled", "2100-01-01T00:00:00Z"),
    )
    assert [one.id for one in found] == case["going"]


def test_the_list_and_the_account_side_by_side() -> None:
    found = statuses(images(["old", "new"]), images(["new", "raw"]), current={"ami-new"}, used={"ami-new"})
    assert [(s.image.id, s.in_list, s.in_account, s.current, s.used) for s in found] == [
        ("ami-old", True, False, False, False),
        ("ami-new", True, True, True, True),
        ("ami-raw", False, True, False, False),
    ]
