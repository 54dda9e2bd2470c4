from collections.abc import Sequence
from pathlib import Path

import pytest

from gpuprov.lab.aws import volumes
from gpuprov.lab.aws.volumes import VolumeStore

GIB = 1024**3


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    done: list[list[str]] = []

    def run(argv: Sequence[str], **_: object) -> str:
        done.append(list(argv))
        return f"/dev/loop{90 + len(done)}\n"

    monkeypatch.setattr(volumes, "run", run)
    return done


def test_a_volume_is_a_sparse_file_with_a_loop_device_while_attached(tmp_path: Path, ran: list[list[str]]) -> None:
    store = VolumeStore(tmp_path / "volumes")
    device = store.attach("i-1", "vol-1", gib=500)
    image = store.file("vol-1")
    assert image.stat().st_size == 500 * GIB
    assert image.stat().st_blocks == 0
    assert ran == [["losetup", "--find", "--show", str(image)]]
    assert (device.path, device.loop) == ("/dev/nvme1n1", Path("/dev/loop91"))
    assert device.link == "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol1"
    store.detach("i-1", "vol-1")
    assert ran[-1] == ["losetup", "--detach", "/dev/loop91"]
    assert store.devices("i-1") == ()
    assert store.detach("i-1", "vol-1") is None
    store.delete("vol-1")
    assert not image.exists()


def test_device_numbers_are_the_lowest_free_ones_of_each_instance(tmp_path: Path, ran: list[list[str]]) -> None:
    store = VolumeStore(tmp_path)
    assert [store.attach("i-1", f"vol-{n}", gib=1).number for n in (1, 2, 3)] == [1, 2, 3]
    assert store.attach("i-2", "vol-9", gib=1).number == 1
    store.detach("i-1", "vol-2")
    assert store.attach("i-1", "vol-4", gib=1).number == 2
    assert [device.volume_id for device in store.devices("i-1")] == ["vol-1", "vol-4", "vol-3"]


def test_bytes_outlive_an_attachment_and_a_larger_size(tmp_path: Path, ran: list[list[str]]) -> None:
    store = VolumeStore(tmp_path)
    store.attach("i-1", "vol-1", gib=1)
    with store.file("vol-1").open("r+b") as file:
        file.write(b"data")
    store.resize("vol-1", gib=3)
    assert ran[-1] == ["losetup", "--set-capacity", "/dev/loop91"]
    store.detach("i-1", "vol-1")
    store.attach("i-2", "vol-1", gib=3)
    assert store.file("vol-1").stat().st_size == 3 * GIB
    with store.file("vol-1").open("rb") as file:
        assert file.read(4) == b"data"
