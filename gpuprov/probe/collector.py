"""A collector: a shell command that reads, and a pure function from what it printed to observations."""

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gpuprov.model.address import split_address
from gpuprov.model.fact import Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.request import ProbeRequest

Found = dict[str, Observation]
"""Address -> observation. The key `package[*]` says what any other member of the family is."""

NOT_INSTALLED = 127
"""Status of a collector whose program is not there."""
TIMED_OUT = 124
"""Status of a collector that was ended (timeout(1))."""
_SHOWN = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Collector:
    """One row of the probe."""

    name: str
    command: Callable[[ProbeRequest], str]
    """Text for a POSIX shell; it runs in a subshell, and its standard input is empty.

    The script replaces secrets in everything that is printed. `$R` holds the sed script that does so, for a command
    that encodes what it prints.
    """
    gives: tuple[str, ...]
    """Addresses, with `*` for members."""
    parse: Callable[[CollectorOutput, Recording], Found]
    """Pure; it never raises, and what it does not understand is Unknown."""
    limit: int = 30
    """Seconds, after which the host ends the command; 0 for one that only reads files: the probe's own limit holds.

    A command that works takes well under a second on an idle host. The limit is for a busy one: at a load of 15 on two
    cores, those that look at files and ask Docker took more than 10 s (measured in the lab, 2026-11-30), and "unknown"
    there would be untrue. All of them together stay within the probe's own timeout.
    """


def fixed(text: str) -> Callable[[ProbeRequest], str]:
    """A command that is the same for every request."""
    return lambda _: text


def need(program: str) -> str:
    """The shell text that ends a collector whose program is not there, so that "absent" and "failed" are two things."""
    name = shlex.quote(program)
    return (
        f"command -v {name} >/dev/null 2>&1 ||"
        f" {{ echo 'gpuprov: '{name}' is not installed' >&2; exit {NOT_INSTALLED}; }}; "
    )


MAY_ENTER = 'may_enter() { [ -r "$1" ] && [ -x "$1" ] || { echo "$1: Permission denied" >&2; exit 1; }; }'
"""A shell function: what is in a folder that may not be entered is unknown, and not absent."""


def is_missing(output: CollectorOutput) -> bool:
    """Whether the collector's program is not there."""
    return output.status == NOT_INSTALLED and "gpuprov: " in output.stderr


def observe(collector: Collector, recording: Recording) -> Found:
    """Parse a collector's output; every address it gives is there, Unknown where the output does not tell."""
    output = recording.collectors.get(collector.name)
    if output is None:
        return unknown(collector.gives, f"the recording holds no output of the collector {collector.name}")
    if output.status == TIMED_OUT:
        return unknown(collector.gives, f"the collector {collector.name} did not end in time")
    found = dict(collector.parse(output, recording))
    silent = Unknown(f"the collector {collector.name} did not tell")
    for address in collector.gives:
        family = family_of(address)
        found.setdefault(f"{family}[*]" if family else address, silent)
    return found


def unknown(gives: Iterable[str], reason: str) -> Found:
    """Everything that a collector gives as Unknown.

    Of a family that could not be looked at, no member is known to be there or not; that is told at the family's
    patterns themselves (`limit[*].value`), so that two hosts that both hide their limits are not taken for equal.
    """
    found: Found = {}
    for address in gives:
        found[address] = Unknown(reason)
        if family := family_of(address):
            found[f"{family}[*]"] = Unknown(reason)
    return found


def family_of(address: str) -> str:
    """The family of a member's address or pattern; empty for any other address."""
    if "[*]" in address:
        return address.partition("[")[0]
    parts = split_address(address)
    return parts[0] if parts else ""


def failure(output: CollectorOutput, recording: Recording, what: str) -> Unknown:
    """Unknown, with what a failed command said; a permission that is missing is told as such."""
    text = first_line(output.stderr) or first_line(output.stdout)
    if "ermission denied" in output.stderr or "ermission denied" in output.stdout:
        return needs_root(text, recording)
    return Unknown(f"{what} ended with status {output.status}" + (f": {text}" if text else ""))


def needs_root(text: str, recording: Recording) -> Unknown:
    """Unknown because the probe did not run as root, with the reason why it did not."""
    root = recording.collectors.get("root")
    why = first_line(root.stderr) if root else ""
    return Unknown(f"needs root: {text}" + (f" ({why})" if why else ""))


def odd(output: CollectorOutput, what: str) -> Unknown:
    """Unknown, because the output has a form that the parser does not know; the output's first line is shown."""
    return Unknown(f"{what} has an unknown form: {first_line(output.stdout) or first_line(output.stderr) or 'empty'}")


def lines_of_files(text: str) -> dict[str, list[str]]:
    """What `grep -H '' FILE...` printed, by file: many small files cost one process that way.

    Only for paths without a colon.
    """
    files: dict[str, list[str]] = {}
    for line in text.split("\n"):
        path, colon, rest = line.partition(":")
        if colon and path.startswith("/"):
            files.setdefault(path, []).append(rest)
    return files


def sections_of(text: str, mark: str) -> list[tuple[str, list[str]]]:
    """The parts of a text that begin with a line `MARK NAME`: name and lines of each."""
    parts: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if line.startswith(f"{mark} "):
            parts.append((line.removeprefix(f"{mark} "), []))
        elif parts:
            parts[-1][1].append(line)
    return parts


def ended(output: CollectorOutput) -> bool:
    """Whether a command that prints `end` as its last line did all of its work."""
    return output.status == 0 and output.stdout.endswith("end\n")


def first_line(text: str) -> str:
    """The first line that is not blank, shortened."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _SHOWN else line[:_SHOWN] + " ..."
