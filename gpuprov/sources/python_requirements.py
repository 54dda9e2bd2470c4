"""Python packages through uv: resolved for the hosts' Python and C library, every file with its digest.

uv runs as a program in a folder of its own, with no configuration but what is written here: the same request gives
the same answer on every machine that sees the same indexes.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from gpuprov.lock.pool_input import FrameworkNeed
from gpuprov.lock.types import LockedFramework, LockedWheel
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report, ignore_progress
from gpuprov.sources.fetch import login_variable

_PYPI: Final = "pypi"
_IMPOSSIBLE: Final = "GP-LOCK-008"
_INPUT: Final = "pyproject.toml"
_OUTPUT: Final = "pylock.toml"
_TIMEOUT: Final = 900.0
_ENVIRONMENT: Final = re.compile(
    # Where and how servers are reached, and with which login; nothing that changes what is chosen.
    r"PATH|HOME|LANG|TMPDIR|NETRC|SSL_CERT_(FILE|DIR)|SSL_CLIENT_CERT|(HTTPS?|ALL|NO)_PROXY|(https?|all|no)_proxy"
    r"|UV_(DEFAULT_INDEX|INDEX_URL|INDEX_[A-Z0-9_]+_(USERNAME|PASSWORD)|KEYRING_PROVIDER|NATIVE_TLS|SYSTEM_CERTS"
    r"|HTTP_TIMEOUT|INSECURE_HOST|OFFLINE)"
)
_LOGIN: Final = re.compile(r"(?<=://)[^/@\s]+@")
_NO_SOLUTION: Final = "No solution found when resolving dependencies"
_DENIED: Final = re.compile(r"\b(?:401 Unauthorized|403 Forbidden|407 Proxy Authentication Required)\b")
_LOGIN_FROM: Final = f"taken as USER:PASSWORD from {login_variable('NAME')} (the index's name), or from ~/.netrc"
_PROJECT: Final = "gpuprov-frameworks"


@dataclass(frozen=True, kw_only=True, slots=True)
class Uv:
    """How uv is run."""

    cache: Path
    """Its cache folder, which may be deleted at any time."""
    report: Report = ignore_progress
    program: str = ""
    """Path of the program; empty for the one that came with gpuprov."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    """Of which only what says how servers are reached is passed on."""


def resolve_frameworks(need: FrameworkNeed, prefer: Mapping[str, str], uv: Uv) -> tuple[LockedFramework, ...]:
    """Choose the versions of all Python packages that a need leads to, newest first.

    Args:
        need: what is asked for, and for which hosts.
        prefer: versions of an earlier lock by package, which stay where they are still offered and allowed.
        uv: how it is run.

    Returns:
        Every package, sorted by name, with the files of it that fit the hosts; only wheels, never a source archive.

    Raises:
        GpuprovError: GP-LOCK-008 when no versions fit together, GP-SRC-001 when an index cannot be read, GP-SRC-008
            when uv cannot be run or answers in another form than it is known for.
    """
    return _compile(need, [f"{r.name}{r.specifier}" for r in need.requests], prefer, uv, ())


def offered_wheels(
    need: FrameworkNeed, packages: Sequence[LockedFramework], uv: Uv
) -> tuple[LockedFramework, ...] | str:
    """The same packages in the same versions as the indexes offer them now; why there are none, where one is gone.

    Raises:
        GpuprovError: as `resolve_frameworks`, but for GP-LOCK-008.
    """
    try:
        return _compile(need, [f"{p.name}=={p.version}" for p in packages], {}, uv, ("--no-deps",))
    except GpuprovError as error:
        (found,) = error.diagnostics
        if found.code != _IMPOSSIBLE:
            raise
        return found.detail


def _compile(
    need: FrameworkNeed, wanted: Sequence[str], prefer: Mapping[str, str], uv: Uv, more: Sequence[str]
) -> tuple[LockedFramework, ...]:
    sources = {request.name.partition("[")[0]: request.source for request in need.requests}
    uv.report(Progress(phase="frameworks", text=", ".join(request.name for request in need.requests)))
    with tempfile.TemporaryDirectory(prefix="gpuprov-uv-") as name:
        folder = Path(name)
        (folder / _INPUT).write_text(_project(need, wanted, sources), encoding="utf-8")
        if prefer:
            (folder / _OUTPUT).write_text(_preferences(prefer), encoding="utf-8")
        _run(need, uv, folder, more)
        found = _read(folder / _OUTPUT, sources)
    uv.report(Progress(phase="frameworks", finished=True))
    return found


def _run(need: FrameworkNeed, uv: Uv, folder: Path, more: Sequence[str]) -> None:
    argv = [
        uv.program or _program(), "pip", "compile", _INPUT,
        "--output-file", _OUTPUT, "--format", "pylock.toml", "--generate-hashes", "--only-binary", ":all:",
        "--python-version", need.python, "--python-platform", need.platform, "--python", sys.executable,
        "--no-python-downloads", "--no-config", "--no-header", "--quiet", "--color", "never",
        "--resolution", "highest", "--prerelease", "if-necessary-or-explicit", "--index-strategy", "first-index",
        "--cache-dir", str(uv.cache), *more,
    ]  # fmt: skip
    passed = {name: value for name, value in uv.environment.items() if _ENVIRONMENT.fullmatch(name)}
    if _PYPI in need.indexes:
        passed["UV_DEFAULT_INDEX"] = f"{_PYPI}={need.indexes[_PYPI]}"
    passed |= _logins(need, uv.environment)
    try:
        done = subprocess.run(
            argv, cwd=folder, env=passed, capture_output=True, text=True, check=False, timeout=_TIMEOUT
        )
    except OSError as error:
        raise GpuprovError(_unusable(f"{argv[0]} cannot be run: {error.strerror}")) from error
    except subprocess.TimeoutExpired as error:
        raise GpuprovError(_unreachable(f"uv did not end within {_TIMEOUT:.0f} seconds")) from error
    if done.returncode:
        said = _said(done.stderr)
        # For uv a package that an index denies is one that the index does not have.
        searched = _NO_SOLUTION in done.stderr and not _DENIED.search(done.stderr)
        raise GpuprovError(_impossible(need, said) if searched else _unreachable(said))


def _logins(need: FrameworkNeed, environment: Mapping[str, str]) -> dict[str, str]:
    """The logins of a spec's indexes, where the environment has them, in uv's own variables."""
    found: dict[str, str] = {}
    for name in need.indexes:
        user, _, password = environment.get(login_variable(name), "").partition(":")
        own = "UV_INDEX_" + re.sub(r"[^A-Z0-9]", "_", name.upper())
        found |= {f"{own}_USERNAME": user, f"{own}_PASSWORD": password} if user else {}
    return found


def _said(text: str) -> str:
    """The reasons in what uv printed, without the project that only uv sees, and without any login."""
    lines = [line.strip() for line in text.splitlines()]
    causes = [line.partition(":")[2].strip() for line in lines if line.startswith(("cause:", "hint:"))]
    return _LOGIN.sub("", "\n".join(causes or lines)).replace(_PROJECT, "the spec").strip()


def _program() -> str:
    from uv import find_uv_bin  # noqa: PLC0415 - a lock without frameworks needs none of it

    try:
        return str(find_uv_bin())
    except FileNotFoundError as error:
        raise GpuprovError(_unusable("its program is not there")) from error


def _project(need: FrameworkNeed, wanted: Sequence[str], sources: Mapping[str, str]) -> str:
    """A project as uv reads it; each name of it is checked by the spec, so that a text needs no escaping."""
    named = {name: source for name, source in sources.items() if source != _PYPI}
    lines = [
        "[project]",
        f'name = "{_PROJECT}"',
        'version = "0"',
        f'requires-python = ">={need.python}"',
        f"dependencies = [{', '.join(_text(text) for text in wanted)}]",
        "[tool.uv.sources]",
        *(f"{_text(name)} = {{ index = {_text(source)} }}" for name, source in sorted(named.items())),
    ]
    for name, url in sorted(need.indexes.items()):
        if name != _PYPI:
            lines += ["[[tool.uv.index]]", f"name = {_text(name)}", f"url = {_text(url)}", "explicit = true"]
    return "\n".join(lines) + "\n"


def _preferences(prefer: Mapping[str, str]) -> str:
    packages = [f"[[packages]]\nname = {_text(name)}\nversion = {_text(prefer[name])}\n" for name in sorted(prefer)]
    return 'lock-version = "1.0"\ncreated-by = "gpuprov"\n' + "".join(packages)


def _text(text: str) -> str:
    """A TOML basic string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _read(path: Path, sources: Mapping[str, str]) -> tuple[LockedFramework, ...]:
    try:
        rows = tomllib.loads(path.read_text("utf-8")).get("packages", [])
        found = [_package(row, sources.get(row["name"], _PYPI)) for row in rows]
        return tuple(sorted(found, key=lambda p: p.name))
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:  # no TOML is a ValueError
        raise GpuprovError(_unusable(f"its answer has an unknown form ({type(error).__name__}: {error})")) from error


