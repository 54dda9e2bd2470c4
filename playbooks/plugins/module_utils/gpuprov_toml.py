"""Our lines in containerd's configuration, between two marks; every other line stays as somebody wrote it.

Owns: the block of ours for each version of the configuration, and what has to be read of a file to place it.
Takes: the text of a file.
Gives: the text with the block, or without it.
Must not: open a file, or judge the outcome: containerd's own dump of the merged configuration does.
"""

from __future__ import annotations

import re

BEGIN = "# Begin of gpuprov's lines. Change the spec, not these."
END = "# End of gpuprov's lines."
DEFAULT_VERSION = 2
"""Of a file that gpuprov makes: containerd 1.5 to 2.x read it."""

# The plugin that serves Kubernetes, by version of the configuration (containerd's docs/PLUGINS.md and
# docs/cri/config.md of 1.6, 1.7 and 2.0, 2025-11).
_PLUGINS = {1: "plugins.cri", 2: 'plugins."io.containerd.grpc.v1.cri"', 3: "plugins.'io.containerd.cri.v1.runtime'"}
VERSIONS = tuple(_PLUGINS)
_BLOCK = re.compile(rf"\n?{re.escape(BEGIN)}\n.*?{re.escape(END)}\n", re.DOTALL)
_TOP = re.compile(r"(?P<top>.*?)(?=^\s*\[|\Z)", re.DOTALL | re.MULTILINE)
_VERSION = re.compile(r"^\s*version\s*=\s*(\d+)", re.MULTILINE)
_IMPORTS = re.compile(r"^\s*imports\s*=\s*\[(?P<list>[^\]]*)\]", re.MULTILINE | re.DOTALL)
_PLUGIN = re.compile(r"^\s*\[plugins\.['\"]?(?:io\.containerd\.(?:grpc\.v1\.cri|cri\.v1\.runtime)|cri\b)", re.MULTILINE)
_STRING = re.compile(r"\"([^\"]*)\"|'([^']*)'")


def version(text: str) -> int:
    """The version of a configuration; one without a version is of the first."""
    found = _VERSION.search(_top(text))
    return int(found[1]) if found else 1


def imports(text: str) -> list[str]:
    """The patterns of files that a configuration imports, in order."""
    found = _IMPORTS.search(_top(text))
    return [first or second for first, second in _STRING.findall(found["list"])] if found else []


def with_imports(text: str, paths: list[str]) -> str:
    """The configuration with other imports, to have a copy of it judged beside copies of what it imports."""
    lines = "imports = [" + ", ".join(f'"{path}"' for path in paths) + "]"
    return _IMPORTS.sub(lambda _: lines, text, count=1)


def names_plugin(text: str) -> bool:
    """Whether a file holds a table of the plugin: containerd may then take the plugin's tables from it alone."""
    return _PLUGIN.search(text) is not None


def without_block(text: str) -> str:
    """The text without our lines."""
    return _BLOCK.sub("", text)


def with_block(text: str, name: str, runtime: str, program: str, others: list[str] | None = None) -> str:
    """The text with our lines, which add one runtime.

    Args:
        text: of a file; empty for a new one.
        name: of the runtime.
        runtime: its type.
        program: path of what runs.
        others: lines of runtimes that containerd has by default, and forgets as soon as a file names any runtime.
    """
    clean = without_block(text)
    if not clean.strip():
        clean = f"version = {DEFAULT_VERSION}\n"
    table = f"{_PLUGINS[version(clean)]}.containerd.runtimes.{name}"
    lines = [
        BEGIN,
        f"[{table}]",
        f'  runtime_type = "{runtime}"',
        f"[{table}.options]",
        f'  BinaryName = "{program}"',
        *(others or []),
        END,
    ]
    newline = "" if clean.endswith("\n") else "\n"
    return f"{clean}{newline}\n" + "\n".join(lines) + "\n"


def _top(text: str) -> str:
    """The part before the first table."""
    found = _TOP.match(text)
    return found["top"] if found else text
