"""Makes the contents of the stand-in packages: programs with their output forms, and kernel modules."""

import ast
import importlib.util
import io
import json
import marshal
import shlex
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import yaml

from gpuprov.lab.vendor.elf import kernel_module
from gpuprov.lab.vendor.standin.forms import KIT, render
from gpuprov.lab.vendor.standin.kernel_module import FILLER

_STANDIN = Path(__file__).parent / "standin"
_PACKAGE = "gpuprov.lab.vendor.standin"
_MEMBER_TIME = (2025, 11, 30, 0, 0, 0)
_LICENSES = {"open": "Dual MIT/GPL", "proprietary": "NVIDIA"}
"""What the two flavours of the real module say in `modinfo -F license` (runtime_checks table, 2026-11-30)."""

# The file is shell up to here, and an archive from its end: each reads its own part.
_START = """\
exec /usr/bin/python3 -ISc 'import sys
del sys.argv[0]
sys.path.insert(0, sys.argv[0])
from @MODULE@ import main
raise SystemExit(main())' "$0" "$@"
"""

Form = Mapping[str, object]


def forms_folder() -> Path:
    """Gives the folder of the recorded output forms: packed with gpuprov, else the repository's test cases.

    Raises:
        FileNotFoundError: neither is there.
    """
    packed = Path(__file__).parents[2] / "_data/forms"
    for folder in (packed, Path(__file__).parents[3] / "tests/cases/forms"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"no recorded output forms in {packed}, and this is no checkout of the repository")


@cache
def forms() -> Mapping[str, Form]:
    """Gives all recorded output forms by id.

    Raises:
        ValueError: a form without id, text, source or date, or an id twice.
    """
    found: dict[str, Form] = {}
    for path in sorted(forms_folder().glob("*.yaml")):
        for form in yaml.safe_load(path.read_text())["forms"]:
            missing = {"id", "text", "source", "as_of", "command"} - set(form)
            if missing or form["id"] in found:
                fault = f"lacks {', '.join(sorted(missing))}" if missing else "is there twice"
                raise ValueError(f"{path}: form {form.get('id')!r} {fault}")
            found[form["id"]] = form
    return found


def program(
    name: str, *, form_prefixes: Sequence[str], data: Mapping[str, str], answers: Mapping[str, str] | None = None
) -> bytes:
    """Gives an executable zip application that runs `main` of standin/NAME.py, with forms and values inside.

    A probe starts several of these programs, and Python's start costs more than all that they do. So a shell stands
    before it, which answers what a recorded form answers alone and starts Python without `runpy`; the modules are there
    compiled for this machine's Python, and as source for a node that has another one (2026-11-30: `--version` 1 ms in
    place of 62 ms, a call of nvidia-smi 32 ms in place of 73 ms).

    Args:
        name: the stand-in's module.
        form_prefixes: which recorded forms it needs.
        data: its values.
        answers: recorded form by first argument, printed without Python.
    """
    chosen = {id_: form for id_, form in forms().items() if id_.split(".")[0] in form_prefixes}
    kit = {
        "texts": {id_: form["text"] for id_, form in chosen.items()},
        "statuses": {id_: form.get("status", 0) for id_, form in chosen.items()},
        "data": dict(data),
    }
    parents = ["gpuprov", "gpuprov/lab", "gpuprov/lab/vendor", "gpuprov/lab/vendor/standin"]
    members = {f"{folder}/__init__.py": "" for folder in parents}
    members |= {f"gpuprov/lab/vendor/standin/{module}.py": _source(module) for module in _closure(name)}
    compiled: dict[str, str | bytes] = {f"{path}c": _compiled(path, text) for path, text in members.items()}
    members[KIT] = json.dumps(kit, sort_keys=True)
    buffer = io.BytesIO()
    buffer.write(f"#!/bin/sh\n{_cases(answers or {}, data)}{_START.replace('@MODULE@', f'{_PACKAGE}.{name}')}".encode())
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        for path, content in sorted({**members, **compiled}.items()):
            archive.writestr(zipfile.ZipInfo(path, _MEMBER_TIME), content)
    return buffer.getvalue()


def static_program(answers: Mapping[str, str], values: Mapping[str, str]) -> bytes:
    """Gives a shell script that prints a recorded form for each first argument; `*` is any other one."""
    return f"#!/bin/sh\n{_cases(answers, values)}exit 2\n".encode()


def compiler() -> bytes:
    """Gives what tells the compiled modules of one Python from those of another; programs differ by it."""
    return importlib.util.MAGIC_NUMBER


def _cases(answers: Mapping[str, str], values: Mapping[str, str]) -> str:
    """Gives the shell's part that answers with recorded forms; `*` comes last, for it fits every argument."""
    text = ""
    for argument, id_ in sorted(answers.items(), key=lambda item: item[0] == "*"):
        form = forms()[id_]
        said = shlex.quote(render(str(form["text"]), values))
        text += f"{argument}) printf %s {said}; exit {form.get('status', 0)};;\n"
    return f'case "${{1-}}" in\n{text}esac\n' if text else ""


def _compiled(path: str, text: str) -> bytes:
    """Gives a module's code as Python's importer takes it from an archive, without a look at the source (PEP 552)."""
    code = compile(text, path, "exec", dont_inherit=True, optimize=0)
    unchecked = (1).to_bytes(4, "little")
    return compiler() + unchecked + importlib.util.source_hash(text.encode()) + marshal.dumps(code)


def driver_module(version: str, flavour: str, *, architecture: str) -> bytes:
    """Gives nvidia.ko of a driver release, with room for the version magic of the kernel it is installed for."""
    fields = [
        ("license", _LICENSES[flavour]),
        ("version", version),
        ("supported", "external"),
        ("alias", "pci:v000010DEd*sv*sd*bc03sc02i00*"),
        ("alias", "pci:v000010DEd*sv*sd*bc03sc00i00*"),
        ("depends", ""),
        ("name", "nvidia"),
        ("vermagic", FILLER.decode()),
    ]
    return kernel_module(fields, architecture=architecture)


@cache
def _source(module: str) -> str:
    return (_STANDIN / f"{module}.py").read_text()


@cache
def _closure(module: str) -> frozenset[str]:
    """Gives a stand-in module and all that it imports from its own folder."""
    names = {module}
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.ImportFrom) and node.module == _PACKAGE:
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_PACKAGE + "."):
            names.add(node.module.removeprefix(_PACKAGE + "."))
    return frozenset(names).union(*(_closure(name) for name in names - {module}))
