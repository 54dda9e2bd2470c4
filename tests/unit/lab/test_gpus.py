from itertools import pairwise

import pytest

from gpuprov.catalog import find
from gpuprov.lab.description import GpuDescription
from gpuprov.lab.gpus import DRIVER_RELEASES, MODELS, GpuModel
from gpuprov.lab.vendor.hardware import describe
from gpuprov.model.version import compare_driver, driver_branch


@pytest.mark.parametrize("row", MODELS, ids=lambda row: row.model)
def test_a_model_is_one_of_the_catalogs_and_the_vendors_half_can_show_it(row: GpuModel) -> None:
    known = find.gpu(row.model)
    assert known is not None
    assert row.nvml_name in known.nvml_names
    assert row.pci_device in known.pci_ids
    assert row.nvswitch == (known.fabric == "nvswitch")
    for count in row.counts:
        shown = describe(
            GpuDescription(
                model=row.model,
                nvml_name=row.nvml_name,
                count=count,
                nvswitch=row.nvswitch,
                pci_device=row.pci_device,
                memory_mib=row.memory_mib,
            )
        )
        assert len(shown["gpus"]) == count
        assert bool(shown["switches"]) == row.nvswitch


def test_releases_belong_to_their_branch_and_rise() -> None:
    for branch, releases in DRIVER_RELEASES.items():
        assert {driver_branch(release) for release in releases} == {int(branch)}
        assert all(compare_driver(older, newer) < 0 for older, newer in pairwise(releases))
