"""Values that Ansible's INI format changes: `12.10` becomes 12.1, `000000` becomes 0 (A48)."""

import ast
import os
import re
from collections.abc import Mapping
from pathlib import Path

from gpuprov.model.diagnostic import Diagnostic, Severity, Span
from gpuprov.provision.variables import TEXTS

_SETTING = re.compile(r"""(?:^|(?<=\s))(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>"[^"]*"|'[^']*'|[^\s#;]+)""")
_SECTION = re.compile(r"\s*\[(?P<name>[^\]:]+)(?::(?P<kind>[a-z]+))?\]")


def is_ini(path: Path) -> bool:
    """Whether Ansible reads a path by its INI parser: a file whose name does not say otherwise."""
    other = {".yml", ".yaml", ".json", ".toml"}
    return path.is_file() and path.suffix.lower() not in other and not os.access(path, os.X_OK)


def find_lossy_values(path: Path) -> tuple[Diagnostic, ...]:
    """Warn of each value of an INI inventory that Ansible reads as something else than what is written.

    Ansible reads a bare value as a Python literal where it can (ansible-core 2.19, ini inventory plugin), on lines of
    hosts and below `[group:vars]` alike.

    Args:
        path: the inventory, an INI file.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if line.lstrip().startswith(("#", ";")) or _SECTION.match(line):
            continue
        for setting in _SETTING.finditer(line):
            value = setting["value"]
            read = _as_ansible_reads(value)
            if read is not None and read != value:
                found.append(_warn(path, number, line, setting, read))
    return tuple(found)


def _as_ansible_reads(value: str) -> str | None:
    """What Ansible makes of a bare value, as text; None when it stays the text it is."""
    try:
        literal = ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if isinstance(literal, str) or not isinstance(literal, int | float | complex | type(None)):
        return None
    return str(literal)


def _warn(path: Path, number: int, line: str, setting: "re.Match[str]", read: str) -> Diagnostic:
    name, value = setting["name"], setting["value"]
    return Diagnostic(
        code="GP-INV-006",
        severity=Severity.WARNING,
        address=name,
        summary=f"{name}={value} is read as {read}",
        hint=f"""write {name}='"{value}"' to keep the text, or use a YAML inventory with quotes""",
        span=Span(file=str(path), line=number, column=setting.start() + 1, end_column=setting.end() + 1, text=line),
    )


def find_odd_types(host: str, variables: Mapping[str, object]) -> list[Diagnostic]:
    """Warn of connection variables whose text a YAML inventory turned into something else (`yes`, `12.10`)."""
    return [
        Diagnostic(
            code="GP-INV-006",
            severity=Severity.WARNING,
            address=host,
            summary=f"{name} is {'a truth value' if isinstance(value, bool) else 'a number'}, not a text",
            hint=f"put the value of {name} into quotes",
        )
        for name, value in sorted(variables.items())
        if isinstance(value, bool | float) and name in TEXTS
    ]
