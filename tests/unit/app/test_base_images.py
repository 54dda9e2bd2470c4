"""Base images are looked up only where the lock before lacks them, or they may move."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from gpuprov.app.base_images import base_images
from gpuprov.lock.images import ImageNeed
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.model.progress import Progress
from gpuprov.spec.cloud import CloudSpec
from gpuprov.spec.decode import load
from gpuprov.spec.types import Spec

CLOUD = yaml.safe_load((Path(__file__).parents[2] / "cases" / "spec" / "cloud.yaml").read_text())["base"]
SECOND = "  b: {gpu: none, os: debian-13, cloud: {instance: m7i.large, count: 1}}\nstorage:\n"
RACK = "apiVersion: gpuprov/v1\nname: a\nos: debian-12\npools: {c: {gpu: none, onprem: {group: c}}}\n"


class Account:
    """Offers an image for each need, with a number that rises."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.asked: list[str] = []

    def find(self, cloud: CloudSpec, needs: Sequence[ImageNeed]) -> tuple[LockedImage, ...]:
        self.asked += [f"{cloud.account} {need}" for need in needs]
        return tuple(
            LockedImage(
                os=n.os, arch=n.arch, region=n.region, owner="1", name=f"{n.os}-{self.number}", id=f"ami-{self.number}"
            )
            for n in needs
        )


def spec_of(text: str) -> Spec:
    spec, wrong = load(text, "gpuprov.yaml")
    assert wrong == ()
    assert spec is not None
    return spec


def ask(
    spec: Spec, account: Account, before: tuple[LockedImage, ...] | None = None, upgrade: tuple[str, ...] = ()
) -> list[str]:
    lock = (
        None
        if before is None
        else Lock(spec_inputs="", catalog_inputs={}, sources=(), pools={}, images=before, digest="")
    )
    told: list[Progress] = []
    found = base_images(spec, lock, upgrade=frozenset(upgrade), report=told.append, find=account.find)
    assert bool(told) == bool(account.asked), "a wait that nobody is told of"
    return sorted(f"{image.os} {image.id}" for image in found)


def test_a_first_lock_asks_for_every_image() -> None:
    account = Account(1)
    assert ask(spec_of(CLOUD.replace("storage:\n", SECOND)), account) == ["debian-12 ami-1", "debian-13 ami-1"]
    assert account.asked == [
        "111122223333 debian-12 amd64 in us-east-1",
        "111122223333 debian-13 amd64 in us-east-1",
    ]


def test_a_lock_that_has_them_asks_nobody() -> None:
    spec, account = spec_of(CLOUD), Account(2)
    before = Account(1).find(spec.cloud, ask_for(spec)) if spec.cloud else ()
    assert ask(spec, account, before) == ["debian-12 ami-1"]
    assert account.asked == []


def ask_for(spec: Spec) -> list[ImageNeed]:
    return [ImageNeed(os=spec.os, arch="amd64", region=spec.cloud.region if spec.cloud else "")]


@pytest.mark.parametrize(
    ("upgrade", "found"), [(("*",), "ami-2"), (("debian-12",), "ami-2"), (("nvidia-open",), "ami-1")]
)
def test_an_upgrade_moves_it(upgrade: tuple[str, ...], found: str) -> None:
    spec, account = spec_of(CLOUD), Account(2)
    before = Account(1).find(spec.cloud, ask_for(spec)) if spec.cloud else ()
    assert ask(spec, account, before, upgrade) == [f"debian-12 {found}"]


def test_only_what_is_missing_is_asked_for() -> None:
    spec, account = spec_of(CLOUD.replace("storage:\n", SECOND)), Account(2)
    before = Account(1).find(spec.cloud, ask_for(spec)) if spec.cloud else ()
    assert ask(spec, account, before) == ["debian-12 ami-1", "debian-13 ami-2"]
    assert account.asked == ["111122223333 debian-13 amd64 in us-east-1"]


def test_another_region_has_other_images() -> None:
    spec = spec_of(CLOUD.replace("us-east-1", "eu-west-1"))
    before = Account(1).find(spec.cloud, ask_for(spec_of(CLOUD))) if spec.cloud else ()
    assert ask(spec, Account(2), before) == ["debian-12 ami-2"]


def test_a_rack_needs_no_account() -> None:
    account = Account(1)
    assert ask(spec_of(RACK), account) == []
    assert account.asked == []
