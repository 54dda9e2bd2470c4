"""Opening sources: fetch, verify, cache, and answer what the resolver asks."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from gpuprov.lock.index import Stanza
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.package import PackageRow
from gpuprov.model.progress import Progress, Report, ignore_progress
from gpuprov.sources.cache import IndexPart, RawRow, open_cache, read_rows
from gpuprov.sources.definition import SourceDefinition
from gpuprov.sources.fetch import Fetcher
from gpuprov.sources.keys import Cert, read_keys
from gpuprov.sources.layout import release_root, wanted_files
from gpuprov.sources.packages import parse_groups, parse_relations
from gpuprov.sources.redact import without_credentials
from gpuprov.sources.release import Release, check_expiry, parse_release
from gpuprov.sources.signature import verify_detached, verify_inline
from gpuprov.store.settings import source_timeout


@dataclass(kw_only=True, slots=True)
class SourceIndex:
    """The Index over several verified sources; close it, or use it in a `with` statement."""

    connection: sqlite3.Connection
    arch: str
    memo: dict[str, tuple[Stanza, ...]] = field(default_factory=dict)
    provided: dict[str, tuple[str, ...]] = field(default_factory=dict)
    mentions: dict[str, int] = field(default_factory=dict)

    def stanzas(self, name: str) -> Sequence[Stanza]:
        """All versions of a package in all sources."""
        known = self.memo.get(name)
        if known is None:
            rows = read_rows(self.connection, name)
            self.mentions |= {row.name: row.mention for row in rows}
            known = self.memo[name] = tuple(_stanza(row, self.arch) for row in rows)
        return known

    def providers(self, name: str) -> Sequence[str]:
        """Names of the packages that provide `name`, sorted."""
        known = self.provided.get(name)
        if known is None:
            rows = self.connection.execute("SELECT provider FROM provided WHERE name = ? ORDER BY provider", (name,))
            known = self.provided[name] = tuple(provider for (provider,) in rows)
        return known

    def mention(self, name: str) -> int:
        """Position of the name's first mention; a name without a package comes last."""
        self.stanzas(name)
        return self.mentions.get(name, 1 << 40)

    def names(self) -> Sequence[str]:
        """All package names, sorted."""
        return [name for (name,) in self.connection.execute("SELECT DISTINCT name FROM row ORDER BY name")]

    def close(self) -> None:
        """Give the cache file back."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_index(
    sources: Sequence[SourceDefinition],
    *,
    arch: str,
    cache: Path,
    now: datetime,
    report: Report = ignore_progress,
    fetcher: Fetcher | None = None,
) -> SourceIndex:
    """Fetch what changed, verify it, and open the index over all sources.

    Args:
        sources: in any order; where two offer the same version, the OS archive wins, then the first name.
        arch: `amd64` or `arm64`.
        cache: folder that may be deleted at any time.
        now: the time that keys and indexes must be valid at, with a time zone.
        report: where progress goes.
        fetcher: how files are read; None for the usual way.

    Raises:
        GpuprovError: all that is wrong, of all sources at once (GP-SRC-001 to 007, GP-DOC-007).
    """
    fetcher = fetcher or Fetcher(cache=cache, report=report, timeout=source_timeout())
    parts: list[IndexPart] = []
    wrong: list[Diagnostic] = []
    for rank, definition in enumerate(_in_order(sources)):
        step = Progress(phase="fetch", subject=definition.name, done=rank, total=len(sources))
        report(step)
        try:
            own = replace(fetcher, proxies=definition.proxies) if definition.proxies else fetcher
            parts += _parts(definition, rank, arch, now, own)
        except GpuprovError as error:
            wrong += error.diagnostics
    if wrong:
        raise GpuprovError(*wrong)
    report(Progress(phase="fetch", done=len(sources), total=len(sources), finished=True))
    report(Progress(phase="index", text="reading the package lists"))
    connection = open_cache(cache, parts)
    report(Progress(phase="index", finished=True))
    return SourceIndex(connection=connection, arch=arch)


def _in_order(sources: Sequence[SourceDefinition]) -> list[SourceDefinition]:
    """The OS archive in the machine's order, then the others by name: the order in the spec changes nothing."""
    return sorted(sources, key=lambda s: (s.on_host, s.name if s.on_host else ""))


def _parts(definition: SourceDefinition, rank: int, arch: str, now: datetime, fetcher: Fetcher) -> list[IndexPart]:
    certs = read_keys(definition.keys, definition.name)
    release = parse_release(_verified(definition, certs, now, fetcher), definition.name)
    if definition.check_valid_until:
        check_expiry(release, definition.name, now)
    return [
        IndexPart(
            source=definition.name,
            rank=rank,
            pin=_pin(definition, release),
            path=fetcher.by_digest(wanted.urls, definition.name, sha256=wanted.file.sha256, size=wanted.file.size),
            suffix=wanted.suffix,
            sha256=wanted.file.sha256,
        )
        for wanted in wanted_files(definition, release, arch)
    ]


def _pin(definition: SourceDefinition, release: Release) -> int:
    return release.pin if definition.priority is None else definition.priority


def _verified(definition: SourceDefinition, certs: Sequence[Cert], now: datetime, fetcher: Fetcher) -> bytes:
    root, name = release_root(definition), definition.name
    inline = fetcher.release(f"{root}InRelease", name)
    if inline is not None:
        return verify_inline(inline, certs, name, now)
    plain = fetcher.release(f"{root}Release", name)
    signature = fetcher.release(f"{root}Release.gpg", name) if plain is not None else None
    if plain is None or signature is None:
        raise GpuprovError(_unsigned(definition, "Release without Release.gpg" if plain else "no Release"))
    return verify_detached(plain, signature, certs, name, now)


def _unsigned(definition: SourceDefinition, what: str) -> Diagnostic:
    root = release_root(definition)
    return Diagnostic(
        code="GP-SRC-001" if what == "no Release" else "GP-SRC-002",
        address=f"sources.{definition.name}",
        summary=f"source {definition.name} has no signed index: there is no InRelease, and {what}",
        detail=f"Expected is InRelease, or Release with Release.gpg, in the folder {without_credentials(root)}.",
        hint="Check URL and suite; an unsigned repository is never accepted, sign it with a key of your own.",
    )


def _stanza(row: RawRow, arch: str) -> Stanza:
    fields = row.fields
    try:
        return Stanza(
            row=PackageRow(
                name=row.name,
                version=fields["Version"],
                arch=fields["Architecture"],
                source=row.source,
                sha256=fields["SHA256"].lower(),
                size=int(fields["Size"] or 0),
                installed_size=int(fields["Installed-Size"] or 0),
                filename=fields["Filename"].removeprefix("./"),
            ),
            pin=row.pin,
            rank=row.rank,
            pre_depends=parse_groups(fields["Pre-Depends"], arch),
            depends=parse_groups(fields["Depends"], arch),
            recommends=parse_groups(fields["Recommends"], arch),
            suggests=parse_groups(fields["Suggests"], arch),
            conflicts=parse_relations(fields["Conflicts"], arch) + parse_relations(fields["Breaks"], arch),
            provides=parse_relations(fields["Provides"], arch),
            essential=fields["Essential"].lower() == "yes",
            important=fields["Important"].lower() == "yes",
            priority=fields["Priority"].lower() or "optional",
        )
    except ValueError as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-SRC-005",
                address=f"sources.{row.source}",
                summary=f"source {row.source} has a broken stanza of {row.name} {fields['Version']}: {error}",
                hint="Tell the repository's owner.",
            )
        ) from error
