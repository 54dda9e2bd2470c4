"""Expands the packages' descriptions (packages/*.yaml) into binary packages: one per release and name."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gpuprov.lab.vendor.deb import Entry, write_deb
from gpuprov.lab.vendor.elf import shared_library, store_number
from gpuprov.lab.vendor.maintainer import maintainer_scripts
from gpuprov.lab.vendor.payload import compiler, driver_module, forms, program, static_program
from gpuprov.lab.vendor.standin.forms import render

FOLDER = Path(__file__).parent / "packages"
_PLACE = re.compile(r"@([a-z_]+)@")
_RELATIONS = ("Depends", "Recommends", "Provides", "Conflicts", "Breaks", "Replaces")
_TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
_TARGETS = {"amd64": "x86_64-linux", "arm64": "sbsa-linux"}
"""CUDA's own name of the target in /usr/local/cuda-X.Y/targets."""

Values = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """One package that the vendor has published, described but not yet built."""

    name: str
    version: str
    architecture: str
    releases: frozenset[str]
    """The releases that it belongs to, as `GROUP/ID`: `driver/580.95.05`."""
    template: Mapping[str, Any]
    """Its row of the description."""
    values: Values
    """What its placeholders stand for."""
    source: str
    """Name of the source package, by which apt pins select (`src:*nvidia*`)."""

    @property
    def file_name(self) -> str:
        """The file's name in the repository; the epoch is not part of it."""
        return f"{self.name}_{self.version.rpartition(':')[2]}_{self.architecture}.deb"


def described(architecture: str) -> tuple[Package, ...]:
    """Gives every package of every release of the descriptions, in the order of the descriptions.

    Raises:
        ValueError: a description uses a placeholder that its release does not have.
    """
    found: dict[tuple[str, str], Package] = {}
    documents = [(path, yaml.safe_load(path.read_text())) for path in sorted(FOLDER.glob("*.yaml"))]
    releases: dict[str, list[dict[str, Any]]] = {}
    for _, document in documents:
        releases.setdefault(document["group"], []).extend(document.get("releases", []))
    for path, document in documents:
        group = document["group"]
        for release in releases[group]:
            for template in document["packages"]:
                if not _applies(template, release):
                    continue
                values = _values(release, template, architecture, path)
                package = Package(
                    name=fill(template["name"], values, path),
                    version=fill(template.get("version", "@version@"), values, path),
                    architecture="all" if template.get("architecture") == "all" else architecture,
                    releases=frozenset({f"{group}/{release['id']}"}),
                    template=template,
                    values={**values, "name": fill(template["name"], values, path)},
                    source=_SOURCES[group],
                )
                _add(found, package)
    return tuple(found.values())


_SOURCES = {
    "driver": "nvidia-graphics-drivers",
    "cuda": "cuda-toolkit",
    "container": "nvidia-container-toolkit",
    "dcgm": "datacenter-gpu-manager",
    "libraries": "nccl-cudnn",
}


def build(package: Package) -> bytes:
    """Gives the package's file."""
    return write_deb(control_of(package), list(_entries(package)), maintainer_scripts(package.template, package.values))


def control_of(package: Package) -> str:
    """Gives the text of the package's control file."""
    template, values = package.template, package.values
    lines = [
        f"Package: {package.name}",
        f"Source: {package.source}",
        f"Version: {package.version}",
        f"Architecture: {package.architecture}",
    ]
    if "multi_arch" in template:
        lines.append(f"Multi-Arch: {template['multi_arch']}")
    lines.append("Maintainer: gpuprov lab <lab@gpuprov.invalid>")
    for relation in _RELATIONS:
        entries = [fill(entry, values) for entry in template.get(relation.lower(), [])]
        if entries:
            lines.append(f"{relation}: {', '.join(entries)}")
    lines += [
        f"Section: {template.get('section', 'non-free/kernel')}",
        "Priority: optional",
        f"Description: {fill(template['summary'], values)}",
        " Stand-in of gpuprov's lab: the name, the version form and the relations are those of NVIDIA's package;",
        " its files are not, and it drives simulated GPUs only.",
    ]
    if "module" in template:
        lines += [" There is nothing to build in it: it needs neither DKMS nor kernel headers."]
    return "\n".join(lines) + "\n"


