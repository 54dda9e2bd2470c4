"""Each case is what changes in lock, spec or pool, and what the want must then hold."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from framework_builders import locked_frameworks
from host_builders import COMPONENTS, VERSIONS, make_lock, make_pool, make_spec, make_want

from gpuprov.model.diagnostic import GpuprovError, Span
from gpuprov.spec.stack import ContainerSpec
from gpuprov.spec.types import PoolSpec
from gpuprov.want.components import Components
from gpuprov.want.expectations import expectations
from gpuprov.want.files import PINS_PATH, pins_file
from gpuprov.want.host import host_want
from gpuprov.want.pool import pool_want
from gpuprov.want.types import DriverWant, GpuWant, Merge, Owned, PoolWant

CASES = sorted((next(p for p in Path(__file__).parents if p.name == "tests") / "cases" / "want").glob("*.yaml"))


def want_of(options: dict[str, Any]) -> PoolWant:
    changed = {**VERSIONS, **options.get("versions", {})}
    versions = {name: version for name, version in changed.items() if version is not None}
    pool = make_pool(gpus=options.get("gpus", True), driver=bool(options.get("driver", "580.95.05")))
    spec = make_spec(pool, options.get("files"), tuple(options.get("exporters", ["node", "dcgm"])))
    lock = make_lock(versions, options.get("driver", "580.95.05"), options.get("kernel", ""))
    return pool_want(lock, spec, pool, "onprem", components=COMPONENTS)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_want(path: Path) -> None:
    case = yaml.safe_load(path.read_text())
    want = want_of(case.get("given", {}))
    expected = case["want"]
    found = {
        "packages": {package.name: package.version for package in want.packages},
        "files": {file.path: file.text for file in want.files},
        "paths": [file.path for file in want.files],
        "merged": [file.path for file in want.files if file.merge is Merge.JSON],
        "sources": {source.path: source.text for source in want.sources},
        "keys": {source.key_path: source.key_text for source in want.sources},
        "services": {service.name: list(service.packages) for service in want.services},
        "exporters": list(want.exporters),
        "driver": want.driver and {"version": want.driver.version, "modules": want.driver.modules},
        "on_disk": want.on_disk,
        "gpus": want.gpu and want.gpu.count,
        "verify": list(want.verify),
    }
    for key, value in expected.items():
        if key == "files":
            assert {path: found["files"].get(path) for path in value} == value
        else:
            assert found[key] == value, key


def test_there_are_cases() -> None:
    assert len(CASES) > 5


@pytest.mark.parametrize("pool", [make_pool(), make_pool(gpus=False)], ids=["GPUs", "no GPU"])
def test_both_targets_expect_the_same_of_a_host(pool: PoolSpec) -> None:
    rack, cloud = (
        pool_want(make_lock(), make_spec(pool), pool, target, components=COMPONENTS) for target in ("onprem", "cloud")
    )
    assert (rack.target, cloud.target) == ("onprem", "cloud")
    assert replace(rack, target="", digest="") == replace(cloud, target="", digest="")
    found = [expectations(host_want(want, "h"), Owned()) for want in (rack, cloud)]
    assert found[0] == found[1]
    assert len(found[0]) > 20


def test_the_digest_is_that_of_the_content() -> None:
    first, second = make_want().pool, make_want().pool
    assert first.digest == second.digest
    assert first.digest.startswith("sha256:")
    others = [
        make_want({**VERSIONS, "libcuda1": "580.95.06-1"}),
        make_want(files={"/etc/motd": "other\n"}),
        make_want(gpus=False),
    ]
    assert len({first.digest, *(other.pool.digest for other in others)}) == 4


def test_the_want_of_a_pool_holds_no_host() -> None:
    first, second = make_want(host="node-1"), make_want(host="node-2")
    assert first.pool == second.pool
    assert first.digest != second.digest


def test_the_driver_and_the_gpus() -> None:
    want = make_want().pool
    assert want.driver == DriverWant(version="580.95.05", modules="open")
    assert want.gpu == GpuWant(count=8, nvml_names=("NVIDIA H100 80GB HBM3",))


def test_a_gpu_without_a_name_is_refused() -> None:
    pool = make_pool()
    components = Components(units=(), nvml_names={"A100-SXM4-80GB": ("NVIDIA A100-SXM4-80GB",)})
    with pytest.raises(GpuprovError) as error:
        pool_want(make_lock(), make_spec(pool), pool, "onprem", components=components)
    diagnostic = error.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.address) == ("GP-CAT-002", "pools.train.gpu.model")
    assert "A100-SXM4-80GB" in diagnostic.hint


def test_a_pool_that_the_lock_lacks_is_refused() -> None:
    pool = replace(make_pool(), name="infer")
    with pytest.raises(GpuprovError) as error:
        pool_want(make_lock(), make_spec(pool), pool, "onprem", components=COMPONENTS)
    assert error.value.diagnostics[0].code == "GP-LOCK-004"


@pytest.mark.parametrize(
    ("path", "text", "word"),
    [
        ("/etc/apt/preferences.d/gpuprov.pref", "x", "gpuprov writes this path itself"),
        ("/etc/apt/sources.list.d/gpuprov-nvidia.sources", "x", "gpuprov writes this path itself"),
        ("/var/lib/gpuprov/owned.json", "{}", "gpuprov writes this path itself"),
        ("/etc/docker/daemon.json", "[]", "must be a JSON object"),
        ("/etc/docker/daemon.json", "data-root: x", "must be a JSON object"),
    ],
)
def test_a_file_of_the_spec_cannot_take_our_place(path: str, text: str, word: str) -> None:
    pool = make_pool()
    span = Span(file="gpuprov.yaml", line=7, column=3)
    spec = replace(make_spec(pool, {path: text}), spans={f'files["{path}"]': span})
    with pytest.raises(GpuprovError) as error:
        pool_want(make_lock(), spec, pool, "onprem", components=COMPONENTS)
    diagnostic = error.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.span) == ("GP-SPEC-005", span)
    assert word in diagnostic.summary


def test_frameworks_of_the_lock_are_wanted_with_every_digest_that_fits() -> None:
    pool, lock = make_pool(), make_lock()
    locked = replace(lock.pools["train"], frameworks=locked_frameworks())
    want = pool_want(
        replace(lock, pools={"train": locked}), make_spec(pool), pool, "onprem", components=COMPONENTS
    ).frameworks
    assert want is not None
    assert [(p.name, p.version, p.source, len(p.sha256)) for p in want.packages] == [
        ("numpy", "2.3.5", "pypi", 2),
        ("torch", "2.9.1+cu130", "cu130", 2),
    ]
    assert (want.python, want.indexes) == ("3.11", {"cu130": "http://index.example/cu130"})
    assert make_want().pool.frameworks is None


def test_a_mig_layout_is_refused_as_long_as_nothing_sets_it_up() -> None:
    pool = make_pool()
    assert pool.gpu is not None
    asked = replace(pool, gpu=replace(pool.gpu, mig={"1g.10gb": 7}))
    span = Span(file="gpuprov.yaml", line=9, column=1)
    spec = replace(make_spec(asked), spans={"pools.train.gpu.mig": span})
    with pytest.raises(GpuprovError) as caught:
        pool_want(make_lock(), spec, asked, "onprem", components=COMPONENTS)
    (found,) = caught.value.diagnostics
    assert (found.code, found.address, found.span) == ("GP-SPEC-006", "pools.train.gpu.mig", span)


def test_a_source_with_a_priority_has_it_on_the_host() -> None:
    pool, lock = make_pool(), make_lock()
    sources = tuple(replace(s, priority=100, selector="o=NVIDIA,l=CUDA") if s.on_host else s for s in lock.sources)
    want = pool_want(replace(lock, sources=sources), make_spec(pool), pool, "onprem", components=COMPONENTS)
    (pins,) = [file.text for file in want.files if file.path == PINS_PATH]
    assert pins.endswith("\nPackage: *\nPin: release o=NVIDIA,l=CUDA\nPin-Priority: 100\n")
    assert "Package: *" not in pins_file([]).text


def test_an_engine_reads_its_runtime_from_its_own_file() -> None:
    pool = make_pool()
    other = replace(pool, stack=replace(pool.stack, container=ContainerSpec(engine="containerd", toolkit="1.18.*")))
    docker, containerd = (
        pool_want(make_lock(), make_spec(each), each, "onprem", components=COMPONENTS) for each in (pool, other)
    )
    paths = [{file.path for file in want.files} for want in (docker, containerd)]
    assert paths[0] - paths[1] == {"/etc/docker/daemon.json"}
    assert (docker.containerd, containerd.containerd) == (False, True)
    versions = {name: version for name, version in VERSIONS.items() if name != "nvidia-container-toolkit"}
    assert not pool_want(make_lock(versions), make_spec(other), other, "onprem", components=COMPONENTS).containerd
