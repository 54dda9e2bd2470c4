"""The Pulumi engine: where it is found, and whether this release can work with it."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.store.cache import cache_folder
from gpuprov.store.settings import PULUMI

PINNED: Final = "3.274.1"
"""The version that `gpuprov/lab/engine/go.mod` builds; tried with Python SDK 3.272 on 2026-11-30."""

OLDEST: Final = (3, 206, 0)
"""The engine sends its events over gRPC since 3.205 (tried 2026-11-30); before that they could be lost."""

_TIMEOUT: Final = 30
"""Seconds for `pulumi version`, which takes well under one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """A Pulumi engine that this release works with."""

    path: Path
    version: str
    """Such as `3.274.1`, without a leading v."""
    origin: str
    """`GPUPROV_PULUMI`, `PATH` or `cache`."""


def engine_cache(environment: Mapping[str, str], version: str = PINNED) -> Path:
    """The place of an engine in gpuprov's own cache; nothing may be there yet."""
    return cache_folder(environment) / "engine" / f"v{version}" / "pulumi"


def find_engine(environment: Mapping[str, str]) -> Engine:
    """Find the engine: the one named by GPUPROV_PULUMI and no other, else on PATH, else in gpuprov's own cache.

    Args:
        environment: variables: GPUPROV_PULUMI, GPUPROV_CACHE, PATH, HOME, XDG_CACHE_HOME.

    Raises:
        GpuprovError: GP-CLOUD-001 with what was looked at and the three ways to get one.
    """
    refused: list[str] = []
    for origin, path in _candidates(environment):
        version = _ask_version(path, environment)
        if isinstance(version, str):
            return Engine(path=path, version=version, origin=origin)
        refused.append(f"{path} ({origin}): {version.why}")
    named = environment.get(PULUMI, "")
    raise GpuprovError(
        Diagnostic(
            code="GP-CLOUD-001",
            summary=f"{PULUMI} names no Pulumi engine that works: {named}"
            if named
            else "the Pulumi engine, which makes the cloud's resources, cannot be found",
            detail="\n".join(
                [
                    *refused,
                    f"wanted: `pulumi` {'.'.join(map(str, OLDEST))} or newer, major version 3",
                    "" if named else f"looked in: PATH, {engine_cache(environment)}",
                ]
            ).rstrip(),
            hint=f"one of: install Pulumi's own release so that `pulumi` is on PATH; set {PULUMI} to the path of a"
            " pulumi program; in a checkout of gpuprov with Go, `make setup` builds it into the cache",
        )
    )


@dataclass(frozen=True, slots=True)
class _Refused:
    """Why a program cannot be used."""

    why: str


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Programs in the order in which they are tried; what a person names by hand is not second-guessed."""
    named = environment.get(PULUMI, "")
    if named:
        yield PULUMI, Path(named).expanduser().absolute()
        return
    on_path = shutil.which("pulumi", path=environment.get("PATH", os.defpath))
    if on_path:
        yield "PATH", Path(on_path).absolute()
    pinned = engine_cache(environment)
    rest = sorted(pinned.parent.parent.glob("v*/pulumi"), key=lambda path: _numbers(path.parent.name), reverse=True)
    for path in (pinned, *(other for other in rest if other != pinned)):
        if path.is_file():
            yield "cache", path


def _ask_version(path: Path, environment: Mapping[str, str]) -> str | _Refused:
    """Ask a program for its version; what it says it is counts, not where it lies."""
    try:
        done = subprocess.run(
            (str(path), "version"),
            env={**environment, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _Refused(f"`version` did not end within {_TIMEOUT} s")
    except OSError as error:
        return _Refused((error.strerror or str(error)).lower())
    said = done.stdout.strip()
    found = re.fullmatch(r"v?(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?)", said)
    if done.returncode or found is None:
        first = next(iter((said or done.stderr.strip()).splitlines()), "nothing")
        return _Refused(f"`version` ended with status {done.returncode} and said: {first[:200]}")
    numbers = _numbers(found[1])
    if numbers[0] != OLDEST[0] or numbers < OLDEST:
        return _Refused(f"it is version {found[1]}")
    return found[1]


def _numbers(version: str) -> tuple[int, int, int]:
    found = re.match(r"v?(\d+)\.(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2]), int(found[3])) if found else (0, 0, 0)
