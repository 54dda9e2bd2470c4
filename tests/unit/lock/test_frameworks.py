"""Frameworks of a pool: what is asked for, what of an earlier lock stays, and when a lock has them no longer right."""

from dataclasses import replace
from typing import Any

import pytest

from gpuprov.document.envelope import seal
from gpuprov.lock.frameworks import framework_need, kept_frameworks, preferred_versions
from gpuprov.lock.make import LockInputs, make_lock
from gpuprov.lock.moves import moves
from gpuprov.lock.pool_input import FrameworkNeed, FrameworkRequest, PoolInput
from gpuprov.lock.text import KIND, read_lock, write_lock
from gpuprov.lock.types import Lock, LockedFramework, LockedFrameworks, LockedWheel
from gpuprov.lock.verdict import Stale, framework_row_reasons, judge
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.decode import load
from gpuprov.spec.types import Spec

TEXT = """apiVersion: gpuprov/v1
name: site
os: {os}
sources: {{pytorch: {{type: python, url: "https://h/cu130"}}, unused: {{type: python, url: "https://h/cu126"}}}}
stack: {{frameworks: {asked}}}
pools: {{cpu: {{gpu: none}}}}
"""


def spec_of(asked: str, os: str = "debian-12") -> Spec:
    spec, wrong = load(TEXT.format(asked=asked, os=os), "gpuprov.yaml")
    assert spec is not None, wrong
    return spec


def need_of(asked: str, *, os: str = "debian-12", arch: str = "amd64") -> FrameworkNeed | None:
    spec = spec_of(asked, os)
    return framework_need(spec, spec.pools["cpu"], arch)


@pytest.mark.parametrize(
    ("written", "specifier"),
    [
        ("2.9.*", "==2.9.*"),
        ("2.9.1", "==2.9.1"),
        ("2.9.1+cu130", "==2.9.1+cu130"),
        (">=2.8, <3", ">=2.8,<3"),
        ("~=2.9, !=2.9.0", "~=2.9,!=2.9.0"),
        ("*", ""),
    ],
)
def test_a_version_becomes_a_specifier(written: str, specifier: str) -> None:
    need = need_of(f'{{torch: "{written}"}}')
    assert need is not None
    assert need.requests == (FrameworkRequest(name="torch", specifier=specifier, source="pypi"),)


@pytest.mark.parametrize(
    ("os", "arch", "python", "platform"),
    [
        ("debian-12", "amd64", "3.11", "x86_64-manylinux_2_36"),
        ("debian-12", "arm64", "3.11", "aarch64-manylinux_2_36"),
        ("debian-13", "amd64", "3.13", "x86_64-manylinux_2_40"),  # glibc 2.41, and uv has no platform above 2.40
    ],
)
def test_frameworks_are_locked_for_the_python_of_the_hosts(os: str, arch: str, python: str, platform: str) -> None:
    need = need_of('{torch: "2.9.*"}', os=os, arch=arch)
    assert need is not None
    assert (need.python, need.platform) == (python, platform)


def test_only_indexes_that_are_used_count() -> None:
    need = need_of('{torch: {version: "2.9.*", source: pytorch}, "jax[cuda13]": "0.10.*"}')
    assert need is not None
    assert need.indexes == {"pytorch": "https://h/cu130"}
    assert [(r.name, r.source) for r in need.requests] == [("jax[cuda13]", "pypi"), ("torch", "pytorch")]
    assert need_of("{}") is None
    assert need_of("{torch: null}") is None


def test_an_os_without_a_known_python_is_refused() -> None:
    spec = spec_of('{torch: "2.9.*"}')
    with pytest.raises(GpuprovError, match="GP-CAT-002"):
        framework_need(spec, replace(spec.pools["cpu"], os="rhel-9"), "amd64")


NEED = FrameworkNeed(
    python="3.11",
    platform="x86_64-manylinux_2_36",
    requests=(FrameworkRequest(name="torch", specifier="==2.9.*", source="pytorch"),),
    indexes={"pytorch": "https://h/cu130"},
)


def wheel(name: str, version: str, digit: str = "a") -> LockedWheel:
    return LockedWheel(filename=f"{name}-{version}-py3-none-any.whl", sha256=digit * 64, size=10)


def frameworks_of(*, need: FrameworkNeed = NEED, torch: str = "2.9.1") -> LockedFrameworks:
    rows = [("torch", torch, "pytorch"), ("sympy", "1.14.0", "pypi")]
    return LockedFrameworks(
        need=need,
        packages=tuple(
            LockedFramework(name=name, version=version, source=source, wheels=(wheel(name, version),))
            for name, version, source in sorted(rows)
        ),
    )


def lock_of(frameworks: LockedFrameworks | None) -> Lock:
    pool = PoolInput(pool="cpu", os="debian-12", arch="amd64", requests=())
    inputs: dict[str, Any] = {
        "spec_inputs": "s",
        "catalog_inputs": {"gpus.X": "c"},
        "pin": "owned",
        "sources": (),
        "indexes": {},
    }
    index: Any = object()  # nothing is asked for, so nothing is asked of it
    inputs["indexes"] = {("debian-12", "amd64"): index}
    found = {"cpu": frameworks} if frameworks is not None else {}
    made = make_lock(LockInputs(pools=(pool,), frameworks=found, **inputs))
    assert isinstance(made, Lock)
    return made


def test_the_lock_holds_them_and_reads_them_back() -> None:
    lock = lock_of(frameworks_of())
    text = write_lock(lock)
    assert read_lock(text, "gpuprov.lock") == lock
    assert lock.pools["cpu"].frameworks == frameworks_of()
    assert "frameworks" not in write_lock(lock_of(None))
    assert read_lock(write_lock(lock_of(None)), "gpuprov.lock").pools["cpu"].frameworks is None


