"""Failures of Ansible, ssh, sudo, apt and dpkg -> diagnostics: the one place that reads their texts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gpuprov.converge.events import Kind, TaskEvent
from gpuprov.model.diagnostic import Diagnostic

_LAST_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class _Row:
    """A text and what it stands for; the first row that matches counts."""

    pattern: re.Pattern[str]
    code: str
    summary: str
    """May name groups of the pattern."""
    hint: str = ""


def _row(pattern: str, code: str, summary: str, hint: str = "") -> _Row:
    return _Row(re.compile(pattern, re.IGNORECASE | re.DOTALL), code, summary, hint)


_SSH: Final = (
    _row(
        r"REMOTE HOST IDENTIFICATION HAS CHANGED.*?Offending (?P<kind>\S+) key in (?P<place>\S+:\d+)",
        "GP-SSH-003",
        "the host's key is not the one in {place}",
        "find out why it changed; if the host was installed anew, replace that line by its new key",
    ),
    _row(
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "GP-SSH-003",
        "the host's key is not the known one",
        "ask why it changed",
    ),
    _row(
        r"Host key verification failed|host key is known for",
        "GP-SSH-004",
        "the host's key is not known",
        "add the host's key to known_hosts, compared with what its console or provider shows",
    ),
    _row(
        r"Incorrect sudo password|Sorry, try again|incorrect password attempt",
        "GP-SSH-005",
        "sudo refused the password",
        "give the right one with --ask-become-pass",
    ),
    _row(
        r"Missing sudo password|a password is required|no password was provided|Timed? ?out waiting for become"
        r"|waiting for privilege escalation prompt",
        "GP-SSH-005",
        "sudo asks for a password",
        "give it with --ask-become-pass",
    ),
    _row(r"is not in the sudoers file|may not run sudo", "GP-SSH-005", "the user may not use sudo on the host"),
    _row(
        r"Permission denied \((?P<methods>[^)]*)\)|Invalid/incorrect password|Too many authentication failures",
        "GP-SSH-002",
        "the host refused the login",
        "check the user and the key of the inventory, and that the agent holds it",
    ),
    _row(
        r"Could not resolve hostname (?P<name>[^\s:]+)",
        "GP-SSH-001",
        "the name {name} is not known",
        "check ansible_host",
    ),
    _row(
        r"Connection timed out|Operation timed out|Connection refused|No route to host|Network is unreachable"
        r"|banner exchange",
        "GP-SSH-001",
        "the host cannot be reached",
        "check that it is on, and its address and port in the inventory",
    ),
    _row(
        r"Connection reset|Broken pipe|client_loop|Shared connection to \S+ closed|closed by remote host"
        r"|mux_client|Data could not be sent to remote host|Connection to \S+ closed"
        r"|Timeout, server \S+ not responding",
        "GP-SSH-007",
        "the connection to the host was lost",
        "run the same command again: a package transaction that had begun goes on by itself and is waited for",
    ),
)

_SPACE: Final = _row(
    r"No space left on device|Errno 28",
    "GP-CONV-003",
    "no space is left on the host",
    "free space on the file system and run the same command again",
)

_APT: Final = (
    _row(
        r"You don't have enough free space in (?P<folder>\S*[^\s./])",
        "GP-CONV-003",
        "there is not enough space in {folder} on the host",
        "free space on that file system and run the same command again",
    ),
    _SPACE,
    _row(
        r"Bad return status for module build on kernel: (?P<kernel>\S+).*?Consult (?P<log>\S+) for more information",
        "GP-CONV-002",
        "the driver's module does not build for the kernel {kernel}; the compiler's own words are in {log} on the host",
        "end the cause (often headers or a compiler that do not fit the kernel), then run the same command again; the"
        " old driver stays loaded until the next boot: do not reboot before",
    ),
    _row(
        r"Could not get lock (?P<file>\S+?)\.? It is held by process (?P<pid>\d+) \((?P<name>[^)]*)\)",
        "GP-CONV-004",
        "process {pid} ({name}) holds {file}",
        "wait until it has ended, then run the same command again",
    ),
    _row(
        r"Conflicting values set for option (?P<option>\S+) regarding source (?P<url>\S+) (?P<suite>\S+):",
        "GP-PLAN-002",
        "the host has the source {url} {suite} already, with another {option}",
        "nothing was changed on the host; take that source out of the spec, or out of the host's own apt sources",
    ),
    _row(
        r"Could not get lock|Unable to acquire the dpkg frontend lock|Unable to lock",
        "GP-CONV-004",
        "another program uses the package system",
        "wait until it has ended, then run the same command again",
    ),
    _row(
        r"dpkg was interrupted|needs to be reinstalled, but I can't find an archive|Unmet dependencies\. Try",
        "GP-CONV-004",
        "the package system of the host is broken",
        "see what `dpkg --audit` says on the host",
    ),
    _row(
        r"EXPKEYSIG|KEYEXPIRED|NO_PUBKEY|BADSIG|is not signed|signatures? (?:were|was|couldn't|could not)[^\n]*"
        r"|The following signatures",
        "GP-SRC-002",
        "the host's apt refuses the signature of a source",
        "run `gpuprov lock`: it verifies every source and says what is wrong",
    ),
    _row(
        r"Release file for (?P<url>\S+) is (?:expired|not valid)",
        "GP-SRC-003",
        "the index of {url} has expired, by the host's clock",
        "check the host's clock; if it is right, the source has to be refreshed by who runs it",
    ),
    _row(
        r"Hash Sum mismatch|unexpected size",
        "GP-SRC-004",
        "a file of a source is not the one its index names",
        "nothing was installed; a mirror in mid-update mends itself, a proxy or somebody in between does not",
    ),
    _row(
        r"Version '(?P<version>[^']*)' for '(?P<name>[^']*)' was not found",
        "GP-LOCK-004",
        "no source offers {name} {version} any more",
        "run `gpuprov lock --upgrade` and look at what moves",
    ),
    _row(
        r"Unable to locate package (?P<name>\S+)",
        "GP-LOCK-001",
        "no source of the host offers {name}",
        "check that the host can use the sources of the spec",
    ),
    _row(
        r"Failed to fetch (?P<url>\S+)|Unable to fetch|Temporary failure resolving|Could not connect to"
        r"|Could not resolve",
        "GP-SRC-001",
        "the host cannot reach a package source",
        "check the host's way to the source (name server, proxy, firewall), then run the same command again",
    ),
)

_UNREAD: Final[Mapping[str, tuple[str, str]]] = {
    "refresh": ("GP-SRC-001", "check the host's way to its package sources"),
    "simulate": ("GP-PLAN-002", "nothing was changed on the host; end the conflict that apt names, or change the spec"),
    "frameworks": (
        "GP-CONV-006",
        "the environment that was in use still is; end the cause and run again (logins: /root/.netrc on the host)",
    ),
    "apt": (
        "GP-CONV-002",
        "end the cause, then run again; the whole log is in /var/lib/gpuprov/transactions on the host",
    ),
}
"""Reasons of our own modules with apt's own text, where no row of `_APT` knows it: code and hint."""

