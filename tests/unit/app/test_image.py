"""`image list` and `image prune` over an account in memory."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from ground_builders import BASE, FakeAccount, cloud_lock, make_site

from gpuprov.app import image as module
from gpuprov.app.components import catalog_components
from gpuprov.app.image import Pruned, list_images, prune_images
from gpuprov.app.site import open_site
from gpuprov.catalog.load import PACKAGED
from gpuprov.cloud.decide.baked import baked_digest
from gpuprov.cloud.images import ImageStatus
from gpuprov.cloud.images_text import load_images, save_images
from gpuprov.cloud.types import Image
from gpuprov.lock.text import write_lock
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import ignore_progress
from gpuprov.want.pool import pool_want

ONE = Image(
    id="ami-1",
    name="site-train-1",
    pool="train",
    os="debian-12",
    arch="amd64",
    region="us-east-1",
    baked="d",
    base="ami-0",
    made="2026-11-01T00:00:00Z",
    snapshots=("snap-1",),
    checked=True,
)
TWO = replace(ONE, id="ami-2", made="2026-11-02T00:00:00Z")
THREE = replace(ONE, id="ami-3", made="2026-11-03T00:00:00Z", checked=False)
FAR = replace(ONE, id="ami-far", region="eu-west-1")


class ImageAccount(FakeAccount):
    """An account with images."""

    def __init__(self) -> None:
        super().__init__()
        self.region = "us-east-1"
        self.baked = (ONE, TWO, THREE)
        self.used: frozenset[str] = frozenset()
        self.orphans: tuple[str, ...] = ()
        self.fail_at = ""

    def images_in_use(self, spec_name: str) -> frozenset[str]:
        assert spec_name == "site"
        return self.used

    def remove_image(self, image_id: str) -> None:
        if image_id == self.fail_at:
            raise GpuprovError(Diagnostic(code="GP-CLOUD-007", address=image_id, summary="denied"))
        self.baked = tuple(image for image in self.baked if image.id != image_id)

    def orphan_snapshots(self, spec_name: str, *, settled: str) -> tuple[str, ...]:
        assert spec_name == "site"
        assert settled < time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return self.orphans

    def remove_snapshot(self, snapshot: str) -> None:
        self.orphans = tuple(orphan for orphan in self.orphans if orphan != snapshot)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> ImageAccount:
    """The account that is opened."""
    found = ImageAccount()
    monkeypatch.setattr(module, "open_account", lambda *_: found)
    return found


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A spec with a list of images that lacks the one that was never checked."""
    path = make_site(tmp_path).path
    save_images(path, [ONE, TWO, FAR])
    return path


def prune(spec: Path, keep: int, *, answer: bool = True) -> tuple[Pruned, list[str]]:
    asked: list[str] = []

    def ask(going: Sequence[Image], orphans: Sequence[str], kept: Sequence[ImageStatus]) -> bool:
        asked.extend([f"-{image.id}" for image in going] + [f"-{orphan}" for orphan in orphans])
        asked.extend(f"={row.image.id}" for row in kept)
        return answer

    return prune_images(spec, keep=keep, ask=ask, report=ignore_progress), asked


def ids(images: Sequence[Image]) -> list[str]:
    return [image.id for image in images]


def test_list_and_account_side_by_side(account: ImageAccount, spec: Path) -> None:
    account.used = frozenset({"ami-1"})
    account.baked = (ONE, THREE)
    rows = list_images(spec, ignore_progress).rows
    assert [(row.image.id, row.in_list, row.in_account, row.used) for row in rows] == [
        ("ami-1", True, True, True),
        ("ami-2", True, False, False),
        ("ami-3", False, True, False),
    ]


def test_older_and_unchecked_images_go_and_the_list_follows(account: ImageAccount, spec: Path) -> None:
    pruned, asked = prune(spec, 1)
    assert asked == ["-ami-1", "-ami-3", "=ami-2"]
    assert ids(pruned.removed) == ["ami-1", "ami-3"]
    assert ids(account.baked) == ["ami-2"]
    assert ids(load_images(spec)) == ["ami-far", "ami-2"]


def test_an_image_in_use_stays_whatever_is_kept(account: ImageAccount, spec: Path) -> None:
    account.used = frozenset({"ami-1"})
    pruned, _ = prune(spec, 0)
    assert ids(pruned.removed) == ["ami-2", "ami-3"]
    assert [row.image.id for row in pruned.kept] == ["ami-1"]


def test_nothing_is_removed_without_a_yes(account: ImageAccount, spec: Path) -> None:
    pruned, _ = prune(spec, 0, answer=False)
    assert pruned.removed == ()
    assert [d.code for d in pruned.diagnostics] == ["GP-RUN-005"]
    assert len(account.baked) == 3


def test_nobody_is_asked_when_nothing_would_go(account: ImageAccount, spec: Path) -> None:
    account.baked = (TWO,)
    pruned, asked = prune(spec, 1)
    assert (asked, pruned.snapshots) == ([], ())
    # What somebody else removed from the account goes out of the list.
    assert ids(load_images(spec)) == ["ami-far", "ami-2"]


@pytest.mark.parametrize("answer", [True, False])
def test_a_snapshot_without_an_image_is_shown_before_it_goes(
    account: ImageAccount, spec: Path, *, answer: bool
) -> None:
    account.baked = (TWO,)
    account.orphans = ("snap-9",)
    pruned, asked = prune(spec, 1, answer=answer)
    assert asked == ["-snap-9", "=ami-2"]
    assert (pruned.snapshots, account.orphans) == ((("snap-9",), ()) if answer else ((), ("snap-9",)))


def test_what_was_removed_before_an_error_is_out_of_the_list(account: ImageAccount, spec: Path) -> None:
    account.fail_at = "ami-2"
    with pytest.raises(GpuprovError):
        prune(spec, 0)
    assert ids(load_images(spec)) == ["ami-far", "ami-2"]


@pytest.fixture
def locked(spec: Path) -> str:
    """The spec has a lock; returns the digest of what an image must hold now."""
    site, lock = open_site(spec), cloud_lock()
    site.lock_path.write_text(write_lock(lock))
    want = pool_want(lock, site.spec, site.spec.pools["train"], "cloud", components=catalog_components(PACKAGED))
    return baked_digest(want)


@pytest.mark.parametrize("exact", [True, False])
def test_the_list_says_from_which_image_new_hosts_start(
    spec: Path, account: ImageAccount, locked: str, *, exact: bool
) -> None:
    fits = replace(TWO, baked=locked if exact else "sha256:of-before", base=BASE)
    account.baked = (replace(ONE, base=BASE), fits, THREE)
    rows = list_images(spec, ignore_progress).rows
    assert [row.image.id for row in rows if row.current] == ["ami-2"]
    assert module.current_images(open_site(spec), account.baked) == ({"ami-2"} if exact else frozenset())


def test_an_image_of_before_on_another_base_starts_no_host(spec: Path, account: ImageAccount, locked: str) -> None:
    assert locked != ONE.baked
    assert not [row for row in list_images(spec, ignore_progress).rows if row.current]
    assert account.baked
