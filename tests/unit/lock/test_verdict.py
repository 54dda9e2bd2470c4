"""Each reason against a lock, with both sides, and silence for a lock that is still true."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gpuprov.lock.images import ImageNeed
from gpuprov.lock.index import Index, MemoryIndex
from gpuprov.lock.pool_input import PoolInput, Request
from gpuprov.lock.types import Lock, LockedImage, LockedPool, LockedSource
from gpuprov.lock.verdict import Newer, Stale, StaleReason, judge
from gpuprov.lock.verdict_text import stale_diagnostic
from gpuprov.model.package import PackageRow

IndexOf = Callable[[Any], MemoryIndex]
ASKED = Request(name="nvidia-open", constraint="580.*", source="nvidia", address="stack.driver.version")
ROW = PackageRow(name="nvidia-open", version="580.95.05-1", arch="amd64", source="nvidia", sha256="aa")
POOL = LockedPool(
    pool="train", os="debian-12", arch="amd64", requests=(ASKED,), packages=(ROW,), bounds=(), driver="580.95.05"
)
SOURCE = LockedSource(
    name="nvidia", url="https://one.example", suite="/", components=(), fingerprints=("AA",), on_host=True
)
LOCK = Lock(spec_inputs="s1", catalog_inputs={"gpus.X": "c1"}, sources=(SOURCE,), pools={"train": POOL}, digest="d")
NOW = PoolInput(pool="train", os="debian-12", arch="amd64", requests=(ASKED,))
NEED = ImageNeed(os="debian-12", arch="amd64", region="us-east-1")
IMAGE = LockedImage(
    os="debian-12", arch="amd64", region="us-east-1", owner="136693071363", name="debian-12-amd64-1-1", id="ami-1"
)
OFFERED = [{"is": "nvidia-open 580.95.05-1", "sha256": "aa"}, {"is": "nvidia-open 590.48.01-1"}]


def _judge(index_of: IndexOf, rows: Any = OFFERED, **changes: Any) -> list[StaleReason]:
    indexes: dict[tuple[str, str], Index] = {("debian-12", "amd64"): index_of({"nvidia": rows})}
    given: dict[str, Any] = {
        "spec_inputs": "s1",
        "catalog_inputs": {"gpus.X": "c1"},
        "sources": (SOURCE,),
        "pools": (NOW,),
        "images": (),
        "indexes": indexes,
    }
    return list(judge(LOCK, **(given | changes)).reasons)


def test_a_lock_stays_fresh_when_newer_versions_appear(index_of: IndexOf) -> None:
    assert _judge(index_of) == []
    assert (
        stale_diagnostic(
            judge(
                LOCK,
                spec_inputs="s1",
                catalog_inputs={"gpus.X": "c1"},
                sources=(SOURCE,),
                pools=(NOW,),
                images=(),
                indexes=None,
            )
        )
        is None
    )


def test_newer_versions_that_are_allowed_are_told(index_of: IndexOf) -> None:
    rows = [*OFFERED, {"is": "nvidia-open 580.126.20-1"}]
    indexes: dict[tuple[str, str], Index] = {("debian-12", "amd64"): index_of({"nvidia": rows})}
    verdict = judge(
        LOCK,
        spec_inputs="s1",
        catalog_inputs={"gpus.X": "c1"},
        sources=(SOURCE,),
        pools=(NOW,),
        images=(),
        indexes=indexes,
    )
    assert verdict.fresh
    assert verdict.newer == (Newer(pool="train", name="nvidia-open", locked="580.95.05-1", offered="580.126.20-1"),)


def test_more_suites_of_the_archive_make_no_lock_stale(index_of: IndexOf) -> None:
    archive = replace(SOURCE, name="os/bookworm-backports", url="", fingerprints=(), on_host=False)
    assert _judge(index_of, sources=(SOURCE, archive)) == []
    assert [r.address for r in _judge(index_of, sources=(SOURCE, replace(archive, on_host=True)))] == [
        "sources.os/bookworm-backports"
    ]


@pytest.mark.parametrize(
    ("changes", "kind", "address", "locked", "found"),
    [
        ({"catalog_inputs": {"gpus.X": "c2"}}, Stale.CATALOG, "catalog.gpus.X", "c1", "c2"),
        ({"spec_inputs": "s2"}, Stale.SPEC, "spec", "s1", "s2"),
        ({"pools": ()}, Stale.SPEC, "pools.train", "the pool train", "no such pool"),
        ({"pools": (NOW, replace(NOW, pool="new"))}, Stale.SPEC, "pools.new", "no such pool", "the pool new"),
        ({"pools": (replace(NOW, os="debian-13"),)}, Stale.SPEC, "pools.train", "debian-12 amd64", "debian-13 amd64"),
        (
            {"spec_inputs": "s2", "pools": (replace(NOW, requests=(replace(ASKED, constraint="590.*"),)),)},
            Stale.SPEC,
            "pools.train: stack.driver.version",
            "nvidia-open 580.* from nvidia",
            "nvidia-open 590.* from nvidia",
        ),
        (
            {"sources": (replace(SOURCE, url="https://two.example"),)},
            Stale.SOURCE,
            "sources.nvidia.url",
            "https://one.example",
            "https://two.example",
        ),
        (
            {"sources": (replace(SOURCE, fingerprints=("BB",)),)},
            Stale.SOURCE,
            "sources.nvidia.fingerprints",
            "AA",
            "BB",
        ),
        ({"sources": (replace(SOURCE, priority=100),)}, Stale.SOURCE, "sources.nvidia.priority", "none", "100"),
        ({"sources": ()}, Stale.SOURCE, "sources.nvidia", "the source", "no such source"),
    ],
)
def test_a_change_of_the_inputs_is_named(
    changes: dict[str, Any], kind: Stale, address: str, locked: str, found: str, index_of: IndexOf
) -> None:
    assert _judge(index_of, **changes) == [StaleReason(kind=kind, address=address, locked=locked, found=found)]


def test_a_withdrawn_row_is_named_with_what_is_there(index_of: IndexOf) -> None:
    (reason,) = _judge(index_of, [{"is": "nvidia-open 590.48.01-1"}])
    assert (reason.kind, reason.locked, reason.found) == (
        Stale.WITHDRAWN,
        "580.95.05-1 from nvidia",
        "590.48.01-1 there",
    )


def test_a_row_with_another_content_is_named(index_of: IndexOf) -> None:
    (reason,) = _judge(index_of, [{"is": "nvidia-open 580.95.05-1", "sha256": "bb"}])
    assert reason.kind is Stale.CHANGED
    assert (reason.locked, reason.found) == ("580.95.05-1 with sha256 aa", "580.95.05-1 with sha256 bb")


def test_the_diagnostic_tells_every_reason(index_of: IndexOf) -> None:
    indexes = {("debian-12", "amd64"): index_of({"nvidia": [{"is": "nvidia-open 590.48.01-1"}]})}
    verdict = judge(
        LOCK,
        spec_inputs="s2",
        catalog_inputs={"gpus.X": "c2"},
        sources=(SOURCE,),
        pools=(NOW,),
        images=(),
        indexes=indexes,
    )
    found = stale_diagnostic(verdict)
    assert found is not None
    assert found.code == "GP-LOCK-004"
    assert found.summary == "the lock is stale: the spec changed; the catalog changed; a package was withdrawn"
    assert len(found.detail.splitlines()) == 3


@pytest.mark.parametrize(
    ("images", "needs", "sides"),
    [
        ((), (), []),
        ((IMAGE,), (NEED,), []),
        ((), (NEED,), [("no such base image", "a cloud pool that asks for debian-12 amd64 in us-east-1")]),
        ((IMAGE,), (), [("ami-1 for debian-12 amd64 in us-east-1", "no cloud pool that asks for it")]),
        (
            (IMAGE,),
            (replace(NEED, region="us-east-2"),),
            [
                ("ami-1 for debian-12 amd64 in us-east-1", "no cloud pool that asks for it"),
                ("no such base image", "a cloud pool that asks for debian-12 amd64 in us-east-2"),
            ],
        ),
        (
            (IMAGE,),
            (NEED, replace(NEED, os="debian-13")),
            [("no such base image", "a cloud pool that asks for debian-13 amd64 in us-east-1")],
        ),
    ],
)
def test_base_images_are_judged_by_the_needs_of_cloud_pools(
    images: tuple[LockedImage, ...], needs: tuple[ImageNeed, ...], sides: list[tuple[str, str]]
) -> None:
    verdict = judge(
        replace(LOCK, images=images),
        spec_inputs="s1",
        catalog_inputs={"gpus.X": "c1"},
        sources=(SOURCE,),
        pools=(NOW,),
        images=needs,
        indexes=None,
    )
    assert [(r.locked, r.found) for r in verdict.reasons] == sides
    assert {r.kind for r in verdict.reasons} <= {Stale.SPEC}
