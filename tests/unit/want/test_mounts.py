from dataclasses import replace

import pytest
from host_builders import COMPONENTS, make_lock, make_pool, make_spec

from gpuprov.spec.storage import StorageSpec
from gpuprov.want.files import MARKER
from gpuprov.want.mounts import MountWant, mount_wants
from gpuprov.want.pool import pool_want


def local(**more: object) -> StorageSpec:
    fields = {"kind": "local", "device": "/dev/nvme1n1", "mount": "/scratch", **more}
    return StorageSpec(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("place", "unit"),
    [
        ("/scratch", "scratch.mount"),
        ("/data/train-set", "data-train\\x2dset.mount"),
        ("/data//x/", "data-x.mount"),
        ("/srv/a b", "srv-a\\x20b.mount"),
        ("/.cache", "\\x2ecache.mount"),
        ("/daten/größe", "daten-gr\\xc3\\xb6\\xc3\\x9fe.mount"),
    ],
)
def test_a_unit_is_named_by_its_place_as_systemd_escape_says(place: str, unit: str) -> None:
    # The right side is what `systemd-escape --path --suffix=mount` of systemd 252 prints.
    assert MountWant(name="x", device="/dev/x", place=place, filesystem="ext4").unit == unit


def test_only_local_disks_of_the_pool_are_mounted_and_the_outer_place_first() -> None:
    storage = {
        "inner": local(device="/dev/b", mount="/data/inner"),
        "outer": local(mount="/data", filesystem="xfs"),
        "other": local(pools=("infer",)),
        "bucket": StorageSpec(kind="object"),
        "volume": StorageSpec(kind="volume", size="1GiB"),
    }
    assert [mount.name for mount in mount_wants(storage, "train")] == ["outer", "inner"]


def test_a_mount_is_a_file_of_ours_and_part_of_the_want() -> None:
    pool = make_pool()
    spec = replace(make_spec(pool), storage={"scratch": local()})
    want = pool_want(make_lock(), spec, pool, "onprem", components=COMPONENTS)
    (file,) = [file for file in want.files if file.path == "/etc/systemd/system/scratch.mount"]
    assert file.text.startswith(f"{MARKER}\n[Unit]\n")
    assert "What=/dev/nvme1n1\nWhere=/scratch\nType=ext4\n" in file.text
    assert want.digest != pool_want(make_lock(), make_spec(pool), pool, "onprem", components=COMPONENTS).digest
