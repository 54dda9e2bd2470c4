from dataclasses import replace
from typing import Any

import pytest
from host_builders import make_want

from gpuprov.cloud.decide.baked import baked_digest, builder_want
from gpuprov.want.expectations import expectations
from gpuprov.want.host import host_want
from gpuprov.want.types import Owned, ServiceWant

WANT = make_want().pool


def test_the_builder_bakes_what_the_pool_needs() -> None:
    assert baked_digest(builder_want(WANT)) == baked_digest(WANT)
    assert builder_want(WANT).digest not in {WANT.digest, ""}


def test_the_builder_needs_no_gpu() -> None:
    built = builder_want(WANT)
    assert (built.driver, built.gpu, built.verify) == (None, None, ())
    assert built.on_disk == WANT.on_disk
    units = {service.name: (service.enabled, service.active) for service in built.services}
    assert units["nvidia-fabricmanager"] == (True, False)
    assert units["docker"] == (True, True)
    assert built.exporters == ("node",)
    assert built.packages == WANT.packages
    asked = {e.address for e in expectations(host_want(built, "builder"), Owned())}
    assert not {a for a in asked if a.startswith("gpu.")}
    assert not asked & {"stack.driver.loaded", "stack.driver.nvml", 'service["nvidia-fabricmanager"].active'}
    assert "stack.driver.on_disk" in asked
    assert 'service["nvidia-fabricmanager"].enabled' in asked


CHANGED: dict[str, dict[str, Any]] = {
    "a package's version": {"packages": (replace(WANT.packages[0], version="9"), *WANT.packages[1:])},
    "a package less": {"packages": WANT.packages[1:]},
    "a source": {"sources": (replace(WANT.sources[0], text="x"),)},
    "the pins": {"files": tuple(replace(f, text=f.text + "#") if f.path.endswith(".pref") else f for f in WANT.files)},
    "a unit": {"services": (*WANT.services, ServiceWant(name="x"))},
    "the driver on disk": {"on_disk": "1"},
    "the os": {"os": "debian-13"},
    "the arch": {"arch": "arm64"},
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED.keys())
def test_what_is_baked_changes_the_digest(change: dict[str, Any]) -> None:
    assert baked_digest(replace(WANT, **change)) != baked_digest(WANT)


KEPT: dict[str, dict[str, Any]] = {
    "a file of the spec": {"files": tuple(replace(f, text="!") if f.path == "/etc/motd" else f for f in WANT.files)},
    "a verify command": {"verify": ("true",)},
    "the pool's name": {"pool": "other"},
    "the target": {"target": "cloud"},
    "the order": {"packages": tuple(reversed(WANT.packages))},
    "the want's own digest": {"digest": "x"},
}


@pytest.mark.parametrize("change", KEPT.values(), ids=KEPT.keys())
def test_what_is_not_baked_makes_no_image_outdated(change: dict[str, Any]) -> None:
    assert replace(WANT, **change) != WANT
    assert baked_digest(replace(WANT, **change)) == baked_digest(WANT)


def test_a_builder_boots_the_kernel_and_is_not_rebooted_for_it() -> None:
    want = make_want(kernel="6.1.0-37-amd64").pool
    built = builder_want(want)
    assert (built.kernel, built.kernel_runs) == ("6.1.0-37-amd64", False)
    wanted = {e.address for e in expectations(host_want(built, "b"), Owned())}
    assert "host.kernel.next" in wanted
    assert "host.kernel.release" not in wanted
    assert baked_digest(built) == baked_digest(want) != baked_digest(make_want().pool)
