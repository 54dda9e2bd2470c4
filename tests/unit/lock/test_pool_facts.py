"""What the rules get to see: of a spec as much as it says, of a lock the exact versions."""

from pathlib import Path

import pytest
import yaml

from gpuprov.lock.compatibility import check_lock
from gpuprov.lock.pool_facts import instance_facts, pool_facts, with_lock
from gpuprov.lock.pool_input import FrameworkNeed, FrameworkRequest
from gpuprov.lock.types import Lock, LockedFramework, LockedFrameworks, LockedPool, LockedSource
from gpuprov.model.package import PackageRow
from gpuprov.rules.facts import FrameworkFacts
from gpuprov.spec.decode import load
from gpuprov.spec.types import Spec

FOLDER = Path(__file__).parents[2] / "cases" / "spec"
BASE = yaml.safe_load((FOLDER / "refused.yaml").read_text())["base"]
CLOUD = yaml.safe_load((FOLDER / "cloud.yaml").read_text())["base"]
KEY = "02182E60104FCDC26EAE1B8597A5D4CB8793F200"


def spec_of(text: str) -> Spec:
    spec, wrong = load(text, "gpuprov.yaml")
    assert spec is not None, wrong
    return spec


def locked(packages: dict[str, str], *, driver: str = "580.95.05", torch: str = "", index: str = "") -> Lock:
    """A lock of one pool; with `torch` it has the framework, from an index where one is given."""
    rows = tuple(
        PackageRow(name=name, version=version, arch="amd64", source="nvidia", sha256="0")
        for name, version in packages.items()
    )
    need = FrameworkNeed(
        python="3.11",
        platform="x86_64-manylinux_2_36",
        requests=(FrameworkRequest(name="torch", specifier="", source="pytorch" if index else "pypi"),),
        indexes={"pytorch": index} if index else {},
    )
    wheels = (LockedFramework(name="torch", version=torch, source="pypi", wheels=()),)
    pool = LockedPool(
        pool="train",
        os="debian-12",
        arch="amd64",
        requests=(),
        packages=rows,
        bounds=(),
        driver=driver,
        frameworks=LockedFrameworks(need=need, packages=wheels) if torch else None,
    )
    source = LockedSource(name="nvidia", url="https://x", suite="/", components=(), fingerprints=(KEY,), on_host=True)
    return Lock(spec_inputs="", catalog_inputs={}, sources=(source,), pools={"train": pool}, digest="")


def test_a_spec_says_what_it_fixes() -> None:
    spec = spec_of(BASE.replace('"580.*"', '"580.95.05-1"').replace('"1.18.*"', '">=1.18,<1.20"'))
    facts = pool_facts(spec, spec.pools["train"])
    assert (facts.driver, facts.branches, facts.modules) == ("580.95.05", (580,), "open")
    assert (facts.gpu_models, facts.cuda, facts.os, facts.arch) == (("H100-SXM5-80GB",), "13.0", "debian-12", "amd64")
    assert (facts.engine, facts.toolkit) == ("docker", "")
    assert facts.packages == ("htop",)
    assert facts.locked == {}


@pytest.mark.parametrize(
    ("written", "facts"),
    [
        ('{torch: "2.9.*"}', (FrameworkFacts(name="torch", version="2.9"),)),
        ('{torch: "==2.9.1"}', (FrameworkFacts(name="torch", version="2.9.1"),)),
        ('{torch: "2.11.0+cu130"}', (FrameworkFacts(name="torch", version="2.11.0", variant="cu130"),)),
        ('{"jax[cuda13]": "0.10.*"}', (FrameworkFacts(name="jax[cuda13]", version="0.10"),)),
        ('{torch: ">=2.8,<3"}', ()),
        ("{torch: null}", ()),
    ],
)
def test_what_of_frameworks_is_known_before_the_lock(written: str, facts: tuple[FrameworkFacts, ...]) -> None:
    spec = spec_of(BASE.replace('cuda: "13.0"', f"frameworks: {written}"))
    assert pool_facts(spec, spec.pools["train"]).frameworks == facts


def test_a_lock_says_the_rest() -> None:
    spec = spec_of(BASE)
    lock = locked(
        {
            "nvidia-driver-cuda": "580.105.08-1",
            "nvidia-container-toolkit": "1.18.2-1",
            "datacenter-gpu-manager-4-core": "1:4.6.1-1",
        },
        driver="580.105.08",
        torch="2.11.0+cu128",
    )
    facts = with_lock(pool_facts(spec, spec.pools["train"]), lock.pools["train"], lock, "nvidia")
    assert (facts.driver, facts.branches, facts.toolkit, facts.dcgm) == ("580.105.08", (580,), "1.18.2", "4.6.1")
    assert facts.source_keys == (KEY,)
    assert facts.frameworks == (FrameworkFacts(name="torch", version="2.11.0", variant="cu128"),)
    assert facts.locked["nvidia-driver-cuda"] == "580.105.08-1"


def test_the_variant_of_a_locked_framework_may_be_its_index() -> None:
    spec = spec_of(BASE)
    lock = locked({}, torch="2.11.0", index="https://mirror.example/whl/cu126/")
    facts = with_lock(pool_facts(spec, spec.pools["train"]), lock.pools["train"], lock, "nvidia")
    assert facts.frameworks == (FrameworkFacts(name="torch", version="2.11.0", variant="cu126"),)


def test_a_locked_framework_is_judged_by_the_locked_driver() -> None:
    spec = spec_of(BASE.replace('cuda: "13.0"', 'frameworks: {torch: ">=2.8"}'))
    wrong = check_lock(locked({}, driver="580.65.05", torch="2.11.0+cu130"), spec, today="2026-11-30")
    assert [d.code for d in wrong] == ["GP-RULE-011"]
    right = check_lock(locked({}, driver="580.95.05", torch="2.11.0+cu130"), spec, today="2026-11-30")
    assert right == ()


def test_instances_are_those_of_the_pools_and_the_builder() -> None:
    found = list(instance_facts(spec_of(CLOUD)))
    assert [facts.type for facts in found][-1] == "c7i.2xlarge"
    assert found[0].region == "us-east-1"
    assert found[0].market == "on-demand"
    assert list(instance_facts(spec_of(BASE))) == []
