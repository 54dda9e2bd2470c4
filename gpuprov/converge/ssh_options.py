"""A connection as options of the system's ssh: the same for Ansible and for `gpuprov ssh`."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection

NOT_GIVEN: Final = 22
"""The port that stands for none: the ssh client configuration may then name another."""


def ssh_options(connection: Connection) -> list[str]:
    """The ssh options of a connection besides its address, port, user and key file, as words of a command line.

    Raises:
        GpuprovError: GP-INV-003 for a jump host with a password, which ssh cannot be given.
    """
    words = ["-F", str(Path(connection.ssh_config).expanduser())] if connection.ssh_config else []
    options = ["StrictHostKeyChecking=yes", "UpdateHostKeys=no", "ServerAliveInterval=15", "ServerAliveCountMax=4"]
    if connection.known_hosts:
        files = " ".join(f'"{Path(path).expanduser()}"' for path in connection.known_hosts)
        options += [f"UserKnownHostsFile={files}", "GlobalKnownHostsFile=/dev/null"]
    if not connection.use_agent:
        options.append("IdentityAgent=none")
    if connection.identities_only:
        options.append("IdentitiesOnly=yes")
    if connection.jump:
        options.append(f"ProxyCommand={_proxy_command(connection.jump)}")
    return words + [word for option in options for word in ("-o", option)]


def _proxy_command(jumps: Sequence[Connection]) -> str:
    """The command that reaches a host through jump hosts; each of them with its own user, key and known hosts."""
    last = jumps[-1]
    if last.password is not None:
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-003",
                address=last.host,
                summary="a jump host with a password cannot be used",
                hint="let the jump host accept a key",
            )
        )
    words = ["ssh", *ssh_options(last)[: None if not last.jump else -2], "-o", "BatchMode=yes"]
    words += ["-o", f"ConnectTimeout={max(1, round(last.connect_timeout))}"]
    before = jumps[:-1] or last.jump
    if before:
        words += ["-o", f"ProxyCommand={_proxy_command(before)}"]
    words += ["-p", str(last.port)] if last.port != NOT_GIVEN else []
    words += ["-l", last.user] if last.user else []
    words += ["-i", str(Path(last.key_file).expanduser())] if last.key_file else []
    # Each ssh expands the tokens of its own ProxyCommand; those of this level are the outer ssh's.
    inner = [word.replace("%", "%%") for word in words]
    return shlex.join([*inner, "-W", "[%h]:%p", "--", last.address])