@pytest.mark.parametrize("missing", ["python", "platform", "indexes", "requests", "packages"])
def test_a_lock_without_a_part_of_them_is_refused(missing: str) -> None:
    row: dict[str, Any] = {"python": "3.11", "platform": "p", "indexes": [], "requests": [], "packages": []}
    del row[missing]
    pool = {"os": "debian-12", "arch": "amd64", "driver": "", "requests": [], "packages": [], "bounds": []}
    body = {"spec_inputs": "", "catalog_inputs": {}, "sources": [], "pools": {"cpu": pool | {"frameworks": row}}}
    with pytest.raises(GpuprovError) as caught:
        read_lock(seal(KIND, body), "gpuprov.lock")
    (found,) = caught.value.diagnostics
    assert (found.code, found.address) == ("GP-DOC-008", f"pools.cpu.frameworks.{missing}")


def test_what_is_asked_for_as_before_stays_and_asks_no_index() -> None:
    lock = lock_of(frameworks_of())
    assert kept_frameworks(lock, {"cpu": NEED}, ()) == {"cpu": frameworks_of()}
    other = replace(NEED, requests=(FrameworkRequest(name="torch", specifier="==2.8.*", source="pytorch"),))
    for need in (other, replace(NEED, python="3.13"), replace(NEED, indexes={"pytorch": "https://h/cu128"})):
        assert kept_frameworks(lock, {"cpu": need}, ()) == {}
    for released in ({"*"}, {"sympy"}):
        assert kept_frameworks(lock, {"cpu": NEED}, released) == {}
    assert kept_frameworks(lock, {"cpu": NEED}, {"htop"}) == {"cpu": frameworks_of()}
    assert kept_frameworks(lock, {"gpu": NEED}, ()) == {}
    assert kept_frameworks(None, {"cpu": NEED}, ()) == {}


def test_versions_of_the_lock_before_are_preferred_unless_they_may_move() -> None:
    lock = lock_of(frameworks_of())
    assert preferred_versions(lock, "cpu", ()) == {"sympy": "1.14.0", "torch": "2.9.1"}
    assert preferred_versions(lock, "cpu", {"torch"}) == {"sympy": "1.14.0"}
    assert preferred_versions(lock, "cpu", {"*"}) == {}
    assert preferred_versions(None, "cpu", ()) == {}


def test_their_moves_are_told() -> None:
    before, after = lock_of(frameworks_of()), lock_of(frameworks_of(torch="2.9.2"))
    assert [(m.name, m.before, m.after, m.source) for m in moves(before, after)] == [
        ("Python package torch", "2.9.1", "2.9.2", "pytorch")
    ]


def reasons(lock: Lock, need: FrameworkNeed | None) -> list[tuple[str, str, str]]:
    pool = PoolInput(pool="cpu", os="debian-12", arch="amd64", requests=(), frameworks=need)
    verdict = judge(
        lock, spec_inputs="s", catalog_inputs={"gpus.X": "c"}, sources=(), pools=(pool,), images=(), indexes=None
    )
    assert {reason.kind for reason in verdict.reasons} <= {Stale.SPEC}
    return [(reason.address, reason.locked, reason.found) for reason in verdict.reasons]


def test_a_lock_for_other_frameworks_is_stale_with_both_sides() -> None:
    lock = lock_of(frameworks_of())
    assert reasons(lock, NEED) == []
    asked = FrameworkRequest(name="torch", specifier="==2.8.*", source="pytorch")
    assert reasons(lock, replace(NEED, requests=(asked,))) == [
        ("pools.cpu: frameworks.torch", "torch==2.9.* from pytorch", "torch==2.8.* from pytorch")
    ]
    assert reasons(lock, replace(NEED, python="3.13")) == [
        ("pools.cpu: frameworks", "Python 3.11 on x86_64-manylinux_2_36", "Python 3.13 on x86_64-manylinux_2_36")
    ]
    assert reasons(lock, replace(NEED, indexes={"pytorch": "https://h/cu128"})) == [
        ("pools.cpu: sources.pytorch", "https://h/cu130", "https://h/cu128")
    ]
    assert len(reasons(lock, None)) == len(reasons(lock_of(None), NEED)) == 3


def test_a_file_that_is_withdrawn_or_changed_is_a_reason_and_a_new_one_beside_it_is_none() -> None:
    locked = frameworks_of()

    def offered(*torch: LockedWheel) -> tuple[LockedFramework, ...]:
        return tuple(replace(p, wheels=torch) if p.name == "torch" else p for p in locked.packages)

    own = wheel("torch", "2.9.1")
    newer = LockedWheel(filename="torch-2.9.1-py2-none-any.whl", sha256="c" * 64, size=1)
    assert list(framework_row_reasons("pools.cpu", locked, offered(newer, own))) == []
    (changed,) = framework_row_reasons("pools.cpu", locked, offered(replace(own, sha256="b" * 64)))
    assert (changed.kind, changed.found) == (Stale.CHANGED, f"sha256 {'b' * 64}")
    (gone,) = framework_row_reasons("pools.cpu", locked, offered(newer))
    assert (gone.kind, gone.found) == (Stale.WITHDRAWN, "no such file")
    assert gone.address == "pools.cpu: Python package torch"
    (none,) = framework_row_reasons("pools.cpu", locked, "torch has no version 2.9.1")
    assert (none.kind, none.found) == (Stale.WITHDRAWN, "torch has no version 2.9.1")
