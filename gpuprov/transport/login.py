"""Logging in: the keys of the agent and of files, in the ssh client's order, then a password."""

import base64
import binascii
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
from paramiko.agent import AgentSSH
from paramiko.pkey import UnknownKeyType

from gpuprov.transport.known_hosts import fingerprint
from gpuprov.transport.refusals import refuse_login
from gpuprov.transport.route import Hop

_AGENT_PATIENCE = 10.0
"""Seconds for the agent's answer; one that asks a person to confirm may take a while."""


def log_in(client: paramiko.Transport, hop: Hop) -> None:
    """Log in on a connection whose host key was checked.

    Raises:
        GpuprovError: GP-SSH-002 with everything that was tried.
    """
    tried: list[str] = []
    allowed = _methods(client, hop)
    if client.is_authenticated():
        return
    for label, attempt in _attempts(client, hop, tried):
        try:
            rest = attempt()
        except paramiko.BadAuthenticationType as error:
            allowed[:] = error.allowed_types
            tried.append(f"{label}: the host does not accept this method")
            continue
        except paramiko.AuthenticationException as error:
            tried.append(f"{label}: {'refused' if str(error) == 'Authentication failed.' else error}")
            if not client.is_active():
                raise refuse_login(hop, tried, allowed, cut=True) from error
            continue
        except (paramiko.SSHException, EOFError, OSError) as error:
            tried.append(f"{label}: {error or 'the connection ended'}")
            if not client.is_active():
                raise refuse_login(hop, tried, allowed, cut=True) from error
            continue
        if client.is_authenticated():
            return
        allowed[:] = rest
        tried.append(f"{label}: accepted, but the host wants more ({', '.join(rest)})")
    raise refuse_login(hop, tried, allowed, cut=False)


def _methods(client: paramiko.Transport, hop: Hop) -> list[str]:
    """Ask what the host accepts, as ssh does: by a login without any proof, which does not count as a try."""
    try:
        client.auth_none(hop.user)
    except paramiko.BadAuthenticationType as error:
        return list(error.allowed_types)
    except (paramiko.SSHException, EOFError, OSError):
        return []  # What the host thinks of the real attempts is told by themselves.
    return []


Attempt = tuple[str, Callable[[], list[str]]]


def _attempts(client: paramiko.Transport, hop: Hop, tried: list[str]) -> Iterator[Attempt]:
    seen: set[bytes] = set()
    for label, key in _keys(hop, tried):
        blob = key.asbytes()
        if blob not in seen:
            seen.add(blob)
            yield (
                f"{label} {key.get_name()} {fingerprint(blob)}",
                lambda key=key: list(client.auth_publickey(hop.user, key)),  # type: ignore[misc]
            )
    password = hop.password
    if password is not None:
        yield "password", lambda: list(client.auth_password(hop.user, password))


def _keys(hop: Hop, tried: list[str]) -> Iterator[tuple[str, paramiko.PKey]]:
    """Keys in the order of ssh: those asked for first, from the agent before the file, then whatever else there is."""
    named = {blob for path in hop.identity_files if (blob := _public_blob(path))}
    held = _agent_keys(hop, tried)
    yield from (("agent key", key) for key in held if key.asbytes() in named)
    for path in hop.chosen:
        yield from _file_keys(path, hop, tried)
    if not hop.identities_only:
        yield from (("agent key", key) for key in held)
    for path in hop.identity_files:
        if path not in hop.chosen:
            yield from _file_keys(path, hop, tried)


def _agent_keys(hop: Hop, tried: list[str]) -> list[paramiko.PKey]:
    if hop.agent is None:
        return []
    link = socket.socket(socket.AF_UNIX)
    link.settimeout(_AGENT_PATIENCE)
    agent = AgentSSH()
    try:
        link.connect(hop.agent)
        agent._connect(link)  # type: ignore[attr-defined] # noqa: SLF001 - the public way reads only the environment
        return list(agent.get_keys())
    except (OSError, paramiko.SSHException) as error:
        tried.append(f"agent {hop.agent}: {error}")
        return []


def _public_blob(path: str) -> bytes | None:
    try:
        fields = Path(path + ".pub").read_text(encoding="utf-8", errors="replace").split()
        return base64.b64decode(fields[1], validate=True)
    except (OSError, IndexError, binascii.Error, ValueError):
        return None  # No usable .pub beside the key: the file itself is tried in its turn.


def _file_keys(path: str, hop: Hop, tried: list[str]) -> Iterator[tuple[str, paramiko.PKey]]:
    try:
        # PKey.from_path also loads the certificate beside the key (`<path>-cert.pub`).
        yield f"key file {path}", paramiko.PKey.from_path(path)
    except FileNotFoundError:
        if path in hop.chosen:
            tried.append(f"key file {path}: no such file")
    except (paramiko.PasswordRequiredException, TypeError):
        # cryptography answers a missing passphrase with TypeError.
        tried.append(f"key file {path}: needs a passphrase; add it to the agent with: ssh-add {path}")
    except (paramiko.SSHException, UnknownKeyType, OSError, ValueError) as error:
        tried.append(f"key file {path}: cannot be used ({error})")
