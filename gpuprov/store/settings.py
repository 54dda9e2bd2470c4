"""Settings of gpuprov itself, never of the stack: lower rooms read them as variables, which flags and file fill."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

APT_LOCK_TIMEOUT: Final = "GPUPROV_APT_LOCK_TIMEOUT"
CACHE: Final = "GPUPROV_CACHE"
COLOUR: Final = "GPUPROV_COLOUR"
FORKS: Final = "GPUPROV_FORKS"
PROBE_TIMEOUT: Final = "GPUPROV_PROBE_TIMEOUT"
PULUMI: Final = "GPUPROV_PULUMI"
REBOOT_TIMEOUT: Final = "GPUPROV_REBOOT_TIMEOUT"
SOURCE_TIMEOUT: Final = "GPUPROV_SOURCE_TIMEOUT"

APT_LOCK_SECONDS: Final = 600
REBOOT_SECONDS: Final = 1200
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


def reboot_timeout(environment: Mapping[str, str] | None = None) -> float:
    """Seconds in which a host must come back from its reboot; large servers take over ten minutes through firmware."""
    variables = os.environ if environment is None else environment
    return float(variables.get(REBOOT_TIMEOUT) or REBOOT_SECONDS)


def apt_lock_timeout(environment: Mapping[str, str] | None = None) -> int:
    """Seconds to wait on a host for another program that holds dpkg's lock."""
    variables = os.environ if environment is None else environment
    return int(variables.get(APT_LOCK_TIMEOUT) or APT_LOCK_SECONDS)
