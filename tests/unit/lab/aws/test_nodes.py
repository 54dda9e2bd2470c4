from pathlib import Path

import pytest

from gpuprov.lab.aws import nodes, vpcs
from gpuprov.lab.aws.vpcs import InstanceLink, Vpc
from gpuprov.lab.names import LabNames
from gpuprov.lab.node import launch_argv
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError

LAB = draw(3, nodes=1)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("gpuprov.lab.names.ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(("public", "expected"), [("198.18.0.40", "198.18.0.40"), (None, "10.7.0.5")])
def test_an_instance_is_reached_by_its_public_address_or_else_its_private_one(
    public: str | None, expected: str
) -> None:
    vpcs.write_vpc(LAB, Vpc(id="vpc-1", cidr="10.7.0.0/16", number=1))
    vpcs.write_link(
        LAB,
        InstanceLink(instance_id="i-1", vpc_id="vpc-1", number=1, private_address="10.7.0.5", public_address=public),
    )
    node = nodes.cloud_node(LAB, "i-1", Path("/folder"))
    assert (node.description.address, node.description.user) == (expected, "admin")
    assert node.console == LabNames(LAB.id).node_folder("i-1") / "console.log"
    assert node.description.address not in [known.address for known in LAB.nodes]


def test_devices_are_given_to_the_next_boot_under_both_names() -> None:
    assert nodes.read_devices(LAB, "i-1") == {}
    nodes.set_devices(LAB, "i-1", {"/dev/loop3": "/dev/nvme1n1"})
    assert nodes.read_devices(LAB, "i-1") == {"/dev/loop3": "/dev/nvme1n1"}
    argv = launch_argv(LabNames(LAB.id), "i-1", uptime=None, devices=nodes.read_devices(LAB, "i-1"))
    assert argv[-2:] == ["--bind=/dev/loop3", "--bind=/dev/loop3:/dev/nvme1n1"]
    assert not [word for word in launch_argv(LabNames(LAB.id), "i-1", uptime=None) if "/dev/" in word]


def test_each_instance_has_its_own_machine_id() -> None:
    first, second = nodes.identity_files(), nodes.identity_files()
    assert first["/etc/machine-id"] != second["/etc/machine-id"]
    assert "/etc/hostname" not in first  # cloud-init's


def test_a_disk_that_cannot_be_made_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = LabNames(LAB.id).node_folder("i-1")

    def mount(_lab: object, _name: str, _layers: object) -> Path:
        (folder / "root").mkdir(parents=True)
        return folder / "root"

    monkeypatch.setattr(nodes.disk, "mount_layers", mount)
    with pytest.raises(GpuprovError, match="leads out"):
        nodes.make_instance_disk(LAB, "i-1", [], {"/../outside": (b"", 0o644)})
    assert not folder.exists()
    folder.mkdir(parents=True)
    with pytest.raises(GpuprovError, match="has a disk already"):
        nodes.make_instance_disk(LAB, "i-1", [], {})
    assert folder.exists()
