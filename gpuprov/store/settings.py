"""Settings of gpuprov itself, never of the stack: lower rooms read them as variables, which flags and file fill."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

CACHE: Final = "GPUPROV_CACHE"
COLOUR: Final = "GPUPROV_COLOUR"
FORKS: Final = "GPUPROV_FORKS"
PROBE_TIMEOUT: Final = "GPUPROV_PROBE_TIMEOUT"
PULUMI: Final = "GPUPROV_PULUMI"
SOURCE_TIMEOUT: Final = "GPUPROV_SOURCE_TIMEOUT"

_SOURCE_SECONDS: Final = 30.0


def user_file(environment: Mapping[str, str]) -> Path:
    """The user's file of settings, `$XDG_CONFIG_HOME/gpuprov/config.yaml`; it may not exist.

    A relative XDG_CONFIG_HOME is ignored, as the XDG Base Directory Specification (0.8) asks.
    """
    root = environment.get("XDG_CONFIG_HOME", "")
    home = environment.get("HOME", "")
    folder = Path(root) if root.startswith("/") else (Path(home) if home else Path.home()) / ".config"
    return folder / "gpuprov" / "config.yaml"


def source_timeout(environment: Mapping[str, str] | None = None) -> float:
    """Seconds without a byte after which a transfer from a package source is given up."""
    variables = os.environ if environment is None else environment
    return float(variables.get(SOURCE_TIMEOUT) or _SOURCE_SECONDS)
