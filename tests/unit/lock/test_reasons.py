"""Why packages move: cases as data, each two locks made one after the other."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from lock_cases import lock_of

from gpuprov.lock.moves import moves
from gpuprov.lock.pool_input import FrameworkNeed, FrameworkRequest
from gpuprov.lock.reasons import Reasons
from gpuprov.lock.types import Lock, LockedFramework, LockedFrameworks, LockedWheel

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "lock" / "moves.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_move_is_told_with_its_reason(case: dict[str, Any]) -> None:
    before: Lock | None = None
    if "before" in case:
        made, _, _ = lock_of({**case, **case["before"]})
        assert isinstance(made, Lock), made
        before = made
    last = {**case, **case["after"]}
    after, pools, indexes = lock_of(last, before)
    assert isinstance(after, Lock), after
    reasons = Reasons(
        before=before,
        after=after,
        upgrade=frozenset(last.get("upgrade", [])),
        pools={pool.pool: pool for pool in pools},
        indexes=indexes,
    )
    found = [
        f"{m.name} {m.before or '-'} -> {m.after or '-'} [{' '.join(m.pools)}] {m.why}".rstrip()
        for m in moves(before, after, reasons.why)
    ]
    assert found == case["expect"]


def _with_python(versions: dict[str, str], specifier: str, sha256: str = "a" * 64) -> Lock:
    lock, _, _ = lock_of({"index": {"os": [{"is": "htop 3"}]}, "requests": ["htop"]})
    assert isinstance(lock, Lock)
    need = FrameworkNeed(
        python="3.11",
        platform="x86_64-manylinux_2_36",
        requests=(FrameworkRequest(name="torch[opt]", specifier=specifier, source="pypi"),),
        indexes={},
    )
    packages = tuple(
        LockedFramework(
            name=name,
            version=version,
            source="pypi",
            wheels=(LockedWheel(filename=f"{name}.whl", sha256=sha256, size=1),),
        )
        for name, version in versions.items()
    )
    pool = replace(lock.pools["train"], frameworks=LockedFrameworks(need=need, packages=packages))
    return replace(lock, pools={"train": pool})


@pytest.mark.parametrize(
    ("after", "upgrade", "expected"),
    [
        (
            _with_python({"torch": "2.9.1", "numpy": "2.1"}, "==2.9.*"),
            (),
            {
                "Python package numpy": "2.0 -> 2.1: follows the Python packages that are asked for",
                "Python package torch": "2.8.0 -> 2.9.1: stack.frameworks asks for torch[opt]==2.9.*",
            },
        ),
        (
            _with_python({"torch": "2.8.1", "numpy": "2.0"}, "==2.8.*"),
            ("torch",),
            {"Python package torch": "2.8.0 -> 2.8.1: --upgrade"},
        ),
        (
            _with_python({"torch": "2.8.0"}, "==2.8.*", sha256="b" * 64),
            (),
            {
                "Python package numpy": "2.0 -> : nothing needs it any more",
                "Python package torch": f"2.8.0 (files torch.whl {'a' * 12}) -> 2.8.0 (files torch.whl {'b' * 12}): "
                "its index offers other files under it",
            },
        ),
        (_with_python({"torch": "2.8.0", "numpy": "2.0"}, "==2.8.*"), (), {}),
    ],
)
def test_python_packages_move_with_their_reasons(
    after: Lock, upgrade: tuple[str, ...], expected: dict[str, str]
) -> None:
    before = _with_python({"torch": "2.8.0", "numpy": "2.0"}, "==2.8.*")
    reasons = Reasons(before=before, after=after, upgrade=frozenset(upgrade), pools={}, indexes={})
    assert {m.name: f"{m.before} -> {m.after}: {m.why}" for m in moves(before, after, reasons.why)} == expected
