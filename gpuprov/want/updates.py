"""Unattended upgrades keep off the owned packages."""

import re
from collections.abc import Iterable
from typing import Final

from gpuprov.want.files import MARKER
from gpuprov.want.types import FileWant

UPDATES_PATH: Final = "/etc/apt/apt.conf.d/52gpuprov-unattended-upgrades"
"""After 50unattended-upgrades, which Debian and Ubuntu bring: lists of apt.conf(5) grow from file to file."""


def blacklist(names: Iterable[str]) -> list[str]:
    """One pattern for all packages; unattended-upgrades takes it for a regular expression.

    It makes a pin of each pattern and goes through the whole archive for it: a pattern for each package made its run
    longer by minutes (seen with unattended-upgrades 2.9.1 of Debian 12 on a busy node, 2026-11-30).
    """
    escaped = "|".join(re.sub(r"([.+])", r"\\\1", name) for name in sorted(names))
    return [f"^({escaped})$"]


def updates_file(names: Iterable[str]) -> FileWant:
    """Hold and pin keep a package; this also keeps unattended-upgrades from counting on it for others."""
    rows = "".join(f'    "{pattern}";\n' for pattern in blacklist(names))
    return FileWant(path=UPDATES_PATH, text=f"{MARKER}\nUnattended-Upgrade::Package-Blacklist {{\n{rows}}};\n")
