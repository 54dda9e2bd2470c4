from dataclasses import replace

import pytest
from host_builders import COMPONENTS, make_lock, make_pool, make_spec

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.access import AccessSpec
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.types import FileSpec
from gpuprov.want.expectations import expectations
from gpuprov.want.files import MARKER
from gpuprov.want.host import host_want
from gpuprov.want.mounts import MountWant, mount_wants
from gpuprov.want.narrow import leave_alone
from gpuprov.want.pool import pool_want
from gpuprov.want.types import Owned

NOBODY = AccessSpec()


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


def test_only_what_the_pool_has_is_mounted_and_the_outer_place_first() -> None:
    storage = {
        "inner": local(device="/dev/b", mount="/data/inner"),
        "outer": local(mount="/data", filesystem="xfs"),
        "other": local(pools=("infer",)),
        "bucket": StorageSpec(kind="object"),
        "volume": StorageSpec(kind="volume", size="1GiB"),
        "mounted": StorageSpec(kind="volume", size="1GiB", mount="/vol"),
    }
    assert [mount.name for mount in mount_wants(storage, NOBODY, "train", "onprem", {})] == ["outer", "inner"]


def test_a_mount_is_a_file_of_ours_and_part_of_the_want() -> None:
    pool = make_pool()
    spec = replace(make_spec(pool), storage={"scratch": local()})
    want = pool_want(make_lock(), spec, pool, "onprem", components=COMPONENTS)
    (file,) = [file for file in want.files if file.path == "/etc/systemd/system/scratch.mount"]
    assert file.text.startswith(f"{MARKER}\n[Unit]\n")
    assert "What=/dev/nvme1n1\nWhere=/scratch\nType=ext4\n" in file.text
    assert want.digest != pool_want(make_lock(), make_spec(pool), pool, "onprem", components=COMPONENTS).digest


SHARED = StorageSpec(kind="shared", mount="/data", server="nfs.example", export="/srv/data")
VOLUME = StorageSpec(kind="volume", size="1GiB", mount="/scratch", filesystem="xfs")
STORAGE = {"data": SHARED, "scratch": VOLUME}
FOUND = {"data": "fs-1.efs.us-east-1.amazonaws.com:/", "scratch": "/dev/disk/by-id/nvme-vol1"}


@pytest.mark.parametrize(
    ("target", "found", "mounts"),
    [
        ("onprem", {}, [("nfs.example:/srv/data", "/data", "nfs")]),
        ("cloud", {}, []),
        ("cloud", {"data": FOUND["data"]}, [(FOUND["data"], "/data", "nfs")]),
        ("cloud", FOUND, [(FOUND["data"], "/data", "nfs"), (FOUND["scratch"], "/scratch", "xfs")]),
    ],
)
def test_the_rack_mounts_a_server_and_the_cloud_what_was_made_at_the_same_place(
    target: str, found: dict[str, str], mounts: list[tuple[str, str, str]]
) -> None:
    wants = mount_wants(STORAGE, NOBODY, "train", target, found)
    assert [(mount.device, mount.place, mount.filesystem) for mount in wants] == mounts


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ((), "nfsvers=4.1,hard,timeo=600,retrans=2,noresvport"),
        (("ro", "nconnect=4"), "nfsvers=4.1,hard,timeo=600,retrans=2,noresvport,ro,nconnect=4"),
        (("nfsvers=4.2",), "hard,timeo=600,retrans=2,noresvport,nfsvers=4.2"),
        (("vers=3", "soft"), "timeo=600,retrans=2,noresvport,vers=3,soft"),
        (("resvport", "timeo=50"), "nfsvers=4.1,hard,retrans=2,resvport,timeo=50"),
    ],
)
def test_an_option_of_the_spec_takes_the_place_of_ours(given: tuple[str, ...], options: str) -> None:
    (mount,) = mount_wants({"data": replace(SHARED, options=given)}, NOBODY, "train", "onprem", {})
    assert mount.options == options


def test_a_share_s_unit_is_one_of_the_network() -> None:
    (mount,) = mount_wants({"data": SHARED}, NOBODY, "train", "onprem", {})
    assert "What=nfs.example:/srv/data\nWhere=/data\nType=nfs\nOptions=nfsvers=4.1," in mount.text
    assert mount.text.endswith("WantedBy=remote-fs.target\n")


def test_a_cloud_host_has_its_own_mounts_besides_its_pool_s() -> None:
    pool = make_pool()
    spec = replace(make_spec(pool), storage=STORAGE)
    common = pool_want(make_lock(), spec, pool, "cloud", components=COMPONENTS)
    assert common.mounts == ()
    one = host_want(common, "a", mount_wants(STORAGE, NOBODY, "train", "cloud", FOUND))
    other = host_want(common, "b", mount_wants(STORAGE, NOBODY, "train", "cloud", FOUND | {"scratch": "/dev/x"}))
    assert [file.path for file in one.pool.files if file.path.endswith(".mount")] == [
        "/etc/systemd/system/data.mount",
        "/etc/systemd/system/scratch.mount",
    ]
    assert one.pool.digest not in {common.digest, other.pool.digest}
    assert host_want(common, "a").pool is common


def test_a_file_of_the_spec_cannot_take_the_place_of_a_unit_that_is_still_to_come() -> None:
    pool = make_pool()
    spec = replace(
        make_spec(pool),
        storage=STORAGE,
        files=(FileSpec(path="/etc/systemd/system/scratch.mount", text="mine"),),
    )
    with pytest.raises(GpuprovError) as raised:
        pool_want(make_lock(), spec, pool, "cloud", components=COMPONENTS)
    assert raised.value.diagnostics[0].code == "GP-SPEC-005"


def test_a_share_that_is_waived_is_left_alone() -> None:
    pool = make_pool()
    spec = replace(make_spec(pool), storage={"data": SHARED})
    want = host_want(pool_want(make_lock(), spec, pool, "onprem", components=COMPONENTS), "a")
    assert 'share["/data"].source' in {e.address for e in expectations(want, Owned())}
    assert leave_alone(want, ['share["/data"].source']).pool.mounts == ()
    assert leave_alone(want, ['share["/other"].source']).pool.mounts == want.pool.mounts
