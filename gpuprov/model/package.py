"""Packages: a family, a name, a version and where it comes from."""

from dataclasses import dataclass
from enum import StrEnum


class Family(StrEnum):
    """A package system; each has its own version order."""

    DEB = "deb"
    """dpkg and apt."""
    RPM = "rpm"
    """rpm and dnf: named here so that a version says what it is; not built yet (status 5)."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class PackageRow:
    """One exact package as the lock pins it."""

    name: str
    version: str
    arch: str
    """Architecture field of the index: `amd64`, `arm64` or `all`."""
    source: str
    """Name of the source in the spec."""
    sha256: str
    """Hex digest of the package file."""
    size: int = 0
    """Size of the package file in bytes."""
    installed_size: int = 0
    """Installed-Size in KiB, 0 when the index does not say."""
    filename: str = ""
    """Path below the source's root."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Bound:
    """A lower bound on a package of the OS archive that a pinned package needs but the lock does not pin."""

    name: str
    relation: str
    """`>=`, `>>`, `=`, `<<`, `<=`, or empty for any version."""
    version: str
    needed_by: str
