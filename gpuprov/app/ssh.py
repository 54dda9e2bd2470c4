"""`ssh`: the command line of the system's ssh that reaches a host of the site as gpuprov itself does."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.named import named_hosts
from gpuprov.app.site import open_site
from gpuprov.converge.ssh_options import NOT_GIVEN, ssh_options
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection


def ssh_words(
    path: Path, name: str, command: Sequence[str], access: Access, *, target: str | None = None
) -> tuple[str, ...]:
    """The words of the command, `ssh` first.

    Args:
        path: the spec.
        name: a host of the inventory or of the cloud.
        command: what to run there; empty for a shell.
        access: the inventory.
        target: `onprem` or `cloud`; None where the name is one host's.

    Raises:
        GpuprovError: GP-INV-004 for a name that is no host of the site; GP-CLOUD-026 for one that is not made yet.
    """
    site = open_site(path)
    named = named_hosts([name], site, access, target=target)
    if name in named.absent:
        raise GpuprovError(named.absent[name].diagnostic)
    if named.strangers:
        raise GpuprovError(_unknown(name))
    return words_of(named.hosts[0].connection, command)


def words_of(connection: Connection, command: Sequence[str]) -> tuple[str, ...]:
    """The ssh command of a connection; a connection to this machine itself needs none, and gets a shell.

    Raises:
        GpuprovError: GP-INV-003 for a jump host with a password, which ssh cannot be given.
    """
    if connection.kind == "local":
        return ("sh", "-c", shlex.join(command)) if command else ("sh", "-i")
    words = ["ssh", *ssh_options(connection)]
    if connection.port != NOT_GIVEN:
        words += ["-p", str(connection.port)]
    if connection.user:
        words += ["-l", connection.user]
    if connection.key_file:
        words += ["-i", str(Path(connection.key_file).expanduser())]
    # ssh joins the words of a command with spaces and the host's shell takes them apart again.
    return (*words, "--", connection.address, *command)


def _unknown(name: str) -> Diagnostic:
    return Diagnostic(
        code="GP-INV-004",
        address=name,
        summary=f"`{name}` is no host of the inventory, and none of the spec's cloud hosts",
        hint="`gpuprov status` lists the hosts; for any other, use ssh itself",
    )