_REASONS: Final[Mapping[str, tuple[str, str]]] = {
    "transaction": ("GP-ROLL-004", "it was left running; run the same command later: it waits for the transaction"),
    "lock": ("GP-CONV-004", "wait until that process has ended, then run the same command again"),
    "broken": ("GP-CONV-004", "see what `dpkg --audit` says on the host"),
    "plan": (
        "GP-PLAN-002",
        "nothing was changed on the host; name these packages in the spec, or take away what pulls them",
    ),
    "digest": (
        "GP-PLAN-003",
        "nothing was changed on the host; find out which of its sources offers that other file, and why",
    ),
    "record": (
        "GP-CONV-001",
        "move it aside (`mv PATH PATH.broken`) and run again: gpuprov then owns what it makes from now on",
    ),
    "systemd": (
        "GP-CONV-001",
        "nothing was started; see `systemctl status` on the host, then run the same command again",
    ),
    "rollback": (
        "GP-BACK-001",
        "nothing was changed on the host; offer these packages in one of its sources, or give --no-rollback",
    ),
    "space": ("GP-CONV-003", "free space on that file system and run the same command again"),
    "verify": ("GP-CONV-002", "see the transaction's log in /var/lib/gpuprov/transactions on the host"),
    "file": ("GP-CONV-001", "the old file is still in place"),
    "account": (
        "GP-CONV-001",
        "end the cause on the host, or change `access` of the spec, and run the same command again",
    ),
    "setting": ("GP-CONV-001", "this host cannot have it: take it out of `tuning`, or out of this host's pool"),
    "grub": ("GP-CONV-001", "run `update-grub` on the host to see it, end the cause, and run the same command again"),
    "initramfs": ("GP-CONV-001", "end the cause and run the same command again: it is made then"),
    "storage": ("GP-CONV-007", "the data on the disk was not touched; repair what is named, or change the spec"),
    "service": ("GP-CONV-001", "see `journalctl -u UNIT` on the host"),
}
"""Reasons of our own modules whose sentence stands as it is: code and hint."""


