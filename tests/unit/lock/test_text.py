"""A lock survives being written, and an edited one is refused."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.document.envelope import seal
from gpuprov.lock.pool_input import Request
from gpuprov.lock.text import KIND, lock_digest, read_lock, write_lock
from gpuprov.lock.types import Lock, LockedImage, LockedPool, LockedSource
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.package import Bound, PackageRow

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
VERSION = st.sampled_from(["580.95.05-1", "1:2~rc1", "20.10+dfsg1-1"])
CONSTRAINT = st.sampled_from(["", "580.*", ">=570,<590", "1:2-3"])
ROWS = st.lists(
    st.builds(
        PackageRow, name=TEXT, version=VERSION, arch=TEXT, source=TEXT, sha256=TEXT, size=st.integers(0), filename=TEXT
    ),
    max_size=3,
).map(lambda rows: tuple(sorted(rows)))
REQUESTS = st.lists(st.builds(Request, name=TEXT, constraint=CONSTRAINT, source=TEXT, address=TEXT), max_size=2)
BOUNDS = st.lists(st.builds(Bound, name=TEXT, relation=TEXT, version=TEXT, needed_by=TEXT), max_size=2)
POOL = st.builds(
    LockedPool,
    pool=TEXT,
    os=TEXT,
    arch=TEXT,
    requests=REQUESTS.map(lambda found: tuple(sorted(found))),
    packages=ROWS,
    bounds=BOUNDS.map(lambda found: tuple(sorted(found))),
    driver=TEXT,
)
SOURCE = st.builds(
    LockedSource,
    name=TEXT,
    url=TEXT,
    suite=TEXT,
    components=st.just(("main",)),
    fingerprints=st.just(("AA", "BB")),
    on_host=st.booleans(),
    key_text=TEXT,
    keyring=TEXT,
)
PREFERRED = SOURCE.map(lambda source: replace(source, priority=100, selector="o=Site"))
IMAGE = st.builds(LockedImage, os=TEXT, arch=TEXT, region=TEXT, owner=TEXT, name=TEXT, id=TEXT)
LOCK = st.builds(
    lambda sources, pools, images: Lock(
        spec_inputs="sha256:1",
        catalog_inputs={"gpus.X": "2"},
        sources=tuple(sorted(sources, key=lambda s: s.name)),
        pools={pool.pool: pool for pool in pools},
        images=tuple(sorted(images)),
        digest="",
    ),
    st.lists(SOURCE | PREFERRED, max_size=2, unique_by=lambda s: s.name),
    st.lists(POOL, max_size=2, unique_by=lambda p: p.pool),
    st.lists(IMAGE, max_size=2),
)


@given(lock=LOCK)
def test_law_what_is_written_is_read(lock: Lock) -> None:
    read = read_lock(write_lock(lock), "gpuprov.lock")
    assert read == replace(lock, digest=lock_digest(lock))


def _lock(version: str) -> Lock:
    row = PackageRow(name="nvidia-open", version=version, arch="amd64", source="nvidia", sha256="aa")
    pool = LockedPool(
        pool="train", os="debian-12", arch="amd64", requests=(), packages=(row,), bounds=(), driver="440.33.01"
    )
    return Lock(spec_inputs="a", catalog_inputs={"gpus.X": "b"}, sources=(), pools={"train": pool}, digest="")


@pytest.mark.parametrize(
    ("place", "value", "address"),
    [
        (("packages", 0, "version"), "1_0", "pools.train.packages[0].version"),
        (("requests", 0, "constraint"), "latest", "pools.train.requests[0].constraint"),
        (("packages", 0, "size"), "1", "pools.train.packages[0].size"),
    ],
)
def test_a_value_that_means_nothing_is_refused_with_its_place(place: tuple[Any, ...], value: str, address: str) -> None:
    pool = _lock("1").pools["train"]
    asked = Request(name="nvidia-open", constraint="580.*", source="", address="stack.driver.version")
    lock = replace(_lock("1"), pools={"train": replace(pool, requests=(asked,))})
    body = json.loads(write_lock(lock))["body"]
    table, number, leaf = place
    body["pools"]["train"][table][number][leaf] = value
    with pytest.raises(GpuprovError) as caught:
        read_lock(seal(KIND, body), "gpuprov.lock")
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-DOC-008", address)]


def test_versions_keep_their_text() -> None:
    text = write_lock(_lock("440.33.01-1"))
    assert '"440.33.01-1"' in text
    assert read_lock(text, "f").pools["train"].driver == "440.33.01"


def test_a_row_is_one_line() -> None:
    lines = [line for line in write_lock(_lock("440.33.01-1")).splitlines() if "440.33.01-1" in line]
    assert len(lines) == 1
    assert json.loads(lines[0])["name"] == "nvidia-open"


def test_an_edited_lock_is_refused() -> None:
    with pytest.raises(GpuprovError) as caught:
        read_lock(write_lock(_lock("440.33.01-1")).replace("440.33.01-1", "440.33.02-1"), "gpuprov.lock")
    assert [d.code for d in caught.value.diagnostics] == ["GP-DOC-006"]


def test_a_base_image_is_part_of_the_digest_and_a_lock_without_one_has_no_word_of_it() -> None:
    lock = _lock("440.33.01-1")
    image = LockedImage(os="debian-12", arch="amd64", region="us-east-1", owner="1", name="n", id="ami-1")
    digests = {lock_digest(replace(lock, images=images)) for images in ((), (image,), (replace(image, id="ami-2"),))}
    assert len(digests) == 3
    assert "images" not in write_lock(lock)
    (line,) = [line for line in write_lock(replace(lock, images=(image,))).splitlines() if "ami-1" in line]
    assert json.loads(line)["region"] == "us-east-1"


def test_a_lock_of_before_there_were_images_is_read() -> None:
    assert read_lock(write_lock(_lock("440.33.01-1")), "f").images == ()


def test_where_a_base_image_comes_from_is_kept_and_of_the_vendors_own_there_is_no_word() -> None:
    image = LockedImage(os="debian-12", arch="amd64", region="us-east-1", owner="1", name="n", id="ami-1")
    own = replace(image, origin="owner self, name golden-*")
    text = write_lock(replace(_lock("440.33.01-1"), images=(own,)))
    assert read_lock(text, "f").images == (own,)
    assert "origin" not in write_lock(replace(_lock("440.33.01-1"), images=(image,)))
