"""The rows of instance types are what the stored answers of DescribeInstanceTypes say."""

import gzip
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gpuprov.catalog.load import rows
from gpuprov.catalog.rows import InstanceRow

PACKAGE = find_spec("moto")
DESCRIBED = [row for row in rows(InstanceRow) if "describe" in row.sources]


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, Any]]:
    """The source that the rows name, by type."""
    assert PACKAGE is not None
    assert PACKAGE.origin is not None
    packed = Path(PACKAGE.origin).parent / "ec2" / "resources" / "instance_types.json.gz"
    found: dict[str, dict[str, Any]] = json.loads(gzip.decompress(packed.read_bytes()))
    return found


def facts(answer: dict[str, Any]) -> dict[str, Any]:
    gpus = answer.get("GpuInfo", {}).get("Gpus", [])
    arch = [name for name in answer["ProcessorInfo"]["SupportedArchitectures"] if name != "i386"]
    return {
        "gpu_name": gpus[0]["Name"] if gpus else "",
        "gpus": sum(gpu["Count"] for gpu in gpus),
        "vcpus": answer["VCpuInfo"]["DefaultVCpus"],
        "memory_mib": answer["MemoryInfo"]["SizeInMiB"],
        "local_nvme_gb": answer.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        "arch": {"x86_64": "amd64", "arm64": "arm64"}[arch[0]],
    }


def test_every_row_says_what_its_source_says(answers: dict[str, dict[str, Any]]) -> None:
    assert len(DESCRIBED) > 200
    for row in DESCRIBED:
        told = facts(answers[row.id])
        assert {key: getattr(row, key) for key in told} == told, row.id


def test_every_type_with_nvidia_gpus_has_a_row(answers: dict[str, dict[str, Any]]) -> None:
    known = {row.id for row in rows(InstanceRow)}
    assert [name for name, answer in answers.items() if "GpuInfo" in answer and name not in known] == []


def test_one_gpu_of_ec2_with_one_memory_is_one_gpu_of_the_catalog(answers: dict[str, dict[str, Any]]) -> None:
    found: dict[tuple[str, int], set[str | None]] = {}
    for row in DESCRIBED:
        for gpu in answers[row.id].get("GpuInfo", {}).get("Gpus", []):
            found.setdefault((gpu["Name"], gpu["MemoryInfo"]["SizeInMiB"]), set()).add(row.gpu)
    assert {key: models for key, models in found.items() if len(models) > 1} == {}
