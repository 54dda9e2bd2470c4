from pathlib import Path
from typing import Any

import pytest

from gpuprov.lab.vendor.packages import described
from gpuprov.lab.vendor.standin.nvml import Nvml, NvmlError, cuda_version, hardware, library_version, loaded_version


def test_the_library_is_the_file_that_the_link_points_to(make_root: Any) -> None:
    root = make_root(library="580.159.03", loaded=None)
    assert library_version(root) == "580.159.03"
    assert loaded_version(root) is None


def test_a_link_to_a_file_that_is_gone_is_no_library(make_root: Any) -> None:
    root = make_root(library="580.159.03")
    next(root.glob("usr/lib/*/libnvidia-ml.so.580.159.03")).unlink()
    with pytest.raises(NvmlError, match="no-library"):
        library_version(root)


def test_gpus_of_two_machines_have_other_uuids_and_serial_numbers(nvml: Nvml) -> None:
    assert len({gpu.uuid for gpu in nvml.gpus}) == len({gpu.serial for gpu in nvml.gpus}) == 2
    assert nvml.gpus[0].bus_id == "00000000:1B:00.0"
    assert len(nvml.gpus[0].serial) == 13


def test_a_mismatch_names_two_parts_of_the_librarys_version(make_root: Any) -> None:
    with pytest.raises(NvmlError) as caught:
        Nvml(make_root(library="570.124.04", loaded="570.124.06"))
    assert (caught.value.form, caught.value.values) == ("nvidia-smi.mismatch", {"short_version": "570.124"})


def test_a_machine_without_simulated_hardware_has_nothing(tmp_path: Path) -> None:
    assert hardware(tmp_path) == {"gpus": [], "switches": [], "faults": []}


def test_every_described_driver_has_a_cuda_version_and_it_is_the_descriptions() -> None:
    rows = [package.values for package in described("amd64") if package.name == "libcuda1"]
    assert len(rows) > 10
    for values in rows:
        assert cuda_version(values["id"]) == values["cuda"]