def _package(row: Mapping[str, Any], source: str) -> LockedFramework:
    wheels = [
        LockedWheel(
            filename=wheel.get("name") or unquote(urlsplit(wheel["url"]).path.rpartition("/")[2]),
            sha256=_sha256(wheel["hashes"]["sha256"]),
            size=int(wheel.get("size", 0)),
        )
        for wheel in row["wheels"]
    ]
    if not wheels:
        raise ValueError(f"{row['name']} has no wheel")
    wheels.sort(key=lambda wheel: wheel.filename)
    return LockedFramework(name=row["name"], version=row["version"], source=source, wheels=tuple(wheels))


def _sha256(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise ValueError(f"'{text}' is no sha256")
    return text


def _impossible(need: FrameworkNeed, said: str) -> Diagnostic:
    asked = ", ".join(f"{r.name}{r.specifier}" for r in need.requests)
    hint = "Loosen a version that the reasons name, or take another source for it."
    if set(need.indexes) - {_PYPI}:  # uv takes what such an index denies for what it does not have, and says no more
        hint += f" If an index asks for a login: {_LOGIN_FROM}."
    return Diagnostic(
        code=_IMPOSSIBLE,
        address="stack.frameworks",
        summary=f"no versions of the Python packages fit together for Python {need.python} on {need.platform}",
        detail=f"{said}\nAsked for: {asked}; only wheels are taken.",
        hint=hint,
    )


def _unreachable(what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-001",
        address="stack.frameworks",
        summary="the Python packages cannot be resolved: uv could not read an index",
        detail=what,
        hint="Check the index's URL, the network and the proxies (http_proxy, https_proxy, no_proxy). "
        "`sources: {pypi: {type: python, url: ...}}` or UV_DEFAULT_INDEX names another default index; "
        f"a login is {_LOGIN_FROM}.",
    )


def _unusable(what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-008",
        address="stack.frameworks",
        summary=f"uv, which resolves Python packages, cannot be used: {what}",
        hint="Install gpuprov again: uv comes with it.",
    )
