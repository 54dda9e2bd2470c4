"""Which base images a spec needs, which a new lock keeps, and what moves."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from gpuprov.lock.images import ImageNeed, image_needs, images_by_need, kept_images, need_of
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.spec.decode import load
from gpuprov.spec.types import Spec

CLOUD = yaml.safe_load((Path(__file__).parents[2] / "cases" / "spec" / "cloud.yaml").read_text())["base"]
TWELVE = ImageNeed(os="debian-12", arch="amd64", region="us-east-1")
THIRTEEN = replace(TWELVE, os="debian-13")


def spec_of(text: str) -> Spec:
    spec, wrong = load(text, "gpuprov.yaml")
    assert wrong == ()
    assert spec is not None
    return spec


def image(need: ImageNeed, number: int) -> LockedImage:
    return LockedImage(
        os=need.os, arch=need.arch, region=need.region, owner="1", name=f"{need.os}-{number}", id=f"ami-{number}"
    )


def lock_of(*images: LockedImage) -> Lock:
    return Lock(spec_inputs="", catalog_inputs={}, sources=(), pools={}, images=images, digest="")


def test_one_image_for_all_cloud_pools_of_a_system() -> None:
    more = "  b: {gpu: none, cloud: {instance: m7i.large, count: 1}}\n  c: {gpu: none, os: debian-13}\n"
    spec = spec_of(CLOUD.replace("storage:\n", f"{more}storage:\n"))
    assert image_needs(spec) == (TWELVE,)


def test_one_image_for_each_system_in_the_region_of_the_target() -> None:
    more = "  b: {gpu: none, os: debian-13, cloud: {instance: m7i.large, count: 1}}\n"
    spec = spec_of(CLOUD.replace("storage:\n", f"{more}storage:\n").replace("us-east-1", "eu-west-1"))
    assert image_needs(spec) == (replace(TWELVE, region="eu-west-1"), replace(THIRTEEN, region="eu-west-1"))


def test_no_image_without_a_cloud_target() -> None:
    spec = spec_of("apiVersion: gpuprov/v1\nname: a\nos: debian-12\npools: {c: {gpu: none, onprem: {group: c}}}\n")
    assert image_needs(spec) == ()


@pytest.mark.parametrize(
    ("upgrade", "kept"),
    [
        ([], [TWELVE, THIRTEEN]),
        (["*"], []),
        (["image"], []),
        (["debian-12"], [THIRTEEN]),
        (["nvidia-open", "debian"], [TWELVE, THIRTEEN]),
    ],
)
def test_an_id_moves_only_when_it_is_told_to(upgrade: list[str], kept: list[ImageNeed]) -> None:
    before = lock_of(image(TWELVE, 1), image(THIRTEEN, 2))
    found = kept_images(before, (TWELVE, THIRTEEN), upgrade)
    assert list(found) == kept
    assert all(need_of(found[need]) == need for need in kept)


@pytest.mark.parametrize(
    "change", [{"region": "us-east-2"}, {"arch": "arm64"}, {"os": "debian-13"}, {"origin": "id ami-0123456789abcdef0"}]
)
def test_an_image_of_another_region_architecture_or_system_is_not_kept(change: dict[str, str]) -> None:
    before = lock_of(image(TWELVE, 1))
    assert kept_images(before, (replace(TWELVE, **change),), ()) == {}


def test_nothing_is_kept_of_no_lock() -> None:
    assert kept_images(None, (TWELVE,), ()) == {}


def test_images_are_found_by_what_they_answer() -> None:
    assert images_by_need([image(TWELVE, 1), image(THIRTEEN, 2)])[THIRTEEN].id == "ami-2"


def test_what_the_spec_says_of_an_architecture_counts_more() -> None:
    bases = "{debian-12: {owner: self, name: 'a-*'}, debian-12-arm64: {parameter: /golden/arm64}}"
    more = "  b: {gpu: none, cloud: {instance: g5g.metal, count: 1}}\n"
    text = CLOUD.replace("region: us-east-1", f"region: us-east-1\n    image: {{bases: {bases}}}")
    needs = image_needs(spec_of(text.replace("storage:\n", f"{more}storage:\n")))
    assert [(need.arch, need.origin) for need in needs] == [
        ("amd64", "owner self, name a-*"),
        ("arm64", "parameter /golden/arm64"),
    ]