def diagnose(event: TaskEvent, *, log: Path) -> Diagnostic:
    """Translate a failed task or an unreachable host.

    Args:
        event: what the runner said of it.
        log: where all that Ansible printed is kept, for hints.
    """
    ours = event.result.get("gpuprov")
    if isinstance(ours, Mapping):
        return _diagnose_ours(event.host, ours)
    text = _text_of(event.result)
    if event.kind is Kind.UNREACHABLE:
        return _first((*_SSH, _SPACE), text, event.host) or _diagnostic(
            "GP-SSH-001", event.host, "the host cannot be reached", text, "try `ssh` to the host by hand"
        )
    found = _no_python(event, text) or _first((_SPACE, *_SSH), text, event.host)
    return found or _diagnostic(
        "GP-CONV-001",
        event.host,
        f'the task "{event.task}" failed: {_headline(event.result)}',
        text,
        f"all that Ansible printed is in {log}",
    )


def _diagnose_ours(host: str, ours: Mapping[str, Any]) -> Diagnostic:
    reason, text, detail = (str(ours.get(key, "")) for key in ("reason", "text", "detail"))
    if reason in _UNREAD:
        code, hint = _UNREAD[reason]
        return _first(_APT, detail, host) or _diagnostic(code, host, text, detail, hint)
    subject = str(ours.get("path") or ours.get("unit") or "")
    code, hint = _REASONS.get(reason, ("GP-CONV-001", ""))
    summary = f"{subject}: {text}" if subject else text
    return _diagnostic(code, host, summary, detail, hint.replace("UNIT", subject).replace("PATH", subject))


def _no_python(event: TaskEvent, text: str) -> Diagnostic | None:
    """A host without an interpreter is up, and says so itself (case A50)."""
    missing = re.search(r"(?P<path>/\S*python\S*): (?:not found|No such file)|python\S*: command not found", text)
    if missing is None and not (event.action.endswith("raw") and event.result.get("rc") == 127):  # noqa: PLR2004
        return None
    path = (missing and missing["path"]) or "/usr/bin/python3"
    return _diagnostic(
        "GP-CONV-001",
        event.host,
        f"no python3 on the host: {path.rstrip(':')} is not there",
        text,
        "install python3 on the host, or set ansible_python_interpreter in the inventory",
    )


def _first(rows: tuple[_Row, ...], text: str, host: str) -> Diagnostic | None:
    for row in rows:
        found = row.pattern.search(text)
        if found is not None:
            summary = row.summary.format_map({key: value or "" for key, value in found.groupdict().items()})
            return _diagnostic(row.code, host, summary, text, row.hint)
    return None


def _text_of(result: Mapping[str, Any]) -> str:
    parts = [
        str(result.get(key) or "") for key in ("msg", "stdout", "stderr", "module_stdout", "module_stderr", "exception")
    ]
    return "\n".join(part.strip() for part in parts if part.strip() and part != "(traceback unavailable)")


def _headline(result: Mapping[str, Any]) -> str:
    lines = str(result.get("msg") or result.get("stderr") or "it gave no reason").strip().splitlines()
    return lines[0].rstrip(".")


def _diagnostic(code: str, host: str, summary: str, detail: str, hint: str) -> Diagnostic:
    lines = [line.rstrip() for line in detail.splitlines() if line.strip()]
    return Diagnostic(code=code, address=host, summary=summary, detail="\n".join(lines[-_LAST_LINES:]), hint=hint)
