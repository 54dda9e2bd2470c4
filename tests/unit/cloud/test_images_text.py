from dataclasses import replace
from pathlib import Path

import pytest

from gpuprov.cloud.images_text import IMAGES_NAME, load_images, read_images, save_images, write_images
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import GpuprovError

ONE = Image(
    id="ami-1",
    name="train-train-1",
    pool="train",
    os="debian-12",
    arch="amd64",
    region="us-east-1",
    baked="sha256:ab",
    base="ami-0",
    made="2026-11-30T06:12:00Z",
    snapshots=("snap-1", "snap-2"),
    checked=True,
)
TWO = replace(ONE, id="ami-2", made="2026-11-30T07:00:00Z", snapshots=(), checked=False)


def test_images_come_back_oldest_first() -> None:
    assert read_images(write_images([TWO, ONE]), "x") == (ONE, TWO)


def test_the_list_lies_beside_the_spec_and_may_be_missing(tmp_path: Path) -> None:
    spec = tmp_path / "gpuprov.yaml"
    assert load_images(spec) == ()
    assert save_images(spec, [ONE]) == tmp_path / IMAGES_NAME
    assert load_images(spec) == (ONE,)


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("ami-1", "ami-9", "GP-DOC-006"),
        ("gpuprov/v1", "gpuprov/v9", "GP-DOC-005"),
        ('"Images"', '"Lock"', "GP-DOC-004"),
        ("{", "", "GP-DOC-002"),
    ],
)
def test_a_list_that_somebody_changed(tmp_path: Path, before: str, after: str, code: str) -> None:
    path = save_images(tmp_path / "gpuprov.yaml", [ONE])
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(GpuprovError) as caught:
        load_images(tmp_path / "gpuprov.yaml")
    assert caught.value.diagnostics[0].code == code
