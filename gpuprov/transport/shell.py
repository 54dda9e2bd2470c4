"""The command line around a command: locale, time limit and sudo, as text for a POSIX shell."""

import math
import secrets
import shlex
from dataclasses import dataclass

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Become, Connection

_LOCALE = "env -u LANGUAGE LC_ALL=C.UTF-8"
# The mark says that the command itself begins here: what came before is the login shell's or sudo's, not the command's.
# `timeout` is tried first because a host may lack it, or have one with other options.
_INNER = (
    'printf %s "$1"; printf %s "$1" >&2; '
    'if timeout -k 1 1 true 2>/dev/null; then timeout -k 5 "$2" sh -c "$3"; else sh -c "$3"; fi; exit $?'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wrapped:
    """A command line, and the words by which its parts are told apart."""

    text: str
    mark: bytes
    """Printed on both streams where the command's own output begins."""
    prompt: bytes
    """What sudo prints when it wants a password; empty when it will never ask."""


def wrap_command(command: str, *, timeout: float, become: Become | None) -> Wrapped:
    """Put locale, time limit and sudo around a command.

    Args:
        command: text for `sh -c`.
        timeout: seconds, after which the host itself ends the command.
        become: how to become root; None: run as the user.
    """
    mark = f"gpuprov:{secrets.token_hex(8)}:"
    prompt = ""
    sudo = ""
    if become is not None:
        if become.password is None:
            sudo = f"sudo -H -n -u {shlex.quote(become.user)} -- {_LOCALE} "
        else:
            prompt = f"gpuprov-password:{secrets.token_hex(8)}:"
            sudo = f"sudo -H -S -p {prompt} -u {shlex.quote(become.user)} -- {_LOCALE} "
    limit = max(1, math.ceil(timeout))
    text = f"{_LOCALE} {sudo}sh -c {shlex.quote(_INNER)} sh {mark} {limit} {shlex.quote(command)}"
    return Wrapped(text=text, mark=mark.encode(), prompt=prompt.encode())


def way_to_root(connection: Connection) -> Become:
    """How to become root on a host where the user is not root.

    Raises:
        GpuprovError: GP-SSH-005 when the inventory forbids it.
    """
    if connection.become.enabled:
        return connection.become
    raise GpuprovError(
        Diagnostic(
            code="GP-SSH-005",
            address=connection.host,
            summary="root is needed, and ansible_become is false for the host",
            hint="let ansible_become be true, or log in as root",
        )
    )


@dataclass(frozen=True, slots=True)
class SudoRefusal:
    """Why sudo did not become root, and what to do."""

    summary: str
    hint: str


# Texts of sudo (plugins/sudoers, English under C.UTF-8) and of sudo-rs, the sudo of Ubuntu from 25.10 on.
_REFUSALS: tuple[tuple[tuple[str, ...], SudoRefusal], ...] = (
    (
        ("not in the sudoers file", "is not allowed to", "may not run sudo", "I'm afraid I can't do that"),
        SudoRefusal(
            "the user may not use sudo on the host",
            "let an administrator add the user to sudoers, or name another user",
        ),
    ),
    (
        ("incorrect password attempt", "Sorry, try again", "incorrect authentication attempt", "try again"),
        SudoRefusal("sudo refused the password", "check ansible_become_password in the inventory or --ask-become-pass"),
    ),
    (
        (
            "a password is required",
            "a terminal is required",
            "no askpass program",
            "no password was provided",
            "interactive authentication is required",
        ),
        SudoRefusal(
            "sudo needs a password, and none was given",
            "give it with --ask-become-pass or ansible_become_password (vaulted), or allow NOPASSWD in sudoers",
        ),
    ),
    (
        ("you must have a tty",),
        SudoRefusal("sudo on the host insists on a terminal (requiretty)", "remove requiretty for the user in sudoers"),
    ),
    (
        (
            "sudo: not found",
            "sudo: command not found",
            "sudo: No such file",
            "'sudo': No such file",
            "can't execute 'sudo'",
        ),
        SudoRefusal("sudo is not installed on the host", "install sudo there, or log in as root"),
    ),
    (
        ("account validation failure", "account expired", "PAM account management error", "account is locked"),
        SudoRefusal("the host's account rules refused sudo", "see the host's PAM and account settings for the user"),
    ),
)


def explain_refusal(text: str, status: int) -> SudoRefusal:
    """Say why sudo refused, from what it printed; a text nobody knows is shown as it is, by the caller."""
    for words, refusal in _REFUSALS:
        if any(word in text for word in words):
            return refusal
    return SudoRefusal(f"sudo ended with status {status}", "try `sudo true` on the host as the same user")
