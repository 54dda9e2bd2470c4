"""When the Python packages of a lock are kept, and when an index is asked."""

from collections.abc import Mapping

import pytest

from gpuprov.app.frameworks import locked_frameworks
from gpuprov.lock.pool_input import FrameworkNeed, FrameworkRequest, PoolInput
from gpuprov.lock.types import Lock, LockedFramework, LockedFrameworks, LockedPool, LockedWheel
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import ignore_progress
from gpuprov.sources.python_requirements import Uv


def need(specifier: str) -> FrameworkNeed:
    request = FrameworkRequest(name="torch", specifier=specifier, source="pypi")
    return FrameworkNeed(python="3.11", platform="x86_64-manylinux_2_36", requests=(request,), indexes={})


def pool(name: str, wanted: FrameworkNeed | None) -> PoolInput:
    return PoolInput(pool=name, os="debian-12", arch="amd64", requests=(), frameworks=wanted)


def answer(version: str) -> tuple[LockedFramework, ...]:
    wheel = LockedWheel(filename=f"torch-{version}.whl", sha256="a" * 64, size=1)
    return (LockedFramework(name="torch", version=version, source="pypi", wheels=(wheel,)),)


class Indexes:
    """Answers with one version, and keeps what it was asked."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    def __call__(self, wanted: FrameworkNeed, prefer: Mapping[str, str], uv: Uv) -> tuple[LockedFramework, ...]:
        self.asked.append((wanted.requests[0].specifier, prefer))
        if wanted.requests[0].specifier == "==99.*":
            raise GpuprovError(Diagnostic(code="GP-LOCK-008", summary="no versions", address="stack.frameworks"))
        return answer(self.version)


def lock_of(frameworks: Mapping[str, LockedFrameworks]) -> Lock:
    pools = {
        name: LockedPool(
            pool=name, os="debian-12", arch="amd64", requests=(), packages=(), bounds=(), driver="", frameworks=locked
        )
        for name, locked in frameworks.items()
    }
    return Lock(spec_inputs="", catalog_inputs={}, sources=(), pools=pools, digest="")


def locked(
    pools: list[PoolInput], before: Lock | None, indexes: Indexes, *upgrade: str
) -> Mapping[str, LockedFrameworks]:
    return locked_frameworks(pools, before, upgrade=frozenset(upgrade), report=ignore_progress, resolve=indexes)


def test_nothing_is_asked_for_pools_without_frameworks() -> None:
    indexes = Indexes("2.9.1")
    assert locked([pool("cpu", None)], None, indexes) == {}
    assert indexes.asked == []


def test_pools_that_ask_for_the_same_get_one_answer() -> None:
    indexes = Indexes("2.9.1")
    found = locked([pool("a", need("==2.9.*")), pool("b", need("==2.9.*")), pool("c", need("==2.8.*"))], None, indexes)
    assert [specifier for specifier, _ in indexes.asked] == ["==2.9.*", "==2.8.*"]
    assert found["a"] == found["b"]
    assert list(found) == ["a", "b", "c"]


def test_a_new_pool_takes_what_another_one_has_locked() -> None:
    before = lock_of({"a": LockedFrameworks(need=need("==2.9.*"), packages=answer("2.9.0"))})
    indexes = Indexes("2.9.1")
    found = locked([pool("a", need("==2.9.*")), pool("b", need("==2.9.*"))], before, indexes)
    assert indexes.asked == []
    assert found["b"].packages == answer("2.9.0")


def test_what_changed_is_asked_for_with_the_versions_to_keep() -> None:
    before = lock_of({"a": LockedFrameworks(need=need("==2.9.*"), packages=answer("2.9.0"))})
    indexes = Indexes("2.9.1")
    locked([pool("a", need(">=2.9"))], before, indexes)
    locked([pool("a", need("==2.9.*"))], before, indexes, "torch")
    locked([pool("a", need("==2.9.*"))], before, indexes, "htop")
    assert indexes.asked == [(">=2.9", {"torch": "2.9.0"}), ("==2.9.*", {})]


def test_the_trouble_of_all_pools_is_told_once() -> None:
    with pytest.raises(GpuprovError) as caught:
        locked(
            [pool("a", need("==99.*")), pool("b", need("==99.*")), pool("c", need("==2.9.*"))], None, Indexes("2.9.1")
        )
    assert [d.code for d in caught.value.diagnostics] == ["GP-LOCK-008"]
