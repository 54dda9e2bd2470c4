from datetime import datetime
from pathlib import Path

import pytest

from gpuprov.lab.aws.images import ImageStore, Layers, next_name, os_of, published
from gpuprov.model.diagnostic import GpuprovError


def node(folder: Path, text: str) -> Path:
    (folder / "upper").mkdir(parents=True)
    (folder / "docker").mkdir()
    (folder / "upper" / "own").write_text(text)
    (folder / "upper" / "own").chmod(0o640)
    (folder / "upper" / "link").symlink_to("own")
    return folder


def test_an_image_is_a_copy_of_the_disk_over_the_same_layers(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images", lambda _: tmp_path / "base")
    store.add_base("ami-base", "debian-12")
    store.reserve("ami-1", "snap-1", store.layers("ami-base"))
    store.fill("ami-1", node(tmp_path / "node", "one"))
    layers = store.layers("ami-1")
    assert layers.disk == (tmp_path / "images" / "ami-1" / "upper", tmp_path / "base")
    assert layers.docker == tmp_path / "images" / "ami-1" / "docker"
    assert (layers.disk[0] / "own").read_text() == "one"
    assert (layers.disk[0] / "own").stat().st_mode & 0o777 == 0o640
    assert (layers.disk[0] / "link").is_symlink()
    assert (tmp_path / "node" / "upper" / "own").exists()


def test_layers_stay_while_an_image_a_snapshot_or_a_disk_needs_them(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images", lambda _: tmp_path / "base")
    base = Layers(disk=(tmp_path / "base",))
    store.reserve("ami-1", "snap-1", base)
    store.fill("ami-1", node(tmp_path / "node1", "one"))
    under = store.layers("ami-1")
    store.reserve("ami-2", "snap-2", under)
    store.fill("ami-2", node(tmp_path / "node2", "two"))
    both = {"images": {"ami-1", "ami-2"}, "snapshots": {"snap-1", "snap-2"}}
    assert store.collect(**both, disks=()) == ()
    assert store.collect(images={"ami-2"}, snapshots={"snap-1", "snap-2"}, disks=()) == ()
    assert store.collect(images={"ami-2"}, snapshots={"snap-2"}, disks=()) == (), "ami-2 stands on it"
    assert (tmp_path / "images" / "ami-1").exists()
    disk = store.layers("ami-2")
    assert store.collect(images=(), snapshots=(), disks=[disk]) == (), "an instance stands on both"
    assert store.collect(images=(), snapshots=(), disks=[under]) == ("ami-2",)
    assert store.collect(images=(), snapshots=(), disks=()) == ("ami-1",)
    assert list((tmp_path / "images").iterdir()) == []


def test_a_disk_that_cannot_be_copied_leaves_nothing(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images", lambda _: tmp_path / "base")
    with pytest.raises(GpuprovError):
        store.fill("ami-1", tmp_path / "none")
    assert list((tmp_path / "images").iterdir()) == []


def test_a_disk_that_is_being_copied_is_no_leftover(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images", lambda _: tmp_path / "base")
    store.reserve("ami-1", "snap-1", Layers(disk=(tmp_path / "base",)))
    half = tmp_path / "images" / "ami-1" / "upper"
    half.mkdir(parents=True)
    assert store.collect(images={"ami-1"}, snapshots={"snap-1"}, disks=()) == ()
    assert half.exists()


def test_names_of_base_images_tell_os_and_day() -> None:
    name = "debian-12-amd64-20261228-2705"
    assert os_of(name) == "debian-12"
    assert next_name(name) == "debian-12-amd64-20270104-2712"
    assert published(next_name(name)) == datetime(2027, 1, 4, 12)  # noqa: DTZ001 (moto's times have no zone)
    with pytest.raises(ValueError, match="no name of a base image"):
        os_of("debian")
