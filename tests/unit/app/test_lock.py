"""`lock` with a cloud target: the base image in the file, kept, moved when told to, and stale without it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from gpuprov.app import lock as app_lock
from gpuprov.app.base_images import Offer
from gpuprov.app.lock import Intent
from gpuprov.app.site import open_lock, open_site
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.lock.images import ImageNeed
from gpuprov.lock.index import MemoryIndex
from gpuprov.lock.types import LockedImage
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, status_of
from gpuprov.model.progress import ignore_progress
from gpuprov.model.status import ExitStatus
from gpuprov.spec.cloud import CloudSpec

REPORTS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "reports" / "lock_images.yaml").read_text(encoding="utf-8")
)
RACK = "apiVersion: gpuprov/v1\nname: a\nos: debian-12\npools:\n  login: {gpu: none, onprem: {group: login}}\n"
CLOUD = """\
apiVersion: gpuprov/v1
name: a
os: debian-12
pools:
  login: {gpu: none, onprem: {group: login}, cloud: {instance: m7i.large, hosts: [login-a]}}
targets:
  cloud:
    account: "111122223333"
    region: us-east-1
    network: {cidr: 10.20.0.0/16, ranges: {office: [203.0.113.0/24]}, ssh_from: [office]}
"""


class NoPackages(MemoryIndex):
    """An index without a package or a source, which can be closed."""

    selectors: ClassVar[dict[str, str]] = {}

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(autouse=True)
def no_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """The specs here lock no package, so no source is opened."""
    indexes = {("debian-12", "amd64"): NoPackages.of([])}
    monkeypatch.setattr(app_lock, "_open", lambda _site, _report: ((), indexes))


def offer(number: int) -> app_lock.FindImages:
    def find(_cloud: CloudSpec, needs: Sequence[ImageNeed]) -> tuple[LockedImage, ...]:
        return tuple(
            LockedImage(
                os=n.os,
                arch=n.arch,
                region=n.region,
                owner="1",
                name=f"n-{number}",
                id=f"ami-{number}",
                origin=n.origin,
            )
            for n in needs
        )

    return find


def make(path: Path, number: int, *upgrade: str, intent: Intent = Intent.WRITE) -> app_lock.Locked:
    return app_lock.make(
        path, upgrade=frozenset(upgrade), intent=intent, report=ignore_progress, find_images=offer(number)
    )


def check(path: Path, *, there: bool = True, newest: int | None = None) -> app_lock.Check:
    """`lock --check` of an account that has the locked images, and newer ones, or not."""

    def ask(_cloud: CloudSpec, images: Sequence[LockedImage]) -> tuple[Offer, ...]:
        return tuple(Offer(there=there, newest=_numbered(image, newest)) for image in images)

    return app_lock.check(path, ignore_progress, ask_images=ask)


def _numbered(image: LockedImage, number: int | None) -> LockedImage | None:
    return replace(image, id=f"ami-{number}", name=f"n-{number}") if number is not None else None


def site(folder: Path, text: str) -> Path:
    path = folder / "gpuprov.yaml"
    path.write_text(text)
    return path


def locked_ids(path: Path) -> list[str]:
    return [image.id for image in open_lock(open_site(path))[0].images]


def test_the_base_image_is_in_the_file_and_stays(tmp_path: Path) -> None:
    path = site(tmp_path, CLOUD)
    first = make(path, 1)
    assert first.written
    assert [(m.name, m.before, m.after) for m in first.moves] == [("base image debian-12 amd64", "", "ami-1 (n-1)")]
    assert locked_ids(path) == ["ami-1"]
    again = make(path, 2)
    assert not again.written
    assert again.moves == ()
    assert check(path).verdict.fresh


def test_only_an_upgrade_moves_it(tmp_path: Path) -> None:
    path = site(tmp_path, CLOUD)
    make(path, 1)
    shown = make(path, 2, "*", intent=Intent.DRY_RUN)
    assert [(m.before, m.after) for m in shown.moves] == [("ami-1 (n-1)", "ami-2 (n-2)")]
    assert locked_ids(path) == ["ami-1"]
    make(path, 2, "*")
    assert locked_ids(path) == ["ami-2"]


def test_a_lock_of_before_the_cloud_target_is_stale(tmp_path: Path) -> None:
    make(site(tmp_path, RACK), 1)
    path = site(tmp_path, CLOUD)
    with pytest.raises(GpuprovError) as caught:
        refuse_stale_lock(open_site(path), open_lock(open_site(path))[0])
    (found,) = caught.value.diagnostics
    assert found.code == "GP-LOCK-004"
    assert "a cloud pool that asks for debian-12 amd64 in us-east-1" in found.detail
    assert not check(path).verdict.fresh
    make(path, 1)
    refuse_stale_lock(open_site(path), open_lock(open_site(path))[0])


def test_another_region_makes_it_stale(tmp_path: Path) -> None:
    make(site(tmp_path, CLOUD), 1)
    path = site(tmp_path, CLOUD.replace("us-east-1", "us-east-2"))
    assert [r.address for r in check(path).verdict.reasons] == ["images.debian-12"] * 2


def test_more_hosts_and_another_instance_type_do_not(tmp_path: Path) -> None:
    make(site(tmp_path, CLOUD), 1)
    path = site(tmp_path, CLOUD.replace("instance: m7i.large, hosts: [login-a]", "instance: m7i.xlarge, count: 3"))
    assert check(path).verdict.fresh


def test_upgrade_image_moves_it_and_is_one_row(tmp_path: Path) -> None:
    path = site(tmp_path, CLOUD)
    make(path, 1)
    (move,) = make(path, 2, "image").moves
    assert (move.name, move.before, move.after, move.why) == (
        "base image debian-12 amd64",
        "ami-1 (n-1)",
        "ami-2 (n-2)",
        "--upgrade",
    )
    assert locked_ids(path) == ["ami-2"]


def test_a_withdrawn_image_makes_the_lock_stale(tmp_path: Path) -> None:
    path = site(tmp_path, CLOUD)
    make(path, 1)
    found = check(path, there=False, newest=2)
    assert [(str(r.kind), r.address, r.locked, r.found) for r in found.verdict.reasons] == [
        ("a base image was withdrawn", "images.debian-12", "ami-1 (n-1) in us-east-1", "ami-2 (n-2) there")
    ]
    assert status_of(found.diagnostics) is ExitStatus.REFUSED
    assert check(path, there=False).verdict.reasons[0].found == "no such image there"


def test_a_newer_image_is_told_and_changes_nothing(tmp_path: Path) -> None:
    path = site(tmp_path, CLOUD)
    make(path, 1)
    found = check(path, newest=2)
    assert found.verdict.fresh
    assert [(n.pool, n.name, n.locked, n.offered) for n in found.verdict.newer] == [
        ("login", "image", "ami-1 (n-1)", "ami-2 (n-2)")
    ]
    assert check(path, newest=1).verdict.newer == ()


def test_an_account_that_cannot_be_asked_is_not_a_published_image(tmp_path: Path) -> None:
    def refuse(_cloud: CloudSpec, _images: Sequence[LockedImage]) -> tuple[Offer, ...]:
        raise GpuprovError(Diagnostic(code="GP-CLOUD-003", summary="there are no AWS credentials"))

    path = site(tmp_path, CLOUD)
    make(path, 1)
    found = app_lock.check(path, ignore_progress, ask_images=refuse)
    assert [(d.code, d.status) for d in found.diagnostics] == [("GP-CLOUD-071", ExitStatus.INCOMPLETE)]
    assert "ami-1 (n-1)\nGP-CLOUD-003" in found.diagnostics[0].detail
    assert app_lock.check(path, ignore_progress, frozen=True, ask_images=refuse).diagnostics == ()


def test_a_rack_asks_no_account(tmp_path: Path) -> None:
    path = site(tmp_path, RACK)
    make(path, 1)
    assert check(path, there=False).verdict.fresh


def test_another_base_image_in_the_spec_makes_it_stale_and_a_new_lock_takes_it(tmp_path: Path) -> None:
    make(site(tmp_path, CLOUD), 1)
    path = site(tmp_path, CLOUD + "    image: {bases: {debian-12: {owner: self, name: 'golden-*'}}}\n")
    found = check(path).verdict.reasons
    assert [r.found for r in found] == [
        "no cloud pool that asks for it",
        "a cloud pool that asks for debian-12 amd64 in us-east-1 (owner self, name golden-*)",
    ]
    (move,) = make(path, 2).moves
    assert (move.after, move.why) == ("ami-2 (n-2)", "the spec takes it by owner self, name golden-*")
    assert check(path).verdict.fresh
    assert make(path, 3).moves == ()


def test_nothing_is_written_when_the_account_refuses(tmp_path: Path) -> None:
    def refuse(_cloud: CloudSpec, _needs: Sequence[ImageNeed]) -> tuple[LockedImage, ...]:
        raise GpuprovError(Diagnostic(code="GP-CLOUD-003", summary="there are no AWS credentials"))

    path = site(tmp_path, CLOUD)
    with pytest.raises(GpuprovError):
        app_lock.make(path, upgrade=frozenset(), report=ignore_progress, find_images=refuse)
    assert not (tmp_path / "gpuprov.lock").exists()


@pytest.mark.parametrize("case", REPORTS, ids=lambda case: case["id"])
def test_a_report(case: dict[str, Any], tmp_path: Path) -> None:
    path = site(tmp_path, CLOUD)
    for step in case["steps"]:

        def find(_cloud: CloudSpec, needs: Sequence[ImageNeed], found: str = step["lookup"]) -> tuple[LockedImage, ...]:
            name = f"{needs[0].os}-of-{found}"
            return tuple(
                LockedImage(os=n.os, arch=n.arch, region=n.region, owner="1", name=name, id=found) for n in needs
            )

        upgrade = frozenset(step.get("upgrade", []))
        made = app_lock.make(path, upgrade=upgrade, report=ignore_progress, find_images=find)
        assert [f"{move.before} -> {move.after}" for move in made.moves] == step["moves"]
        (image,) = open_lock(open_site(path))[0].images
        assert [image.id, image.name, image.region] == step["locked"]
