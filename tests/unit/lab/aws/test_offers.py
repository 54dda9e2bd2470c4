import pytest

from gpuprov.lab.aws.offers import gpus_of, vcpus_of
from gpuprov.lab.gpus import INSTANCES, InstanceRow


@pytest.mark.parametrize("row", INSTANCES, ids=lambda row: row.type)
def test_every_type_that_a_seed_may_draw_has_the_gpus_that_the_rack_has(row: InstanceRow) -> None:
    gpu = gpus_of(row.type)
    assert gpu is not None
    assert (gpu.model, gpu.count) == (row.model, row.count)
    assert gpu.nvswitch == (row.count == 8 and row.model not in ("L4", "L40S"))


def test_a_type_without_gpus_has_none() -> None:
    assert gpus_of("t3.large") is None


def test_one_gpu_of_a_board_shows_no_nvswitch() -> None:
    gpu = gpus_of("p5.4xlarge")
    assert gpu is not None
    assert (gpu.model, gpu.count, gpu.nvswitch) == ("H100-SXM5-80GB", 1, False)


@pytest.mark.parametrize("kind", ["p6-b200.48xlarge", "g4dn.xlarge", "g6f.large"])
def test_gpus_that_the_lab_cannot_show_are_refused_by_name(kind: str) -> None:
    with pytest.raises(Exception, match=f"gpuprov lab: the GPUs of {kind}"):
        gpus_of(kind)


def test_a_quota_counts_vcpus() -> None:
    assert vcpus_of("p5.48xlarge") == 192
