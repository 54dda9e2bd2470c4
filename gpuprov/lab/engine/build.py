"""Has the Pulumi engine: found, else built from its Go module, else fetched by Pulumi's own SDK."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gpuprov.cloud.engine import PINNED, Engine, engine_cache, find_engine
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

_FOLDER: Final = Path(__file__).resolve().parent
_PACKAGE: Final = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
_VERSION_VARIABLE: Final = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
_TIMEOUT: Final = 3600
"""Seconds for the build: 210 on two idle cores, 614 beside other work (2026-11-30), and a slow network."""


def have_engine(environment: Mapping[str, str], *, make: bool = True) -> Engine:
    """Find the engine, or make it.

    Args:
        environment: this machine's variables; Go's own settings are taken from there and from `go env`.
        make: whether to build or fetch one when none is found.

    Raises:
        GpuprovError: GP-CLOUD-001 when there is none and none can be made.
    """
    try:
        return find_engine(environment)
    except GpuprovError as error:
        # What a person named and does not work is the person's to mend.
        if not make or environment.get("GPUPROV_PULUMI"):
            raise
        missing = error
    go = find_go(environment)
    try:
        if isinstance(go, Path):
            build(go, engine_cache(environment), environment)
        else:
            fetch(engine_cache(environment))
    except (OSError, subprocess.SubprocessError) as error:
        why = f"Go: {go}\n" if isinstance(go, str) else ""
        raise GpuprovError(_not_made(missing.diagnostics[0], why + _said(error))) from error
    return find_engine(environment)


def find_go(environment: Mapping[str, str]) -> Path | str:
    """The Go compiler when it is new enough for the module, else the reason why not."""
    wanted = module_go((_FOLDER / "go.mod").read_text(encoding="utf-8"))
    path = shutil.which("go", path=environment.get("PATH", os.defpath))
    if path is None:
        return f"it is not on PATH; {'.'.join(map(str, wanted))} or newer is needed"
    try:
        said = subprocess.run(
            (path, "env", "GOVERSION"), cwd="/", capture_output=True, text=True, timeout=60, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return f"{path} does not work: {_said(error)}"
    found = re.match(r"go(\d+)\.(\d+)(?:\.(\d+))?", said)
    have = tuple(int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    return Path(path) if have >= wanted else f"{path} is {said}; {'.'.join(map(str, wanted))} or newer is needed"


def module_go(text: str) -> tuple[int, ...]:
    """The Go version that a go.mod asks for."""
    found = re.search(r"^go (\d+)\.(\d+)(?:\.(\d+))?$", text, re.MULTILINE)
    if found is None:
        raise ValueError("go.mod holds no line `go VERSION`")
    return tuple(int(part or 0) for part in found.groups())


def module_version(text: str) -> str:
    """The engine's version that a go.mod pins."""
    found = re.search(r"^\s*github\.com/pulumi/pulumi/pkg/v3 v(\S+)", text, re.MULTILINE)
    if found is None:
        raise ValueError("go.mod does not pin github.com/pulumi/pulumi/pkg/v3")
    return found[1]


def build(go: Path, target: Path, environment: Mapping[str, str]) -> None:
    """Build the pinned engine and put it in its place, whole or not at all.

    Raises:
        subprocess.SubprocessError: the build failed, or took too long.
        OSError: the place cannot be written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        subprocess.run(
            (
                str(go),
                "build",
                "-trimpath",
                "-buildvcs=false",
                "-mod=readonly",
                "-ldflags",
                f"-s -w -X {_VERSION_VARIABLE}=v{PINNED}",
                "-o",
                str(beside),
                _PACKAGE,
            ),
            cwd=_FOLDER,
            env={**environment, "CGO_ENABLED": "0", "GOWORK": "off"},
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT,
            check=True,
        )
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def fetch(target: Path) -> None:
    """Have Pulumi's own SDK download its official release.

    Raises:
        subprocess.SubprocessError: its installer failed.
        OSError: the download cannot be reached, or the place not be written.
    """
    from pulumi.automation import PulumiCommand  # noqa: PLC0415 (0.8 s, only here)
    from semver import VersionInfo  # noqa: PLC0415

    root = target.parent / "official"
    PulumiCommand.install(root=str(root), version=VersionInfo.parse(PINNED))
    target.unlink(missing_ok=True)
    target.symlink_to(root / "bin" / "pulumi")


def _not_made(missing: Diagnostic, why: str) -> Diagnostic:
    oldest = ".".join(map(str, module_go((_FOLDER / "go.mod").read_text(encoding="utf-8"))))
    return Diagnostic(
        code=missing.code,
        summary="there is no Pulumi engine, and none could be made",
        detail=f"{missing.detail}\n{why}".strip(),
        hint="one of: put Pulumi's own release on PATH; set GPUPROV_PULUMI to the path of a pulumi program; install Go"
        f" {oldest} or newer and run this again",
    )


def _said(error: Exception) -> str:
    output = getattr(error, "output", None)
    text = output.decode(errors="replace") if isinstance(output, bytes) else str(output or "")
    return "\n".join([f"{type(error).__name__}: {error}", *text.strip().splitlines()[-10:]])
