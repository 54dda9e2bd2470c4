"""`image verify`: the list against the account, and a host that is started from an image."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ground_builders import FakeAccount, make_site

from gpuprov.app import image_verify as module
from gpuprov.app.access import Access
from gpuprov.app.image_verify import Verified, VerifyRequest, verify_images
from gpuprov.app.site import Site
from gpuprov.cloud.image_facts import ImageFacts
from gpuprov.cloud.images_text import save_images
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, status_of
from gpuprov.model.progress import Report, ignore_progress
from gpuprov.model.status import ExitStatus

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


class FactAccount(FakeAccount):
    """An account with facts of images."""

    region = "us-east-1"

    def __init__(self) -> None:
        super().__init__()
        self.facts = {image.id: facts_of(image) for image in (ONE, TWO, THREE)}

    def image_facts(self, spec_name: str) -> Sequence[ImageFacts]:
        assert spec_name == "site"
        return tuple(self.facts.values())


def facts_of(image: Image) -> ImageFacts:
    snapshots = dict.fromkeys(image.snapshots, "completed")
    return ImageFacts(image=image, state="available", architecture="x86_64", public=False, snapshots=snapshots)


class Scene:
    """A site, its account, which image is current, and what was booted."""

    def __init__(self, spec: Path) -> None:
        self.spec = spec
        self.account = FactAccount()
        self.current = frozenset({"ami-2"})
        self.booted: list[str] = []
        self.fault: GpuprovError | None = None

    def verify(self, **asked: Any) -> Verified:
        request = VerifyRequest(spec=self.spec, **asked)
        return verify_images(request, report=ignore_progress, boot=self._boot)

    def _boot(self, site: Site, pool: str, image: Image, access: Access, report: Report) -> tuple[Diagnostic, ...]:
        del access, report
        assert (site.spec.name, pool) == ("site", "train")
        self.booted.append(image.id)
        if self.fault:
            raise self.fault
        return ()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Two images in the list and a third, never checked, in the account alone."""
    found = Scene(make_site(tmp_path).path)
    save_images(found.spec, [ONE, TWO])
    monkeypatch.setattr(module, "open_account", lambda *_: found.account)
    monkeypatch.setattr(module, "current_images", lambda *_: found.current)
    return found


def test_all_are_what_their_records_say_and_nothing_was_started(scene: Scene) -> None:
    verified = scene.verify()
    assert [(one.image.id, one.problems, one.current) for one in verified.images] == [
        ("ami-1", (), False),
        ("ami-2", (), True),
        ("ami-3", (), False),
    ]
    assert status_of(verified.diagnostics) is ExitStatus.DONE
    assert scene.booted == []


def test_one_that_differs_gives_status_7_and_is_named(scene: Scene) -> None:
    scene.account.facts["ami-1"] = replace(facts_of(ONE), public=True)
    del scene.account.facts["ami-2"]
    verified = scene.verify()
    assert [(d.code, d.address) for d in verified.diagnostics] == [
        ("GP-CLOUD-073", "image.train/ami-1"),
        ("GP-CLOUD-073", "image.train/ami-2"),
    ]
    assert status_of(verified.diagnostics) is ExitStatus.DIFFERENT


def test_only_one_pools(scene: Scene) -> None:
    scene.account.facts["ami-9"] = facts_of(replace(ONE, id="ami-9", pool="other"))
    assert "ami-9" not in [one.image.id for one in scene.verify(pool="train").images]
    assert "ami-9" in [one.image.id for one in scene.verify().images]


def test_boot_starts_a_host_from_the_image_that_new_hosts_start_from(scene: Scene) -> None:
    verified = scene.verify(boot=True)
    assert scene.booted == ["ami-2"]
    assert [one.image.id for one in verified.images if one.booted] == ["ami-2"]


def test_boot_without_an_image_of_this_lock_is_refused(scene: Scene) -> None:
    scene.current = frozenset()
    with pytest.raises(GpuprovError) as caught:
        scene.verify(boot=True)
    assert caught.value.diagnostics[0].code == "GP-CLOUD-018"
    assert scene.booted == []


def test_an_unknown_pool(scene: Scene) -> None:
    with pytest.raises(GpuprovError) as caught:
        scene.verify(pool="nobody")
    assert caught.value.diagnostics[0].code == "GP-SPEC-008"
