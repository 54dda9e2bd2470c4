from pathlib import Path

import pytest

from gpuprov.lab import disk
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A node's root with merged /usr, and a link that leads out."""
    root = tmp_path / "root"
    (root / "usr/lib").mkdir(parents=True)
    (root / "lib").symlink_to("usr/lib")
    (root / "out").symlink_to(tmp_path)
    return root


def test_files_follow_the_nodes_own_links_and_have_their_mode(root: Path) -> None:
    disk.write_files(root, {"/lib/systemd/x.service": (b"unit", 0o640)})
    place = root / "usr/lib/systemd/x.service"
    assert place.read_bytes() == b"unit"
    assert place.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["/out/file", "/../file", "relative"])
def test_a_path_out_of_the_disk_is_refused(root: Path, tmp_path: Path, name: str) -> None:
    before = set(tmp_path.rglob("*"))
    with pytest.raises(GpuprovError):
        disk.write_files(root, {name: (b"", 0o644)})
    assert set(tmp_path.rglob("*")) == before


def test_a_link_in_a_files_place_is_replaced_not_followed(root: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (root / "link").symlink_to(victim)
    disk.write_files(root, {"/link": (b"new", 0o644)})
    assert victim.read_text() == "untouched"
    assert (root / "link").read_text() == "new"


def test_a_nodes_identity_names_itself_and_its_neighbours() -> None:
    lab = draw(8, nodes=3)
    files = disk.identity_files(lab, lab.nodes[0])
    hosts = files["/etc/hosts"][0].decode()
    assert f"127.0.1.1 {lab.nodes[0].name}\n" in hosts
    assert all(f"{node.address} {node.name}\n" in hosts for node in lab.nodes[1:])
    assert lab.nodes[0].address not in hosts
    again = disk.identity_files(lab, lab.nodes[0])
    assert files["/etc/machine-id"] != again["/etc/machine-id"]
    assert len(files["/etc/machine-id"][0]) == 33


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["nameserver 192.0.2.53\nsearch example\n", None], "nameserver 192.0.2.53\nsearch example\n"),
        (["nameserver 127.0.0.53\noptions edns0\n", "nameserver 192.0.2.1\n"], "nameserver 192.0.2.1\n"),
        (["nameserver 127.0.0.1\nnameserver 192.0.2.9\n", None], "nameserver 192.0.2.9\n"),
    ],
)
def test_a_node_gets_a_name_server_that_it_can_reach(tmp_path: Path, texts: list[str | None], expected: str) -> None:
    files = []
    for place, text in enumerate(texts):
        files.append(str(tmp_path / str(place)))
        if text is not None:
            (tmp_path / str(place)).write_text(text)
    assert disk.resolver(tuple(files)) == expected


def test_without_a_reachable_name_server_the_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "0").write_text("nameserver 127.0.0.53\n")
    assert disk.resolver((str(tmp_path / "0"),)).startswith("#")


def test_boot_setup_enables_and_masks_units(root: Path) -> None:
    disk.finish_boot_setup(root)
    disk.finish_boot_setup(root)
    enabled = root / "etc/systemd/system/sysinit.target.wants/lab-network-settings.service"
    assert str(enabled.readlink()) == "/etc/systemd/system/lab-network-settings.service"
    assert str((root / "etc/systemd/system/systemd-modules-load.service").readlink()) == "/dev/null"
