"""Unattended upgrades keep off the owned packages."""

import re
from collections.abc import Iterable
from typing import Final

from gpuprov.want.files import MARKER
from gpuprov.want.types import FileWant

UPDATES_PATH: Final = "/etc/apt/apt.conf.d/52gpuprov-unattended-upgrades"
"""After 50unattended-upgrades, which Debian and Ubuntu bring: lists of apt.conf(5) grow from file to file."""


def blacklist(names: Iterable[str]) -> list[str]:
    """A pattern for each package; unattended-upgrades takes them for regular expressions of Python."""
    return [re.sub(r"([.+])", r"\\\1", f"^{name}$") for name in sorted(names)]


def updates_file(names: Iterable[str]) -> FileWant:
    """Hold and pin keep a package; this also keeps unattended-upgrades from counting on it for others."""
    rows = "".join(f'    "{pattern}";\n' for pattern in blacklist(names))
    return FileWant(path=UPDATES_PATH, text=f"{MARKER}\nUnattended-Upgrade::Package-Blacklist {{\n{rows}}};\n")
