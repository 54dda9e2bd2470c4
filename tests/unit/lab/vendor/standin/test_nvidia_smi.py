from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.lab.description import GpuDescription
from gpuprov.lab.vendor import payload
from gpuprov.lab.vendor.standin import nvidia_smi
from gpuprov.lab.vendor.standin.forms import Kit
from gpuprov.lab.vendor.standin.nvml import Nvml
from gpuprov.model.fact import Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collectors import BY_NAME
from gpuprov.probe.collectors.smi_fields import FIELDS

CASES = yaml.safe_load((Path(__file__).parents[4] / "cases/lab/vendor/nvidia-smi.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_nvidia_smi(case: dict[str, Any], make_root: Any, kit: Any, h100: GpuDescription, capsys: Any) -> None:
    gpu = GpuDescription(**case["gpu"]) if "gpu" in case else h100
    gpu = replace(gpu, faults=tuple(case.get("faults", ())))
    choices = {key: case[key] for key in ("library", "loaded", "flavour") if key in case}
    root = make_root(gpu, **choices)
    if case.get("fabric_manager"):
        (root / "run/nvidia-fabricmanager").mkdir()
        (root / "run/nvidia-fabricmanager/configured").touch()
    status = nvidia_smi.run(case["arguments"], kit=kit, open_nvml=lambda: Nvml(root))
    output = capsys.readouterr().out
    assert status == case["status"], output
    if "stdout" in case:
        assert output == case["stdout"]
    for part in case.get("has", ()):
        assert part in output
    for part in case.get("lacks", ()):
        assert part not in output


RECORDED = """\
|   0  NVIDIA L20X                    On  |   00000000:03:00.0 Off |                    0 |
| N/A   30C    P0             74W /  700W |       0MiB / 143771MiB |      0%      Default |
|                                         |                        |             Disabled |
"""
"""Three lines of driver 580.95.05 on an L20X (index id 56920047548)."""


def test_a_gpus_lines_are_the_recorded_ones_to_the_column(kit: Kit) -> None:
    values = {"name": "NVIDIA L20X", "bus_id": "00000000:03:00.0", "memory": 143771, "limit": 700, "draw": 74}
    text = kit.text("nvidia-smi.table-gpu", index=0, persistence="On", ecc="0", mig="Disabled", **values)
    assert text.startswith(RECORDED)


def test_all_lines_of_the_table_are_equally_wide(make_root: Any, kit: Kit, capsys: Any) -> None:
    root = make_root()
    assert nvidia_smi.run([], kit=kit, open_nvml=lambda: Nvml(root)) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line[:1] in {"|", "+"}]
    assert {len(line) for line in lines} == {91}


def test_the_recorded_csv_header_is_what_the_stand_in_prints(nvml: Nvml, kit: Any, capsys: Any) -> None:
    header = str(payload.forms()["nvidia-smi.csv"]["text"]).splitlines()[0]
    fields = ",".join(title.split(" [")[0] for title in header.split(", "))
    assert nvidia_smi.run([f"--query-gpu={fields}", "--format=csv"], kit=kit, open_nvml=lambda: nvml) == 0
    assert capsys.readouterr().out.splitlines()[0] == header


def test_every_field_has_a_value_for_every_gpu(nvml: Nvml) -> None:
    for name, (read, _) in nvidia_smi.FIELDS.items():
        assert read(nvml.gpus[0], nvml), name


@pytest.mark.parametrize(
    ("collector", "arguments"),
    [
        ("smi", ["--query-gpu=@", "--format=csv,noheader"]),
        ("topology", ["topo", "-m"]),
        ("topology", ["nvlink", "--status"]),
        ("ceiling", ["-q", "-d", "COMPUTE"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_the_probe_understands_the_answers(
    collector: str, arguments: list[str], nvml: Nvml, kit: Kit, capsys: Any
) -> None:
    fields = ",".join(["index", "pci.bus_id", "driver_version", "name", *sum(FIELDS.values(), ())])
    asked = [argument.replace("@", fields) for argument in arguments]
    assert nvidia_smi.run(asked, kit=kit, open_nvml=lambda: nvml) == 0
    matrix = "\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n"
    head = {"smi": f"fields {fields}\n", "topology": f"{matrix}links\n" if "nvlink" in asked else "", "ceiling": ""}
    tail = "end\n" if collector == "topology" else ""
    text = head[collector] + capsys.readouterr().out + tail
    output = CollectorOutput(command="", stdout=text, stderr="", status=0)
    recording = Recording(host="h", os="", arch="", taken="", collectors={collector: output})
    found = BY_NAME[collector].parse(output, recording)
    assert {address: seen for address, seen in found.items() if isinstance(seen, Unknown)} == {}
