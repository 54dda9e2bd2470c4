"""What the engine, its plugin and AWS behind it say in text -> diagnostics: the one place that reads their words.

Source of the engine's texts: engine 3.274.1, each one seen on 2026-11-30 (tests/cases/cloud/errors.yaml holds them).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gpuprov.cloud.aws_codes import diagnose
from gpuprov.cloud.events import Complaint
from gpuprov.cloud.state import STACK_TYPE, address_of
from gpuprov.model.diagnostic import Diagnostic

_LAST_LINES: Final = 20
_AGAIN: Final = "end the cause and run the same command again: what was made is kept"


@dataclass(frozen=True, slots=True)
class _Row:
    """A text and what it stands for; the first row that matches counts."""

    pattern: re.Pattern[str]
    code: str
    summary: str
    """May name groups of the pattern."""
    hint: str


def _row(pattern: str, code: str, summary: str, hint: str) -> _Row:
    return _Row(re.compile(pattern, re.IGNORECASE | re.DOTALL), code, summary, hint)


_ENGINE: Final = (
    _row(
        r"the stack is currently locked by.*?created by (?P<who>\S+) \(pid (?P<pid>\d+)\) at (?P<when>\S+)",
        "GP-CLOUD-011",
        "{who} (process {pid}) has held the stack's state since {when}",
        "wait until that run ends; if it has ended without letting go: `gpuprov state unlock`",
    ),
    _row(
        r"the stack is currently locked by|Another update is currently in progress",
        "GP-CLOUD-011",
        "another run holds the stack's state",
        "wait until it ends",
    ),
    _row(
        r"incorrect passphrase|cipher: message authentication failed",
        "GP-CLOUD-012",
        "the passphrase does not open the stack's state",
        "give the one it was made with: PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE, or neither, and the"
        " file `passphrase` beside the state",
    ),
    _row(
        r"passphrase must be set|unable to (?:read|find|open) \S*passphrase"
        r"|PULUMI_CONFIG_PASSPHRASE_FILE.*no such file",
        "GP-CLOUD-012",
        "the passphrase of the stack's state cannot be read",
        "check PULUMI_CONFIG_PASSPHRASE_FILE; unset it to use the file `passphrase` beside the state",
    ),
    _row(
        r"failed to load checkpoint|unexpected end of JSON input|snapshot integrity failure|get(?:ting)? checkpoint",
        "GP-CLOUD-013",
        "the stack's state is broken",
        "put a whole copy back: `gpuprov state list` shows them, `gpuprov state restore` does it",
    ),
    _row(
        r"no resource plugin 'pulumi-resource-(?P<name>\w+)' found|failed to load plugin|plugin .*? not found",
        "GP-CLOUD-002",
        "the engine's plugin for AWS cannot be found",
        "let the engine install it: `pulumi plugin install resource aws`",
    ),
    _row(
        r"did not begin responding to RPC connections|could not connect to (?:resource )?plugin",
        "GP-CLOUD-002",
        "the plugin for AWS that PULUMI_DEBUG_PROVIDERS names does not answer",
        "start it, or unset PULUMI_DEBUG_PROVIDERS",
    ),
)

_PROVIDER: Final = (
    _row(
        r"No valid credential sources? found|failed to refresh cached credentials|no EC2 IMDS role found",
        "GP-CLOUD-003",
        "the plugin for AWS found no credentials",
        "see targets.cloud.profile, `aws sso login`, or the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    _row(
        r"error reading from server: EOF|transport is closing|connection reset by peer|the plugin .*? exited",
        "GP-CLOUD-010",
        "the plugin for AWS ended, or lost its connection, in the middle of the call",
        "run the same command again: what was made without being recorded is looked for by its tag first",
    ),
    _row(
        r"connection refused|no such host|network is unreachable|dial tcp|Could not connect to the endpoint"
        r"|TLS handshake timeout|Connection was closed before",
        "GP-CLOUD-025",
        "AWS cannot be reached",
        "check name server, proxy (HTTPS_PROXY) and firewall; AWS_ENDPOINT_URL, where it is set, must answer",
    ),
    _row(
        r"context deadline exceeded|timeout while waiting|Read timeout on endpoint|timed out",
        "GP-CLOUD-024",
        "AWS did not answer in time",
        "run the same command again; what was made is kept",
    ),
)

# AWS SDK for Go (the official plugin) and botocore (the lab's) put the code between their own words.
_AWS: Final = (
    re.compile(r"api error (?P<code>[\w.]+): (?P<message>[^\n]*)"),
    re.compile(
        r"An error occurred \((?P<code>[\w.]+)\) when calling the (?P<operation>\w+) operation[^:]*: "
        r"(?P<message>[^\n]*)"
    ),
)
_OPERATION: Final = re.compile(r"operation error [\w ]+: (?P<operation>\w+)")
_GENERAL: Final = re.compile(
    r"^(?:error: )?(?:update failed|preview failed|destroy failed|refresh failed"
    r"|resource monitor (?:shut down|has terminated).*|\d+ errors? occurred:?|an? .*resource .*failed)$",
    re.IGNORECASE,
)
_UNHANDLED: Final = re.compile(r"an unhandled error occurred: (?P<why>.*)", re.DOTALL)
_FRAME: Final = re.compile(r"^(?:\d+ errors? occurred:|\*|\s)+")


def translate(complaints: Sequence[Complaint], output: str, *, log: Path | None = None) -> tuple[Diagnostic, ...]:
    """Say what a failed run of the engine means.

    Args:
        complaints: errors that came as events.
        output: what the engine printed, for failures before its first event.
        log: where all its output is kept, for a failure that nothing explains.

    Returns:
        At least one diagnostic; each failed resource has one.
    """
    faults = [match["why"] for one in complaints if (match := _UNHANDLED.match(one.text))]
    if faults:
        return tuple(dict.fromkeys(map(_fault, faults)))
    found = [_one(one) for one in complaints if not _GENERAL.match(one.text)]
    if found:
        return tuple(dict.fromkeys(found))
    text = _last(output)
    whole = (
        _engine(text)
        or _provider("", text)
        or Diagnostic(
            code="GP-CLOUD-010",
            summary=f"the engine failed: {_headline(text)}",
            detail=text,
            hint=f"all that it printed is in {log.parent}" if log else "",
        )
    )
    return (whole,)


def _one(complaint: Complaint) -> Diagnostic:
    address = "" if not complaint.urn or _of_stack(complaint) else address_of(complaint.urn)
    text = _last(_FRAME.sub("", complaint.text))
    found = _engine(text) or _aws(address, text) or _provider(address, text)
    return found or Diagnostic(
        code="GP-CLOUD-010",
        address=address,
        summary=f"{address or 'a resource'} failed: {_headline(text)}",
        detail=text,
        hint=_AGAIN,
    )


def _fault(why: str) -> Diagnostic:
    """The program itself failed: its last line names the exception, or says why it refused."""
    return Diagnostic(
        code="GP-INT-001",
        summary=f"the program of stacks/aws failed: {why.strip().splitlines()[-1].strip()}",
        detail=_last(why),
        hint="this is a fault of gpuprov's own; the detail belongs in a report of it",
    )


def _engine(text: str) -> Diagnostic | None:
    return _first(_ENGINE, "", text)


def _provider(address: str, text: str) -> Diagnostic | None:
    return _first(_PROVIDER, address, text)


def _aws(address: str, text: str) -> Diagnostic | None:
    for pattern in _AWS:
        found = pattern.search(text)
        if found is None:
            continue
        words = found.groupdict()
        named = _OPERATION.search(text)
        operation = words.get("operation") or (named["operation"] if named else "")
        told = diagnose(words["code"], words["message"], address=address, operation=operation)
        return told if told.hint else replace(told, hint=_AGAIN)
    return None


def _first(rows: tuple[_Row, ...], address: str, text: str) -> Diagnostic | None:
    for row in rows:
        found = row.pattern.search(text)
        if found is not None:
            groups = {key: value or "" for key, value in found.groupdict().items()}
            return Diagnostic(
                code=row.code, address=address, summary=row.summary.format_map(groups), detail=text, hint=row.hint
            )
    return None


def _of_stack(complaint: Complaint) -> bool:
    return f"::{STACK_TYPE}::" in complaint.urn


def _last(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-_LAST_LINES:])


def _headline(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    first = next(iter([*errors, *lines]), "it gave no reason")
    return first[:300].rstrip(".")
