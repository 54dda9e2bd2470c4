"""A disk of a real node: formatted where it is empty, mounted over boots, left alone where it holds something."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuprov.lab.aws.volumes import Device
from tests.e2e.reading import differences
from tests.e2e.site import LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.matrix, pytest.mark.timeout(900)]

LINK = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0lab"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Device]:
    """A disk of 64 MiB with nothing on it."""
    image = tmp_path / "disk.img"
    with image.open("wb") as stream:
        stream.truncate(64 << 20)
    loop = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True, check=True).stdout.strip()
    yield Device(volume_id="vol-0lab", number=1, loop=Path(loop))
    subprocess.run(["losetup", "-d", loop], check=True)


def test_the_life_of_a_disk(fresh_lab: Callable[..., LabSite], disk: Device) -> None:
    site = fresh_lab("disks", train=0, cpu=1)
    (name,) = site.names
    node = site.node(name)
    assert node.exec(disk.appear_argv()).status == 0
    spec = site.folder / "gpuprov.yaml"
    plain = spec.read_text(encoding="utf-8")
    spec.write_text(plain + f"storage: {{scratch: {{kind: local, device: {LINK}, mount: /data/scratch}}}}\n")
    site.run("lock")
    plan = site.run("preview", "--target", "onprem").stdout
    assert f"format   {LINK} empty -> ext4" in plan
    assert touched(site.up()) == {name: "changed"}
    assert differences(site, name) == []
    site.root(name, "findmnt -n /data/scratch && echo precious > /data/scratch/file")
    assert touched(site.up()) == {name: "satisfied"}
    assert site.drift().status == 0
    unmounted_by_hand_is_mounted_again(site, name)
    what_left_the_spec_is_unmounted_and_keeps_its_data(site, name, plain)
    what_holds_something_else_keeps_the_host_untouched(site, name, plain)
    site.root(name, f"umount {LINK} 2>/dev/null || true")
    node.exec(disk.vanish_argv())


def unmounted_by_hand_is_mounted_again(site: LabSite, name: str) -> None:
    site.root(name, "umount /data/scratch")
    found = site.drift()
    assert found.status == 7
    assert f'device["{LINK}"].mounts' in {finding["address"] for finding in found.body["findings"]}
    site.up()
    assert site.root(name, "cat /data/scratch/file") == "precious\n"


def what_left_the_spec_is_unmounted_and_keeps_its_data(site: LabSite, name: str, plain: str) -> None:
    (site.folder / "gpuprov.yaml").write_text(plain, encoding="utf-8")
    site.run("lock")
    site.up()
    left = "findmnt -n /data/scratch; ls /etc/systemd/system/*.mount /etc/systemd/system/*/*.mount 2>/dev/null || true"
    assert site.root(name, left) == ""
    assert site.root(name, f"blkid -p -o value -s TYPE {LINK}").strip() == "ext4"
    assert site.root(name, f"mount {LINK} /mnt && cat /mnt/file && umount /mnt") == "precious\n"


def what_holds_something_else_keeps_the_host_untouched(site: LabSite, name: str, plain: str) -> None:
    disk = f"{{kind: local, device: {LINK}, mount: /data/scratch, filesystem: xfs}}"
    text = f'{plain}storage: {{scratch: {disk}}}\nfiles: {{"/etc/gpu-host": {{text: "x\\n"}}}}\n'
    (site.folder / "gpuprov.yaml").write_text(text, encoding="utf-8")
    site.run("lock")
    refused = site.up(expect=5)
    assert refused.codes == ["GP-CONV-007"]
    assert "holds ext4, and storage.scratch wants xfs" in refused.stderr
    assert site.root(name, "ls /etc/gpu-host 2>/dev/null || echo untouched").strip() == "untouched"
    assert site.root(name, f"mount {LINK} /mnt && cat /mnt/file && umount /mnt") == "precious\n"
