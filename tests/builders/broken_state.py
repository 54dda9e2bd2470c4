"""A stack's state in files, spoiled for as long as a context lasts."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def found_state(folder: Path) -> Path:
    """The one state file below a spec's folder."""
    (found,) = (folder / ".gpuprov").rglob(".pulumi/stacks/*/*.json")
    return found


@contextmanager
def locked_by_another(folder: Path) -> Iterator[None]:
    """A lock of the engine, taken on another machine."""
    state = found_state(folder)
    locks = state.parents[2] / "locks" / "organization" / state.parent.name / state.stem
    locks.mkdir(parents=True, exist_ok=True)
    lock = locks / "00000000-0000-4000-8000-000000000000.json"
    holder = {"pid": 1, "username": "somebody", "hostname": "elsewhere", "timestamp": "2026-11-30T02:04:42Z"}
    lock.write_text(json.dumps(holder), encoding="utf-8")
    try:
        yield
    finally:
        lock.unlink()


@contextmanager
def cut_state(folder: Path) -> Iterator[None]:
    """Half a state file, as a full disk leaves it."""
    state = found_state(folder)
    text = state.read_text(encoding="utf-8")
    state.write_text(text[: len(text) // 2], encoding="utf-8")
    try:
        yield
    finally:
        state.write_text(text, encoding="utf-8")
