"""What paramiko and the network say, translated into diagnostics."""

import errno
import shlex
import socket

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.transport.known_hosts import Judgement, Verdict, fingerprint, lookup_name
from gpuprov.transport.route import Hop

_NETWORK = {
    errno.ECONNREFUSED: ("connection refused", "is sshd running there, and is the port right?"),
    errno.ETIMEDOUT: ("no answer", "is the host up, and does a firewall drop the packets?"),
    errno.EHOSTUNREACH: ("no route to the host", "is the host up, and is the address right?"),
    errno.ENETUNREACH: ("the network is unreachable", "is this machine in the right network or VPN?"),
    errno.ECONNRESET: ("the connection was reset", "sshd may be starting, or refusing many connections at once"),
}


def refuse_network(hop: Hop, error: BaseException) -> GpuprovError:
    """GP-SSH-001 for a connection that could not be made."""
    place = f"{hop.address} port {hop.port}"
    if isinstance(error, socket.gaierror):
        return unreachable(
            hop, f"the name {hop.address} is not known", hint="check the address in the inventory, or DNS"
        )
    if isinstance(error, TimeoutError):
        return unreachable(hop, f"no answer from {place} within {hop.timeout:g} s", hint=_NETWORK[errno.ETIMEDOUT][1])
    number = error.errno if isinstance(error, OSError) else None
    if number in _NETWORK:
        reason, hint = _NETWORK[number]
        return unreachable(hop, f"{reason} ({place})", hint=hint)
    return unreachable(hop, f"{place}: {error}")


def unreachable(hop: Hop, summary: str, *, detail: str = "", hint: str = "") -> GpuprovError:
    """GP-SSH-001 with a given reason."""
    hint = hint or "try `ssh` to the host by hand: the inventory must name an address and a port that answer"
    return GpuprovError(Diagnostic(code="GP-SSH-001", address=hop.host, summary=summary, detail=detail, hint=hint))


def refuse_key(hop: Hop, judgement: Judgement, key_type: str, blob: bytes) -> GpuprovError:
    """GP-SSH-003 or GP-SSH-004 for a host key that is not the one on record."""
    name = lookup_name(hop.known_as, hop.known_port)
    shown = f"the host shows {key_type} {fingerprint(blob)}"
    file = shlex.quote(hop.known_hosts[0]) if hop.known_hosts else "~/.ssh/known_hosts"
    entry = judgement.entry
    if judgement.verdict is Verdict.UNKNOWN or entry is None:
        scan = f"ssh-keyscan -p {hop.port} {shlex.quote(hop.address)}"
        if hop.known_as != hop.address:
            scan += f" | sed 's/^[^ ]*/{hop.known_as}/'"
        return GpuprovError(
            Diagnostic(
                code="GP-SSH-004",
                address=hop.host,
                summary=f"the key of {name} is not in known_hosts",
                detail=f"{shown}\nlooked in: {', '.join(hop.known_hosts) or 'no file'}",
                hint=f"compare the fingerprint with the host's own (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub on its"
                f" console), then: {scan} >> {file}",
            )
        )
    place = f"{entry.file}:{entry.line}"
    if judgement.verdict is Verdict.REVOKED:
        return GpuprovError(
            Diagnostic(
                code="GP-SSH-003",
                address=hop.host,
                summary=f"the key of {name} is marked as revoked in {place}",
                detail=shown,
                hint="do not connect; ask whoever revoked the key",
            )
        )
    return GpuprovError(
        Diagnostic(
            code="GP-SSH-003",
            address=hop.host,
            summary=f"the key of {name} is not the one on record in {place}",
            detail=f"on record: {entry.key_type} {fingerprint(entry.blob)} ({place})\n{shown}",
            hint="somebody may be listening in, or the host was reinstalled. Only when you know that it was: "
            f"ssh-keygen -f {shlex.quote(entry.file)} -R {shlex.quote(name)}, then record the new key",
        )
    )


def refuse_login(hop: Hop, tried: list[str], allowed: list[str], *, cut: bool) -> GpuprovError:
    """GP-SSH-002: which keys were tried, and what the host would have taken.

    Args:
        hop: where to.
        tried: one line for each key or password.
        allowed: the host's methods, when it named them.
        cut: whether the host ended the connection in the middle of it.
    """
    lines = [f"tried: {line}" for line in tried] or ["nothing to try: no key file, no agent, no password"]
    if allowed:
        lines.append(f"the host accepts: {', '.join(allowed)}")
    if cut:
        hint = (
            "the host cut the login, perhaps after too many keys; name the right one (ansible_ssh_private_key_file,"
            " IdentityFile) and set IdentitiesOnly yes in the ssh configuration"
        )
    else:
        hint = "check the user, and that one of these public keys is in the user's authorized_keys on the host"
    return GpuprovError(
        Diagnostic(
            code="GP-SSH-002",
            address=hop.host,
            summary=f"{hop.address} refused the login as {hop.user}",
            detail="\n".join(lines),
            hint=hint,
        )
    )
