"""What the resolver must be able to ask of package sources: a protocol, and one package's stanza as a value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gpuprov.model.package import PackageRow
from gpuprov.model.version import holds


@dataclass(frozen=True, slots=True, order=True)
class Relation:
    """One name of a dependency, `libc6 (>= 2.36)`; a foreign architecture's qualifier stays part of the name."""

    name: str
    relation: str = ""
    """`>=`, `>>`, `=`, `<<`, `<=`, or empty for any version."""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.relation} {self.version})" if self.relation else self.name


Group = tuple[Relation, ...]
"""Alternatives, the first preferred: `a | b`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stanza:
    """One version of one package as a source offers it."""

    row: PackageRow
    pin: int
    """apt's pin priority of the source: 500, 100 for backports."""
    rank: int
    """Position of the source in the order of the sources; the first wins when all else is equal."""
    pre_depends: tuple[Group, ...] = ()
    depends: tuple[Group, ...] = ()
    recommends: tuple[Group, ...] = ()
    suggests: tuple[Group, ...] = ()
    conflicts: tuple[Relation, ...] = ()
    """Conflicts and Breaks."""
    provides: tuple[Relation, ...] = ()
    essential: bool = False
    important: bool = False
    priority: str = "optional"
    """Field Priority: required, important, standard, optional, extra."""

    @property
    def name(self) -> str:
        """Name of the package."""
        return self.row.name

    @property
    def version(self) -> str:
        """Version of the package."""
        return self.row.version

    @property
    def needs(self) -> tuple[Group, ...]:
        """What must be there for the package to work, in apt's order."""
        return self.pre_depends + self.depends

    def satisfies(self, wanted: Relation) -> bool:
        """Whether this stanza answers one name of a dependency, itself or by what it provides."""
        if self.name == wanted.name and holds(self.version, wanted.relation, wanted.version):
            return True
        return any(_provided(provided, wanted) for provided in self.provides if provided.name == wanted.name)


def _provided(provided: Relation, wanted: Relation) -> bool:
    # An unversioned Provides answers no versioned dependency (Debian Policy 7.5).
    if not wanted.relation:
        return True
    return bool(provided.version) and holds(provided.version, wanted.relation, wanted.version)


class Index(Protocol):
    """All packages of some sources for one architecture."""

    def stanzas(self, name: str) -> Sequence[Stanza]:
        """All versions of a package in all sources, in no particular order; empty when no source has the name."""

    def providers(self, name: str) -> Sequence[str]:
        """Names of the packages of which some version provides `name`; without `name` itself."""

    def mention(self, name: str) -> int:
        """Position at which the name is first mentioned in the indexes: apt's last tie-break."""

    def names(self) -> Sequence[str]:
        """All package names, sorted: for a hint when a name does not exist."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryIndex:
    """An Index over stanzas in memory: for small sources, and for the cases that tests describe as data."""

    by_name: Mapping[str, tuple[Stanza, ...]]
    provided: Mapping[str, tuple[str, ...]]
    mentions: Mapping[str, int]

    @classmethod
    def of(cls, stanzas: Sequence[Stanza]) -> "MemoryIndex":
        """Index stanzas, given in the order of the sources and of their lists."""
        by_name: dict[str, list[Stanza]] = {}
        provided: dict[str, dict[str, None]] = {}
        mentions: dict[str, int] = {}
        for stanza in stanzas:
            by_name.setdefault(stanza.name, []).append(stanza)
            for name in mentioned(stanza):
                mentions.setdefault(name, len(mentions))
            for relation in stanza.provides:
                if relation.name != stanza.name:
                    provided.setdefault(relation.name, {})[stanza.name] = None
        return cls(
            by_name={name: tuple(found) for name, found in by_name.items()},
            provided={name: tuple(found) for name, found in provided.items()},
            mentions=mentions,
        )

    def stanzas(self, name: str) -> Sequence[Stanza]:
        """All versions of a package."""
        return self.by_name.get(name, ())

    def providers(self, name: str) -> Sequence[str]:
        """Names of the packages that provide `name`."""
        return self.provided.get(name, ())

    def mention(self, name: str) -> int:
        """Position of the first mention; names that are never mentioned come last."""
        return self.mentions.get(name, len(self.mentions))

    def names(self) -> Sequence[str]:
        """All package names, sorted."""
        return sorted(self.by_name)


def mentioned(stanza: Stanza) -> list[str]:
    """The names a stanza mentions, in the order in which apt reads the fields that a Stanza keeps."""
    found = [stanza.name]
    for groups in (stanza.pre_depends, stanza.depends):
        found += [relation.name for group in groups for relation in group]
    found += [relation.name for relation in stanza.conflicts]
    for groups in (stanza.recommends, stanza.suggests):
        found += [relation.name for group in groups for relation in group]
    return [*found, *(relation.name for relation in stanza.provides)]
