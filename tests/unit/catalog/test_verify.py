"""The packaged catalog is sound, and each check can fail."""

from dataclasses import replace
from typing import Any

import pytest

from gpuprov.catalog import verify
from gpuprov.catalog.load import PACKAGED, Catalog
from gpuprov.catalog.rows import Row


def test_the_packaged_catalog_is_sound() -> None:
    assert verify.problems() == ()


def changed(name: str, index: int, **values: Any) -> Catalog:
    found = PACKAGED.table(name)
    rows: list[Row] = list(found.rows)
    rows[index] = replace(rows[index], **values)
    return Catalog({name: replace(found, rows=tuple(rows))})


@pytest.mark.parametrize("backing", [{"colour": ("pciids",)}, {"pci_ids": ("nobody",)}])
def test_what_backs_a_field_is_a_source(backing: dict[str, tuple[str, ...]]) -> None:
    found = replace(PACKAGED.table("gpus"), backing=backing)
    assert any("backs the field" in problem for problem in verify.problems(Catalog({"gpus": found})))


@pytest.mark.parametrize(
    ("name", "index", "values", "word"),
    [
        ("gpus", 0, {"architecture": "pascall"}, "architecture"),
        ("gpus", 0, {"fabric": "nvlink"}, "fabric"),
        ("gpus", 1, {"nvml_names": ("Tesla P100-PCIE-16GB",)}, "NVML"),
        ("gpus", 1, {"pci_ids": ("15f8",)}, "device"),
        ("branches", 0, {"latest": "535.1.1"}, "another branch"),
        ("branches", -1, {"architectures": ("volta",)}, "volta"),
        ("branches", 1, {"end_of_support": "June 2026"}, "month"),
        ("branches", 1, {"status": "dead"}, "status"),
        ("toolkits", 0, {"release": "12.0"}, "not of"),
        ("toolkits", 0, {"bundled_driver": "440.33.01"}, "older"),
        ("toolkits", 1, {"min_driver": "530.30.02", "release": "12.0"}, "differs"),
        ("systems", 0, {"repository": "debian11"}, "repository"),
        ("systems", 0, {"engine": ()}, "not known"),
        ("systems", 0, {"kernel_image": None}, "kernel is not known"),
        ("repositories", 0, {"fingerprint": "3BF863CC"}, "fingerprint"),
        ("prices", 0, {"instance": "p9.huge"}, "unknown instance type"),
        ("prices", 0, {"offer": "reserved"}, "unknown offer"),
        ("prices", 0, {"usd_hour": 0.0}, "costs nothing"),
        ("prices", 0, {"since": "2026-07"}, "since when"),
        ("prices", 1, {"instance": "g4dn.xlarge"}, "price the same"),
        ("rates", 0, {"unit": "day"}, "unknown unit"),
        ("rates", 0, {"usd": 0.0}, "costs nothing"),
        ("rates", 0, {"since": "2026"}, "since when"),
        ("rates", 0, {"id": "nat-gateway/eu-west-1"}, "is of the region us-east-1"),
        ("rates", 1, {"id": "nat-gateway/us-east-1", "region": "us-east-1"}, "price the same"),
        ("quotas", 0, {"code": "DB2E81BA"}, "no code"),
        ("quotas", 0, {"offer": "reserved"}, "no quota of the family G"),
        ("efa_layouts", 0, {"layout": "wide"}, "unknown instance type or layout"),
        ("efa_layouts", 0, {"interfaces": ("ena 0/0", "eth 1/1")}, "not KIND CARD/DEVICE"),
        ("efa_layouts", 0, {"interfaces": ("efa-only 0-31/1",)}, "no interface 0/0"),
        ("efa_layouts", 0, {"interfaces": ("ena 0/0", "efa-only 0-3/0")}, "two interfaces"),
        ("efa_layouts", 0, {"interfaces": ("ena 0/0", "efa-only 32/1")}, "has not"),
        ("efa_layouts", 0, {"interfaces": ("ena 0/0", "efa-only 0-31/1", "efa-only 0/2")}, "has 33 interfaces"),
        ("packages", 0, {"free": ("x",)}, "frees"),
        ("packages", 0, {"apart": ("nvidia-persistenced",)}, "apart"),
        ("packages", 0, {"modules": "proprietary"}, "same question"),
        ("packages", 0, {"packages": ("cuda-drivers",)}, "forbids"),
        ("services", 0, {"packages": ("x",)}, "ever locked"),
        ("services", 3, {"packages": ("nvidia-fabricmanager",)}, "nvidia-fabricmanager-570"),
        ("components", 0, {"patterns": ("(",)}, "regular expression"),
        ("dcgm", 0, {"versions": "<<<"}, "dcgm"),
        ("dcgm", 0, {"verdict": "maybe"}, "verdict"),
        ("instances", 0, {"gpu": "T5"}, "unknown GPU"),
        ("instances", 0, {"gpu": ""}, "in one field"),
        ("instances", -1, {"gpus": 1}, "in one field"),
        ("instances", 0, {"arch": "x86_64"}, "architecture"),
        ("instances", 0, {"vcpus": 0}, "no CPU"),
        ("images", 0, {"os": "debian-11"}, "not named"),
        ("images", 0, {"owner": "debian"}, "no account"),
        ("images", 0, {"arch": "arm64", "id": "debian-12-arm64"}, "no base image for debian-12"),
        ("never", 0, {"pattern": "("}, "never: cuda"),
        ("gpus", 0, {"min_driver": "R580"}, "numbers with dots"),
        ("branches", 0, {"releases": ("470.x",)}, "numbers with dots"),
        ("branches", 0, {"id": "R470"}, "R470 is no number"),
        ("systems", 0, {"kernel": "new"}, "numbers with dots"),
        ("frameworks", 0, {"cuda": "cu130"}, "numbers with dots"),
        ("retired", 0, {"pattern": "("}, "regular expression"),
        ("retired", 0, {"pattern": "g6.+"}, "retired has it as p3"),
        ("gpus", 20, {"min_driver": "470.1"}, "its architecture's"),
        ("branches", 1, {"releases": ("535.104.05", "535.54.03", "535.309.01")}, "not in order"),
        ("branches", 2, {"max_cuda": "12.1"}, "550 reports an older CUDA than 535"),
        ("architectures", 7, {"max_branch": 515}, "ends before it begins"),
        ("packages", 0, {"max_branch": 500}, "ends before it begins"),
        ("frameworks", 0, {"python_max": "3.9"}, "the Python of"),
        ("gpus", 0, {"compute_capability": "60"}, "compute capability"),
        ("gpus", 8, {"mig_profiles": ("1g.6gb",)}, "PROFILE:MOST"),
        ("gpus", 8, {"mig_profiles": ("2g.12gb:3",)}, "more of the MIG profile"),
        ("branches", 1, {"releases": ("535.54.03",)}, "not its last"),
        ("branches", 1, {"releases": ("525.54.03", "535.309.01")}, "of another branch"),
        ("toolkits", 0, {"min_capability": "3"}, "compute capability"),
        ("systems", 0, {"guides": ("591",)}, "guide"),
        ("companions", 0, {"patterns": ("(",)}, "regular expression"),
        ("companions", 0, {"fabrics": ("nvbridge",)}, "fabric"),
        ("engines", 0, {"toolkit": "<<<"}, "docker"),
        ("engines", 0, {"min_version": "new"}, "docker"),
        ("variants", 0, {"cuda": "11.9"}, "named after"),
        ("variants", 0, {"cuda": "14.0", "id": "cu140"}, "no toolkit"),
        ("variants", 0, {"min_driver": "460.1"}, "different lowest"),
        ("frameworks", 1, {"variants": ("cu999",)}, "variant"),
        ("frameworks", 1, {"version": "2.15.0"}, "two rows"),
        ("ngc", 0, {"cuda": "12.4.9"}, "unknown CUDA"),
        ("xids", 0, {"id": "Xid 8"}, "no code"),
        ("dcgm", 2, {"sources": ("exp707",)}, "no row uses the source dcgm314"),
    ],
)
def test_each_check_can_fail(name: str, index: int, values: dict[str, Any], word: str) -> None:
    assert any(word in problem for problem in verify.problems(changed(name, index, **values)))
