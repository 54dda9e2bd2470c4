import struct
from pathlib import Path
from typing import Any

from gpuprov.lab.description import GpuDescription
from gpuprov.lab.vendor.hardware import describe
from gpuprov.lab.vendor.standin.lab_hardware import copy_shallow, show_driver, with_identity, write_pci_device


def test_identity_differs_by_machine_and_stays(h100: GpuDescription) -> None:
    described = describe(h100)
    first, again, other = (with_identity(described, machine) for machine in ("a" * 32, "a" * 32, "b" * 32))
    assert first == again
    assert {gpu["uuid"] for gpu in first["gpus"]}.isdisjoint(gpu["uuid"] for gpu in other["gpus"])
    assert all(gpu["uuid"].startswith("GPU-") and len(gpu["uuid"]) == 40 for gpu in first["gpus"])


def test_a_pci_device_reads_alike_from_its_files_and_from_its_configuration(
    tmp_path: Path, h100: GpuDescription
) -> None:
    described = describe(h100)
    write_pci_device(tmp_path / "gpu", described["gpus"][0])
    write_pci_device(tmp_path / "switch", described["switches"][0])
    read = {name: (tmp_path / "gpu" / name).read_text().strip() for name in ("vendor", "device", "class", "revision")}
    assert read == {"vendor": "0x10de", "device": "0x2330", "class": "0x030200", "revision": "0xa1"}
    header = (tmp_path / "gpu/config").read_bytes()
    assert len(header) == 64
    assert struct.unpack_from("<HH", header) == (0x10DE, 0x2330)
    assert header[8:12] == b"\xa1\x00\x02\x03"
    assert (tmp_path / "switch/class").read_text() == "0x068000\n"
    assert (tmp_path / "switch/device").read_text() == "0x22a3\n"


def test_the_two_flavours_show_the_recorded_lines(tmp_path: Path, kit: Any, h100: GpuDescription) -> None:
    described = with_identity(describe(h100), "a" * 32)
    show_driver(tmp_path / "open", kit, described, version="580.95.05", flavour="open")
    show_driver(tmp_path / "closed", kit, described, version="580.95.05", flavour="proprietary")
    first = (tmp_path / "open/proc-driver/nvidia/version").read_text()
    second = (tmp_path / "closed/proc-driver/nvidia/version").read_text()
    assert "NVRM version: NVIDIA UNIX Open Kernel Module for " in first
    assert "  580.95.05  Release Build  (root@" in first
    assert "Open" not in second
    assert " Kernel Module  580.95.05  " in second
    assert (tmp_path / "open/module/nvidia/version").read_text() == "580.95.05\n"
    information = (tmp_path / "open/proc-driver/nvidia/gpus/0000:1b:00.0/information").read_text()
    assert "Model: \t\t NVIDIA H100 80GB HBM3\n" in information
    assert f"GPU UUID: \t {described['gpus'][0]['uuid']}\n" in information


def test_the_machines_own_entries_stay_visible(tmp_path: Path) -> None:
    own, cover = tmp_path / "own", tmp_path / "cover"
    (own / "kvm/parameters").mkdir(parents=True)
    (own / "kvm/version").write_text("1\n")
    (own / "0000:00:01.0").symlink_to("../../../devices/pci0000:00/0000:00:01.0")
    cover.mkdir()
    copy_shallow(own, cover)
    assert (cover / "0000:00:01.0").readlink() == Path("../../../devices/pci0000:00/0000:00:01.0")
    assert (cover / "kvm/version").read_text() == "1\n"
    assert sorted(path.name for path in cover.iterdir()) == ["0000:00:01.0", "kvm"]
