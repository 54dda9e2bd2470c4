from dataclasses import replace
from typing import Any

import pytest

from gpuprov.lab.vendor import payload
from gpuprov.lab.vendor.standin.dcgm_exporter import metrics, read_counters
from gpuprov.lab.vendor.standin.nvml import Nvml

COUNTERS = str(payload.forms()["dcgm-exporter.counters"]["text"])


def test_each_field_of_the_counters_file_is_a_family_with_a_sample_for_each_gpu(nvml: Nvml, kit: Any) -> None:
    counters = list(read_counters(COUNTERS))
    lines = metrics(counters, nvml, kit, uptime=10).splitlines()
    assert len(counters) == 20
    for counter in counters:
        assert f"# TYPE {counter.metric} {counter.kind}" in lines
        assert sum(line.startswith(f"{counter.metric}{{") for line in lines) == 2


def test_a_sample_has_the_recorded_labels(nvml: Nvml, kit: Any) -> None:
    text = metrics(list(read_counters(COUNTERS)), nvml, kit, uptime=10)
    expected = (
        f'DCGM_FI_DEV_GPU_TEMP{{gpu="1",UUID="{nvml.gpus[1].uuid}",pci_bus_id="00000000:43:00.0",device="nvidia1",'
        'modelName="NVIDIA H100 80GB HBM3",Hostname="'
    )
    assert expected in text
    assert 'DCGM_FI_DRIVER_VERSION="580.95.05"} 31\n' in text


def test_a_lost_gpu_has_no_samples_and_an_xid_is_a_gauge(make_root: Any, kit: Any, h100: Any) -> None:
    nvml = Nvml(make_root(replace(h100, faults=("gpu-lost:0", "xid:48:1"))))
    lines = metrics(list(read_counters(COUNTERS)), nvml, kit, uptime=10).splitlines()
    samples = [line for line in lines if line.startswith("DCGM_FI_DEV_XID_ERRORS{")]
    assert [(line.split('"')[1], line.rsplit(" ", 1)[1]) for line in samples] == [("1", "48")]


def test_comments_are_left_out_and_a_broken_line_is_named() -> None:
    assert [c.metric for c in read_counters("# a\n\nX, gauge, help, with comma\n")] == ["X"]
    with pytest.raises(ValueError, match="line 2: three columns"):
        list(read_counters("# a\nX, gauge\n"))
