"""Ansible's own programs: find them, run them, and turn what they say into a diagnostic."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span

_PATIENCE = 120.0
"""Seconds; an inventory may be a program that asks a site's own database."""
_ORIGIN = re.compile(r"^Origin: (?P<file>/.+?)(?::(?P<line>\d+)(?::(?P<column>\d+))?)?$", re.MULTILINE)


def find_program(name: str) -> str:
    """Path of one of Ansible's programs: beside the running Python first, then on PATH.

    Raises:
        GpuprovError: GP-INV-001 when it is nowhere.
    """
    beside = Path(sys.executable).parent / name
    if os.access(beside, os.X_OK):
        return str(beside)
    found = shutil.which(name)
    if found is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-001",
                address=name,
                summary=f"the program {name} is not installed",
                hint="install ansible-core beside gpuprov: pip install ansible-core",
            )
        )
    return found


def run_ansible(
    name: str, arguments: Sequence[str], *, path: Path, stdin: str = "", extra: dict[str, str] | None = None
) -> str:
    """Run one of Ansible's programs and return its standard output.

    Args:
        name: such as `ansible-inventory`.
        arguments: after the name.
        path: the inventory, for messages.
        stdin: its input; it never asks on a terminal.
        extra: environment variables to set where the user has not set them.

    Raises:
        GpuprovError: GP-INV-001 with Ansible's own words, and file and line where it tells them.
    """
    environment = {**(extra or {}), **os.environ, "ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8"}
    environment.pop("ANSIBLE_FORCE_COLOR", None)
    try:
        done = subprocess.run(
            [find_program(name), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            timeout=_PATIENCE,
            check=False,
            start_new_session=True,  # without a terminal, so that no vault password is asked for
        )
    except subprocess.TimeoutExpired as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-001",
                address=str(path),
                summary=f"{name} did not end within {_PATIENCE:.0f} s",
                hint="does the inventory run a program that waits for something?",
            )
        ) from error
    if done.returncode:
        raise GpuprovError(explain_refusal(name, done.returncode, done.stderr, path))
    return done.stdout


def explain_refusal(name: str, status: int, said: str, path: Path) -> Diagnostic:
    """Turn what one of Ansible's programs printed on standard error into a diagnostic.

    Args:
        name: of the program.
        status: its exit status.
        said: its standard error.
        path: the inventory.
    """
    text = _cause(said, path)
    vault = name == "ansible-vault" or re.search(r"(?i)vault.*(?:secret|decrypt)|decrypt.*vault", text) is not None
    if "Vault password:" in said:
        text = "no vault password is given"
    return Diagnostic(
        code="GP-INV-001",
        address=str(path),
        summary="the inventory holds vaulted text that cannot be decrypted"
        if vault
        else f"{name} refuses the inventory (status {status})",
        detail=text,
        hint="give the right password with --vault-password-file" if vault else "",
        span=_span_by_origin(text) or _span_by_text(text, path),
    )


def _cause(said: str, path: Path) -> str:
    """The words of the parser that the file is meant for; the others only say that the file is not theirs."""
    parts = re.split(r"^\[(?:WARNING|ERROR)\]: ", said, flags=re.MULTILINE)
    failed = [p for p in parts if p.startswith("Failed to parse")]
    if path.suffix.lower() not in {".yml", ".yaml"}:
        failed = [p for p in failed if "'ini' plugin" in p] or failed
    chosen = failed[0] if failed else next((p for p in parts if p.strip()), said)
    # A chain of causes repeats each message; the last one is the cause, with its place.
    cause = chosen.rpartition("<<< caused by >>>")[2]
    return "\n".join(line.rstrip() for line in cause.splitlines() if line.strip())


def _span_by_origin(text: str) -> Span | None:
    place = next((m for m in _ORIGIN.finditer(text) if m["line"]), None)
    if place is None:
        return None
    return Span(
        file=place["file"],
        line=int(place["line"]),
        column=int(place["column"] or 1),
        text=_source_line(Path(place["file"]), int(place["line"])),
    )


def _span_by_text(text: str, path: Path) -> Span | None:
    """The line of an INI file that Ansible quotes without its number."""
    quoted = re.search(r"got: (.+)$|pattern '(.+?)' supplied", text, re.MULTILINE)
    wanted = (quoted[1] or quoted[2]).strip().strip("'\"") if quoted is not None else ""
    if not path.is_file():
        return None
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        half_section = not wanted and line.startswith("[") and "]" not in line
        if (wanted and wanted in line) or half_section:
            return Span(file=str(path), line=number, column=line.index(wanted) + 1, text=line)
    return None


def _source_line(path: Path, number: int) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[number - 1] if 0 < number <= len(lines) else ""