def fill(text: str, values: Values, path: Path | None = None) -> str:
    """Puts the values of a release into `@name@` placeholders.

    Raises:
        ValueError: a placeholder has no value.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in values:
            raise ValueError(f"{path or 'description'}: {text!r} uses @{found[1]}@, which the release does not have")
        return values[found[1]]

    return _PLACE.sub(value, text)


def inputs_digest(architecture: str) -> str:
    """Gives a digest over all that the packages are made of: descriptions, forms, programs, this room's code."""
    digest = hashlib.sha256(architecture.encode() + compiler())
    room = Path(__file__).parent
    for path in sorted([*room.rglob("*.py"), *room.rglob("*.yaml")]):
        digest.update(str(path.relative_to(room)).encode() + b"\0" + path.read_bytes())
    for id_, form in sorted(forms().items()):
        digest.update(f"{id_}\0{form['text']}\0{form.get('status', 0)}".encode())
    return digest.hexdigest()


def _applies(template: Mapping[str, Any], release: Mapping[str, Any]) -> bool:
    """Tells whether a release publishes a package: by driver branch, or by the release's own fields."""
    low, high = template.get("branches", (0, 10**9))
    wanted = template.get("when", {})
    return low <= int(release.get("branch", 0)) < high and all(
        release.get(key) == value for key, value in wanted.items()
    )


def _values(release: Mapping[str, Any], template: Mapping[str, Any], architecture: str, path: Path) -> Values:
    values = {key: str(value) for key, value in release.items()}
    values |= {"triplet": _TRIPLETS[architecture], "target": _TARGETS[architecture], "architecture": architecture}
    if "cuda" in values and "branch" in values:
        major, minor = values["cuda"].split(".")
        values["cuda_number"] = str(int(major) * 1000 + int(minor) * 10)
    return values | {key: fill(value, values, path) for key, value in template.get("data", {}).items()}


def _add(found: dict[tuple[str, str], Package], package: Package) -> None:
    """Adds a package; one with a version of its own may belong to several releases and is built once."""
    key = (package.name, package.version)
    known = found.get(key)
    if known is None:
        found[key] = package
        return
    if "version" not in package.template:
        raise ValueError(f"{package.name} {package.version} is described twice")
    merged = {
        name: getattr(known, name) for name in ("name", "version", "architecture", "template", "values", "source")
    }
    found[key] = Package(releases=known.releases | package.releases, **merged)


def _entries(package: Package) -> Iterator[Entry]:
    """Makes the files of a package from its description."""
    values = package.values
    architecture = values["architecture"]
    for row in package.template.get("files", []):
        path = fill(row["path"], values)
        conffile = bool(row.get("conffile", False))
        if "link" in row:
            yield Entry(path=path, link=fill(row["link"], values))
        elif "program" in row:
            data = {key: fill(value, values) for key, value in row.get("data", {}).items()}
            made = program(
                row["program"], form_prefixes=row.get("forms", ()), data=data, answers=row.get("answers", {})
            )
            yield Entry(path=path, data=made, mode=0o755)
        elif "static" in row:
            yield Entry(path=path, data=static_program(row["static"], values), mode=0o755)
        elif "module" in row:
            yield Entry(path=path, data=driver_module(values["id"], row["module"], architecture=architecture))
        elif "library" in row:
            numbers = {name: int(fill(number, values)) for name, number in row.get("returns", {}).items()}
            functions = {name: store_number(number, architecture=architecture) for name, number in numbers.items()}
            library = shared_library(fill(row["library"], values), functions, architecture=architecture)
            yield Entry(path=path, data=library)
        elif "filler" in row:
            yield Entry(path=path, data=(f"stand-in of {path}\n".encode() * row["filler"])[: row["filler"]])
        elif "form" in row:
            yield Entry(path=path, data=render(str(forms()[row["form"]]["text"]), values).encode(), conffile=conffile)
        else:
            yield Entry(path=path, data=fill(row["text"], values).encode(), conffile=conffile)
