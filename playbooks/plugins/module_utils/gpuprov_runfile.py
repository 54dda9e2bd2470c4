"""A driver that NVIDIA's own installer (a .run file) put on a host, taken away by its uninstaller in the transaction.

Owns: the call of nvidia-uninstall.
Takes: its path, and how apt fetches what comes in its place.
Gives: the commands of the transaction's unit, and a sentence where one of them failed.
Must not: delete a file of that driver itself.
"""

from __future__ import annotations

from pathlib import Path

LOG = "/var/log/nvidia-uninstall.log"
"""Where the uninstaller writes (nvidia-installer 590.48.01, nvidia-installer.h, read 2026-11-30)."""


def commands(program: str, fetch: list[str]) -> list[list[str]]:
    """What runs before apt installs: all files are fetched first, then the uninstaller is run and looked after.

    `--silent` asks nothing. Its status is 0 also where it could do nothing, and what it could not delete is a warning
    in its log alone (nvidia-installer 590.48.01, backup.c, uninstall_existing_driver, read 2026-11-30). It deletes
    itself with the rest: it was at work where it is gone.

    Args:
        program: the uninstaller; empty for none. One that is gone already was run by an earlier transaction.
        fetch: apt's call that downloads and does no more.
    """
    if not program or not (Path(program).exists() or Path(program).is_symlink()):
        return []
    return [fetch, [program, "--silent"], ["test", "!", "-e", program, "-a", "!", "-L", program]]


def blame(program: str, status: int, log: str) -> str:
    """Say what failed in a transaction: the uninstaller, or the rest."""
    last = next((line for line in reversed(log.splitlines()) if line.startswith("+ ")), "")
    if program and last == f"+ {program} --silent":
        return f"NVIDIA's uninstaller {program} ended with status {status}; see {LOG} on the host"
    if program and last.startswith("+ test "):
        return f"NVIDIA's uninstaller ended well, and {program} is still there; see {LOG} on the host"
    return f"the package transaction ended with status {status}"
