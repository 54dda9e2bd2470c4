"""Makes the contents of the stand-in packages: programs with their output forms, and kernel modules."""

import ast
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import yaml

from gpuprov.lab.vendor.elf import kernel_module
from gpuprov.lab.vendor.standin.forms import render
from gpuprov.lab.vendor.standin.kernel_module import FILLER

_STANDIN = Path(__file__).parent / "standin"
_PACKAGE = "gpuprov.lab.vendor.standin"
_MEMBER_TIME = (2025, 11, 30, 0, 0, 0)
_LICENSES = {"open": "Dual MIT/GPL", "proprietary": "NVIDIA"}
"""What the two flavours of the real module say in `modinfo -F license` (runtime_checks table, 2026-11-30)."""

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


def program(name: str, *, form_prefixes: Sequence[str], data: Mapping[str, str]) -> bytes:
    """Gives an executable zip application that runs `main` of standin/NAME.py, with forms and values inside."""
    chosen = {id_: form for id_, form in forms().items() if id_.split(".")[0] in form_prefixes}
    kit = {
        "texts": {id_: form["text"] for id_, form in chosen.items()},
        "statuses": {id_: form.get("status", 0) for id_, form in chosen.items()},
        "data": dict(data),
    }
    parents = ["gpuprov", "gpuprov/lab", "gpuprov/lab/vendor", "gpuprov/lab/vendor/standin"]
    members = {f"{folder}/__init__.py": "" for folder in parents}
    members |= {f"gpuprov/lab/vendor/standin/{module}.py": _source(module) for module in _closure(name)}
    members["gpuprov/lab/vendor/standin/kit.json"] = json.dumps(kit, sort_keys=True)
    members["__main__.py"] = f"from {_PACKAGE}.{name} import main\nraise SystemExit(main())\n"
    buffer = io.BytesIO()
    buffer.write(b"#!/usr/bin/python3 -IS\n")
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        for path, text in sorted(members.items()):
            archive.writestr(zipfile.ZipInfo(path, _MEMBER_TIME), text)
    return buffer.getvalue()


def static_program(answers: Mapping[str, str], values: Mapping[str, str]) -> bytes:
    """Gives a shell script that prints a recorded form for each first argument; `*` is any other one."""
    text = '#!/bin/sh\ncase "$1" in\n'
    for argument, id_ in sorted(answers.items(), key=lambda item: item[0] == "*"):
        form = forms()[id_]
        text += f"{argument})\ncat <<'END'\n{render(str(form['text']), values)}END\nexit {form.get('status', 0)};;\n"
    return (text + "esac\nexit 2\n").encode()


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
