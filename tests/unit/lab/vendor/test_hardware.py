import json
from dataclasses import replace

import pytest

from gpuprov.lab.description import GpuDescription
from gpuprov.lab.gpus import MODELS
from gpuprov.lab.vendor.hardware import describe, hardware_files


def test_a_machine_without_gpus_gets_the_same_program_and_nothing_on_its_bus(h100: GpuDescription) -> None:
    without, with_ = hardware_files(None), hardware_files(h100)
    assert set(without) == set(with_)
    assert without["/usr/lib/lab-hardware/lab-hardware"] == with_["/usr/lib/lab-hardware/lab-hardware"]
    assert json.loads(without["/usr/lib/lab-hardware/description.json"][0]) == {
        "gpus": [],
        "switches": [],
        "faults": [],
    }
    assert without["/usr/lib/lab-hardware/lab-hardware"][1] == 0o755


@pytest.mark.parametrize("row", MODELS, ids=lambda row: row.model)
def test_every_model_that_a_seed_can_draw_can_be_shown(row: object) -> None:
    fields = ("model", "nvml_name", "pci_device", "memory_mib", "nvswitch")
    values = {name: getattr(row, name) for name in fields}
    for count in row.counts:  # type: ignore[attr-defined]
        described = describe(GpuDescription(count=count, **values))
        assert len(described["gpus"]) == count
        assert bool(described["switches"]) is values["nvswitch"]
        addresses = [device["bus"] for device in [*described["gpus"], *described["switches"]]]
        assert len(addresses) == len(set(addresses))


@pytest.mark.parametrize(
    ("faults", "lost", "xids", "count"),
    [
        (("gpu-lost",), [1], [0, 79], 2),
        (("gpu-lost:0",), [0], [79, 0], 2),
        (("gpu-missing:0",), [], [0], 1),
        (("xid:48",), [], [48, 0], 2),
        (("xid:94:1", "fabric-stuck"), [], [0, 94], 2),
    ],
)
def test_faults(faults: tuple[str, ...], lost: list[int], xids: list[int], count: int, h100: GpuDescription) -> None:
    gpus = describe(replace(h100, faults=faults))["gpus"]
    assert len(gpus) == count
    assert [gpu["index"] for gpu in gpus if gpu["lost"]] == lost
    assert [gpu["xid"] for gpu in gpus] == xids


def test_a_missing_gpu_keeps_the_addresses_of_the_others(h100: GpuDescription) -> None:
    gpus = describe(replace(h100, faults=("gpu-missing:0",)))["gpus"]
    assert [(gpu["index"], gpu["bus"]) for gpu in gpus] == [(0, "0000:43:00.0")]


@pytest.mark.parametrize("fault", ["nonsense", "gpu-lost:9", "gpu-lost:x", "gpu-lost:1:2", "xid", "fabric-stuck:1", ""])
def test_a_fault_that_the_lab_does_not_know_is_refused(fault: str, h100: GpuDescription) -> None:
    with pytest.raises(ValueError, match="fault"):
        describe(replace(h100, faults=(fault,)))


@pytest.mark.parametrize(
    "change", [{"pci_device": "ffff"}, {"count": 0}, {"count": 17}, {"pci_device": "26b9", "nvswitch": True}]
)
def test_hardware_that_the_lab_cannot_show_is_refused(change: dict[str, object], h100: GpuDescription) -> None:
    with pytest.raises(ValueError, match="H100-SXM5-80GB: "):
        describe(replace(h100, **change))  # type: ignore[arg-type]
