"""Putting a file on a host: the command, and what its failure means."""

import shlex
from pathlib import PurePosixPath

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.transport.protocol import Outcome


def placing_command(path: str, mode: int) -> str:
    """The command that writes its standard input to a path: a temporary file beside it, then a rename."""
    folder = shlex.quote(str(PurePosixPath(path).parent))
    target = shlex.quote(path)
    return (
        f"umask 077; t=$(mktemp {folder}/.gpuprov.XXXXXX) || exit 1; trap 'rm -f \"$t\"' EXIT; "
        f'cat >"$t" && chmod {mode:04o} "$t" && mv -f "$t" {target}'
    )


def check_placed(outcome: Outcome, path: str, host: str) -> None:
    """Do nothing when the file was written.

    Raises:
        GpuprovError: GP-CONV-003 when no space is left, GP-DOC-007 for any other reason.
    """
    if outcome.status == 0:
        return
    text = outcome.stderr.decode("utf-8", "replace").strip()
    full = "No space left on device" in text or "Disk quota exceeded" in text
    raise GpuprovError(
        Diagnostic(
            code="GP-CONV-003" if full else "GP-DOC-007",
            address=host,
            summary=f"no space is left for {path}" if full else f"{path} cannot be written",
            detail=text,
            hint="free space on the host, then run the command again" if full else "",
        )
    )
