"""What of an answer is pinned, what an earlier lock keeps, and that order changes nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gpuprov.lock.index import MemoryIndex
from gpuprov.lock.make import ALL, LockInputs, is_os_source, make_lock, spec_inputs
from gpuprov.lock.pool_input import EqualSet, PoolInput, Request
from gpuprov.lock.text import write_lock
from gpuprov.lock.types import Lock, LockedSource
from gpuprov.model.diagnostic import Span
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.spec.stack import DriverSpec, StackSpec
from gpuprov.spec.types import FileSpec, GpuSpec, PoolSpec, Spec

IndexOf = Callable[[Any], MemoryIndex]
OS = [
    {"is": "libc6 2.36-9"},
    {"is": "dkms 3.0.10-8"},
    {"is": "mta 1", "provides": "mail"},
    {"is": "docker.io 20.10-1", "depends": "libc6 (>= 2.34)"},
]
VENDOR = [
    {"is": f"{name} {version}", **more}
    for version in ("580.95.05-1", "590.48.01-1")
    for name, more in {
        "nvidia-open": {"depends": f"nvidia-kernel-open-dkms (= {version}), libcuda1 (>= 580), mail | none"},
        "nvidia-kernel-open-dkms": {"depends": "dkms (>= 3.0)"},
        "libcuda1": {"depends": "libc6 (>= 2.28)"},
    }.items()
]
DRIVER = EqualSet(label="driver", driver=True, names=frozenset({"nvidia-open", "nvidia-kernel-open-dkms"}))


def _source(name: str, *, on_host: bool = True) -> LockedSource:
    return LockedSource(
        name=name, url=f"https://{name}.example", suite="/", components=(), fingerprints=("AA",), on_host=on_host
    )


def _request(name: str, constraint: str = "") -> Request:
    return Request(name=name, constraint=constraint, source="", address=f"stack.{name}")


def _pool(name: str, *requests: Request) -> PoolInput:
    return PoolInput(pool=name, os="debian-12", arch="amd64", requests=requests, equal=(DRIVER,))


@pytest.fixture
def inputs(index_of: IndexOf) -> LockInputs:
    index = index_of({"os/bookworm": OS, "nvidia": VENDOR})
    return LockInputs(
        spec_inputs="sha256:1",
        catalog_inputs={"gpus.X": "2"},
        pin="owned",
        sources=(_source("os/bookworm", on_host=False), _source("nvidia")),
        pools=(_pool("train", _request("nvidia-open", "580.*"), _request("docker.io")),),
        indexes={("debian-12", "amd64"): index},
    )


def _lock(inputs: LockInputs) -> Lock:
    lock = make_lock(inputs)
    assert isinstance(lock, Lock), lock
    return lock


def _rows(lock: Lock, pool: str = "train") -> list[str]:
    return [f"{row.name} {row.version}" for row in lock.pools[pool].packages]


def test_owned_pins_requests_and_what_other_sources_bring(inputs: LockInputs) -> None:
    lock = _lock(inputs)
    assert _rows(lock) == [
        "docker.io 20.10-1",
        "libcuda1 580.95.05-1",
        "nvidia-kernel-open-dkms 580.95.05-1",
        "nvidia-open 580.95.05-1",
    ]
    assert lock.pools["train"].driver == "580.95.05"


def test_what_the_archive_must_offer_is_recorded_as_bounds(inputs: LockInputs) -> None:
    bounds = [(b.name, b.relation, b.version, b.needed_by) for b in _lock(inputs).pools["train"].bounds]
    assert bounds == [
        ("dkms", ">=", "3.0", "nvidia-kernel-open-dkms"),
        ("libc6", ">=", "2.28", "libcuda1"),
        ("libc6", ">=", "2.34", "docker.io"),
        ("mta", "", "", "nvidia-open"),
    ]


def test_closure_pins_everything_and_needs_no_bounds(inputs: LockInputs) -> None:
    lock = _lock(replace(inputs, pin="closure"))
    assert [name for name in ("libc6 2.36-9", "dkms 3.0.10-8", "mta 1") if name not in _rows(lock)] == []
    assert lock.pools["train"].bounds == ()


def test_the_order_of_sources_pools_and_requests_changes_no_byte(inputs: LockInputs) -> None:
    pools = (*inputs.pools, _pool("infer", _request("docker.io")))
    one = _lock(replace(inputs, pools=pools))
    other = _lock(replace(inputs, pools=pools[::-1], sources=inputs.sources[::-1]))
    assert write_lock(one) == write_lock(other)


def test_of_the_archive_just_the_used_suites_are_recorded(inputs: LockInputs) -> None:
    more = (*inputs.sources, _source("os/bookworm-updates", on_host=False), _source("site"))
    assert [s.name for s in _lock(replace(inputs, sources=more)).sources] == ["nvidia", "os/bookworm", "site"]


def test_an_earlier_lock_keeps_its_versions_until_an_upgrade_is_asked_for(inputs: LockInputs) -> None:
    before = _lock(inputs)
    open_ended = (_pool("train", _request("nvidia-open"), _request("docker.io")),)
    again = replace(inputs, pools=open_ended, previous=before)
    assert _rows(_lock(again)) == _rows(before)
    for upgrade in ({"nvidia-open"}, {"nvidia-kernel-open-dkms"}, {ALL}):
        moved = _lock(replace(again, upgrade=frozenset(upgrade)))
        assert "nvidia-open 590.48.01-1" in _rows(moved)
        assert "libcuda1 590.48.01-1" in _rows(moved)
    assert _rows(_lock(replace(again, upgrade=frozenset({"docker.io"})))) == _rows(before)


def test_an_earlier_lock_of_another_os_keeps_nothing(inputs: LockInputs) -> None:
    before = _lock(inputs)
    changed = replace(before, pools={"train": replace(before.pools["train"], os="debian-13")})
    again = replace(inputs, pools=(_pool("train", _request("nvidia-open")),), previous=changed)
    assert "nvidia-open 590.48.01-1" in _rows(_lock(again))


def test_the_problems_of_all_pools_are_told(inputs: LockInputs) -> None:
    wrong = make_lock(replace(inputs, pools=(_pool("a", _request("gone")), _pool("b", _request("docker.io", "99.*")))))
    assert isinstance(wrong, tuple)
    assert [d.code for d in wrong] == ["GP-LOCK-001", "GP-LOCK-002"]


def test_the_archive_is_known_by_its_name_or_by_not_being_written_on_hosts() -> None:
    sources = (_source("mirror", on_host=False), _source("nvidia"))
    answers = {
        name: is_os_source(name, sources) for name in ("os", "os/bookworm", "os-updates", "mirror", "nvidia", "osmium")
    }
    assert answers == {
        "os": True,
        "os/bookworm": True,
        "os-updates": True,
        "mirror": True,
        "nvidia": False,
        "osmium": False,
    }


def _spec() -> Spec:
    stack = StackSpec(driver=DriverSpec(version="580.*"))
    pool = PoolSpec(
        name="train",
        os="debian-12",
        gpu=GpuSpec(model="H100-SXM5-80GB", per_host=8),
        onprem=None,
        rollout=RolloutSpec(),
        stack=stack,
    )
    return Spec(
        path="gpuprov.yaml",
        name="x",
        os="debian-12",
        sources={},
        stack=stack,
        pools={"train": pool},
        files=(),
        exporters=(),
        verify=(),
        inventory=None,
        pin="owned",
        waivers=(),
        digest="sha256:0",
    )


def test_only_what_a_lock_depends_on_makes_it_stale() -> None:
    spec = _spec()
    pool = spec.pools["train"]
    same = [
        replace(spec, files=(FileSpec(path="/etc/motd", text="x"),), verify=("true",), digest="sha256:9"),
        replace(spec, spans={"os": Span(file="f", line=1, column=1)}, path="/elsewhere/gpuprov.yaml"),
        replace(spec, pools={"train": replace(pool, rollout=RolloutSpec(batch="50%"), verify=("false",))}),
        replace(spec, pools={"train": replace(pool, gpu=GpuSpec(model="H100-SXM5-80GB", per_host=4))}),
    ]
    other = [
        replace(spec, pin="closure"),
        replace(spec, pools={"train": replace(pool, stack=StackSpec(driver=DriverSpec(version="590.*")))}),
        replace(spec, pools={"train": replace(pool, gpu=GpuSpec(model="B200-SXM6-180GB", per_host=8))}),
        replace(spec, pools={"train": replace(pool, os="debian-13")}),
    ]
    assert {spec_inputs(each) for each in same} == {spec_inputs(spec)}
    assert len({spec_inputs(each) for each in (spec, *other)}) == len(other) + 1
