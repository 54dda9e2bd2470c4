"""The way to a host: each connection resolved against the ssh client configuration, by the ssh client itself.

`ssh -G` prints the options that the ssh client would use; Ansible connects with the same client, so that transport and
converge understand Include, Match, tokens and defaults alike.
"""

import getpass
import re
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection

MAX_JUMPS = 8
"""Longer chains are taken for a loop."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hop:
    """One ssh connection of a route, with nothing left to look up."""

    host: str
    """The host's name in messages."""
    address: str
    port: int
    user: str
    known_as: str
    """The name under which its key is on record (HostKeyAlias, or the address)."""
    known_port: int
    known_hosts: tuple[str, ...]
    identity_files: tuple[str, ...]
    """Key files to try, those asked for first."""
    chosen: tuple[str, ...]
    """The key files of `identity_files` that somebody asked for; a missing one is worth telling."""
    agent: str | None
    """Path of the agent's socket; None: no agent."""
    identities_only: bool
    password: str | None = field(default=None, repr=False)
    proxy_command: str | None = None
    timeout: float = 10.0
    """Seconds for the connection, and again for the login."""


def resolve_route(connection: Connection, environment: dict[str, str]) -> tuple[Hop, ...]:
    """Resolve a connection to the hops that lead to it, the host itself last.

    Args:
        connection: of kind ssh.
        environment: HOME and SSH_AUTH_SOCK are read from it.

    Raises:
        GpuprovError: GP-INV-003 when the ssh client configuration cannot be read or honoured.
    """
    return _resolve(connection, environment, 0)


def _resolve(connection: Connection, environment: dict[str, str], depth: int) -> tuple[Hop, ...]:
    if depth > MAX_JUMPS:
        raise _refuse(connection, f"more than {MAX_JUMPS} jump hosts, probably a loop of ProxyJump")
    options = _ask_client(connection)
    hop = _hop(connection, options, environment)
    jumps = connection.jump
    if not jumps and (text := _last(options, "proxyjump")) not in {"", "none"}:
        jumps = tuple(_jump(connection, part) for part in text.split(","))
    if not jumps:
        return (hop,)
    # Only the first jump may have a jump of its own; the others are reached through the one before.
    first = _resolve(jumps[0], environment, depth + 1)
    others = [replace(_hop(jump, _ask_client(jump), environment), proxy_command=None) for jump in jumps[1:]]
    return (*first, *others, replace(hop, proxy_command=None))


def _jump(connection: Connection, text: str) -> Connection:
    found = re.fullmatch(
        r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?P<host>\[[^\]]+\]|[^:@\[\]]+)(?::(?P<port>\d+))?/?", text.strip()
    )
    if found is None:
        raise _refuse(connection, f"ProxyJump {text!r} has an unknown form")
    address = found["host"].strip("[]")
    return Connection(
        host=f"{address} (jump host of {connection.host})",
        address=address,
        port=int(found["port"] or 22),
        user=found["user"],
        ssh_config=connection.ssh_config,
        use_agent=connection.use_agent,
        connect_timeout=connection.connect_timeout,
    )


def _ask_client(connection: Connection) -> dict[str, list[str]]:
    argv = ["ssh", "-G"]
    if connection.ssh_config:
        argv += ["-F", str(Path(connection.ssh_config).expanduser())]
    if connection.port != 22:  # noqa: PLR2004 - "not given"
        argv += ["-p", str(connection.port)]
    if connection.user:
        argv += ["-l", connection.user]
    if connection.identities_only:
        argv += ["-o", "IdentitiesOnly=yes"]
    if connection.key_file:
        argv += ["-i", str(Path(connection.key_file).expanduser())]
    argv += ["--", connection.address]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=20, check=False
        )
    except FileNotFoundError as error:
        raise _refuse(
            connection, "the program ssh is not installed on this machine", hint="install the OpenSSH client"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise _refuse(connection, "ssh -G did not end within 20 s (a Match exec line?)") from error
    if done.returncode:
        raise _refuse(connection, "the ssh client configuration was refused", detail=done.stderr.strip())
    options: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        options.setdefault(key.lower(), []).append(value)
    return options


def _refuse(connection: Connection, summary: str, *, detail: str = "", hint: str = "") -> GpuprovError:
    return GpuprovError(
        Diagnostic(code="GP-INV-003", address=connection.host, summary=summary, detail=detail, hint=hint)
    )


def _last(options: dict[str, list[str]], key: str) -> str:
    return options.get(key, [""])[-1]


def _hop(connection: Connection, options: dict[str, list[str]], environment: dict[str, str]) -> Hop:
    address = _last(options, "hostname") or connection.address
    port = int(_last(options, "port") or connection.port)
    user = _last(options, "user") or connection.user or getpass.getuser()
    home = str(Path("~").expanduser())
    tokens = {"d": home, "h": address, "r": user, "p": str(port), "n": connection.address, "%": "%"}

    def path(text: str) -> str:
        text = re.sub(r"%(.)", lambda m: tokens.get(m[1], m[0]), text.strip().strip('"'))
        return str(Path(text).expanduser())

    known = connection.known_hosts or tuple(
        part
        for key in ("userknownhostsfile", "globalknownhostsfile")
        for part in _last(options, key).split()
        if part not in {"none", "/dev/null"}
    )
    chosen = (path(connection.key_file),) if connection.key_file else ()
    # ssh -G leaves out a key file of the command line that is not there.
    identities = (path(text) for text in options.get("identityfile", ()) if text != "none")
    alias = _last(options, "hostkeyalias")
    seconds = _last(options, "connecttimeout")
    return Hop(
        host=connection.host,
        address=address,
        port=port,
        user=user,
        known_as=alias or address,
        known_port=22 if alias else port,
        known_hosts=tuple(path(text) for text in known),
        identity_files=tuple(dict.fromkeys((*chosen, *identities))),
        chosen=chosen,
        agent=_agent(connection, _last(options, "identityagent"), environment),
        identities_only=_last(options, "identitiesonly") == "yes",
        password=connection.password,
        proxy_command=_proxy_command(_last(options, "proxycommand"), tokens),
        timeout=float(seconds) if seconds.isdigit() else connection.connect_timeout,
    )


def _agent(connection: Connection, text: str, environment: dict[str, str]) -> str | None:
    if not connection.use_agent or text == "none":
        return None
    if text.startswith("$"):
        return environment.get(text.strip("${}"))
    if text not in {"", "SSH_AUTH_SOCK"}:
        return str(Path(text).expanduser())
    return environment.get("SSH_AUTH_SOCK") or None


def _proxy_command(text: str, tokens: dict[str, str]) -> str | None:
    if text in {"", "none"}:
        return None
    return re.sub(r"%(.)", lambda m: tokens.get(m[1], m[0]), text)
