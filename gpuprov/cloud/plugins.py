"""The engine's plugin for AWS: there, attached, or installed before a run, so that its absence is told at once."""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Final

from gpuprov.cloud.engine import Engine
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report

_FORBIDDEN: Final = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"
_PATIENCE: Final = 3.0
_TIMEOUT: Final = 900
"""Seconds for the download: the plugin for AWS is some hundred megabytes."""


def plugin_version() -> str:
    """The version of the AWS plugin that belongs to the installed pulumi_aws."""
    return metadata.version("pulumi-aws")


def ensure_plugin(engine: Engine, place: StackPlace, report: Report) -> None:
    """Have the plugin that the program will ask for, or say that it is missing.

    Raises:
        GpuprovError: GP-CLOUD-002 when it is not there and the engine cannot install it.
    """
    environment = {**os.environ, **place.environment}
    version = plugin_version()
    port = attached_port(environment)
    if port is not None:
        _try_attached(port)
        return
    if find_plugin(version, engine.path, environment) is not None:
        return
    if environment.get(_FORBIDDEN, "").lower() in {"1", "true"}:
        raise GpuprovError(_missing(version, f"{_FORBIDDEN} is set, so it was not downloaded"))
    report(Progress(phase="plugin", subject="aws", text=f"the engine downloads its plugin for AWS {version}"))
    try:
        done = subprocess.run(
            (str(engine.path), "plugin", "install", "resource", "aws", f"v{version}", "--non-interactive"),
            env={**environment, "PULUMI_SKIP_UPDATE_CHECK": "true", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GpuprovError(_missing(version, f"its download did not end within {_TIMEOUT} s")) from None
    if done.returncode:
        raise GpuprovError(_missing(version, "\n".join((done.stdout + done.stderr).strip().splitlines()[-10:])))
    report(Progress(phase="plugin", subject="aws", text="installed", finished=True))


def find_plugin(version: str, engine: Path, environment: Mapping[str, str]) -> str | None:
    """Where the engine will find the plugin; None when nowhere.

    It looks where the engine does: beside the engine, on PATH, and among what it installed itself (PULUMI_HOME, else
    `~/.pulumi`).
    """
    path = os.pathsep.join([str(engine.parent), environment.get("PATH", os.defpath)])
    found = shutil.which("pulumi-resource-aws", path=path)
    if found:
        return found
    home = environment.get("PULUMI_HOME") or str(Path(environment.get("HOME") or "~").expanduser() / ".pulumi")
    program = Path(home) / "plugins" / f"resource-aws-v{version}" / "pulumi-resource-aws"
    return str(program) if program.is_file() else None


def attached_port(environment: Mapping[str, str]) -> int | None:
    """The port of a plugin that a person attached by PULUMI_DEBUG_PROVIDERS; the engine then looks for no other."""
    found = re.search(r"(?:^|,)\s*aws:(\d+)", environment.get("PULUMI_DEBUG_PROVIDERS", ""))
    return int(found[1]) if found else None


def _try_attached(port: int) -> None:
    """The engine would try for ten seconds and then say little."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE).close()
    except OSError as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-002",
                summary=f"the plugin for AWS that PULUMI_DEBUG_PROVIDERS names does not answer on port {port}",
                detail=(error.strerror or str(error)).lower(),
                hint="start it, or unset PULUMI_DEBUG_PROVIDERS to have the engine use its own",
            )
        ) from error


def _missing(version: str, why: str) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-002",
        summary=f"the engine's plugin for AWS, version {version}, cannot be found",
        detail=why,
        hint=f"where downloads are open: `pulumi plugin install resource aws v{version}`; else put the file"
        " `pulumi-resource-aws` of that release on PATH",
    )
