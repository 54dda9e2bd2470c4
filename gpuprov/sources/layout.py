"""Where files of a repository are, in both layouts, and which index files of a Release are wanted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.definition import SourceDefinition
from gpuprov.sources.release import IndexFile, Release

SUFFIXES: Final = (".xz", ".gz", "")
"""Compressions of a Packages file, the smallest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WantedFile:
    """One Packages file to fetch."""

    file: IndexFile
    suffix: str
    urls: tuple[str, ...]
    """By digest first, where the repository has that."""


def release_root(definition: SourceDefinition) -> str:
    """URL of the folder that holds the Release, ending in `/`."""
    root = definition.url.rstrip("/")
    if definition.flat:
        path = definition.suite.strip("/").removeprefix("./").strip("./")
        return f"{root}/{path}/" if path else f"{root}/"
    return f"{root}/dists/{definition.suite}/"


def wanted_files(definition: SourceDefinition, release: Release, arch: str) -> tuple[WantedFile, ...]:
    """The Packages files to read, in apt's order.

    Raises:
        GpuprovError: GP-SRC-005 when the repository has no index for a component and the architecture.
    """
    found = []
    for stem, required in _stems(definition, release, arch):
        wanted = _smallest(definition, release, stem)
        if wanted is not None:
            found.append(wanted)
        elif required:
            raise GpuprovError(_missing(definition, release, stem, arch))
    return tuple(found)


def _stems(definition: SourceDefinition, release: Release, arch: str) -> Iterator[tuple[str, bool]]:
    if definition.flat:
        yield "Packages", True
        return
    for component in definition.components:
        yield f"{component}/binary-{arch}/Packages", True
        if release.all_apart and "all" in release.architectures:
            yield f"{component}/binary-all/Packages", False


def _smallest(definition: SourceDefinition, release: Release, stem: str) -> WantedFile | None:
    root = release_root(definition)
    for suffix in SUFFIXES:
        # Some flat repositories write `./Packages.gz`.
        for path in (stem + suffix, f"./{stem}{suffix}"):
            file = release.files.get(path)
            if file is not None:
                plain = root + path.removeprefix("./")
                hashed = f"{plain.rpartition('/')[0]}/by-hash/SHA256/{file.sha256}"
                return WantedFile(file=file, suffix=suffix, urls=(hashed, plain) if release.by_hash else (plain,))
    return None


def _missing(definition: SourceDefinition, release: Release, stem: str, arch: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-005",
        address=f"sources.{definition.name}",
        summary=f"source {definition.name} has no index {stem} for {arch}",
        detail=f"Its Release names the architectures {' '.join(release.architectures) or '(none)'} "
        f"and the components {' '.join(release.components) or '(none)'}.",
        hint="Correct the suite or the components of the source, or use a repository for this architecture.",
    )
