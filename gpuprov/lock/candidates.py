"""Which versions of a package may be chosen, best first: requests, driver sets and earlier pins filter an index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuprov.lock.equal import Head, member_of
from gpuprov.lock.index import Index, Relation, Stanza
from gpuprov.lock.pool_input import EqualSet, Request
from gpuprov.model.package import PackageRow
from gpuprov.model.version import Constraint, sort_key, upstream

_OS: Final = "os"


def is_os_name(name: str) -> bool:
    """Whether a source's name says that it is the OS archive: `os`, `os/bookworm-updates`, or a spec's `os-updates`."""
    return name == _OS or name.startswith((f"{_OS}/", f"{_OS}-"))


def from_source(row: PackageRow, source: str) -> bool:
    """Whether a package comes from a source; `os` stands for all parts of the OS archive."""
    return not source or row.source == source or (source == _OS and is_os_name(row.source))


@dataclass(kw_only=True, slots=True)
class Candidates:
    """The versions of every package that may be chosen, in the order of preference; computed when asked for."""

    index: Index
    requests: Sequence[Request]
    prefer: Mapping[str, str] = field(default_factory=dict)
    """Versions of an earlier lock; each comes first while it is still offered and allowed."""
    heads: Sequence[Head] = ()
    """Driver sets of which the version is already decided."""
    only: Mapping[str, Stanza | None] | None = None
    """Decisions of a search: for these names just this stanza, or none."""
    memo: dict[str, tuple[Stanza, ...]] = field(default_factory=dict)
    by_name: dict[str, list[tuple[Constraint, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for request in self.requests:
            self.by_name.setdefault(request.name, []).append((Constraint.parse(request.constraint), request.source))

    def of(self, name: str) -> tuple[Stanza, ...]:
        """All versions of a package that may be chosen, best first."""
        known = self.memo.get(name)
        if known is None:
            known = self.memo[name] = self._compute(name)
        return known

    def best(self, name: str) -> Stanza | None:
        """The version that apt would call the candidate."""
        found = self.of(name)
        return found[0] if found else None

    def targets(self, wanted: Relation) -> list[Stanza]:
        """The candidates that answer one name of a dependency, the package itself before its providers."""
        names = (wanted.name, *self.index.providers(wanted.name))
        return [best for name in names if (best := self.best(name)) is not None and best.satisfies(wanted)]

    def _compute(self, name: str) -> tuple[Stanza, ...]:
        if self.only is not None and name in self.only:
            decided = self.only[name]
            return () if decided is None else (decided,)
        found = [stanza for stanza in self.index.stanzas(name) if stanza.pin >= 0]
        for constraint, source in self.by_name.get(name, ()):
            found = [s for s in found if from_source(s.row, source) and constraint.allows(s.version)]
        for head in self.heads:
            found = _with_head(found, head)
        preferred = self.prefer.get(name)
        # Two stable sorts: the rank of the source decides last.
        found.sort(key=lambda s: s.rank)
        found.sort(key=lambda s: (s.version == preferred, s.pin, sort_key(s.version)), reverse=True)
        return tuple(found)


def _with_head(found: list[Stanza], head: Head) -> list[Stanza]:
    """Keep the versions that fit a decided driver set, where the package belongs to it."""
    fitting = [s for s in found if upstream(s.version) == head.upstream and s.row.source == head.source]
    if not found or not member_of(found[0].name, head.equal):
        # Not listed, but versioned with the driver: then it floats with nothing else (report case A03).
        return fitting if fitting and head.equal.driver else found
    return fitting


def heads_of(candidates: Candidates, equal: Sequence[EqualSet]) -> list[Head]:
    """Decide each set's version: that of the best candidate of the first package requested from it."""
    heads: list[Head] = []
    for each in equal:
        for request in candidates.requests:
            if member_of(request.name, each) and (best := candidates.best(request.name)) is not None:
                heads.append(Head(equal=each, name=best.name, upstream=upstream(best.version), source=best.row.source))
                break
    return heads
