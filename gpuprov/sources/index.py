"""Opening sources: fetch, verify, cache, and answer what the resolver asks."""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgpack

from gpuprov.lock.index import Stanza
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.package import PackageRow
from gpuprov.model.progress import Progress, Report, ignore_progress
from gpuprov.sources.at_once import at_once, one_at_a_time
from gpuprov.sources.cache import IndexPart, RawRow, build_cache, find_cache, index_path, read_rows
from gpuprov.sources.definition import SourceDefinition
from gpuprov.sources.fetch import Fetcher
from gpuprov.sources.keys import Cert, read_keys
from gpuprov.sources.layout import release_root, wanted_files
from gpuprov.sources.packages import parse_groups, parse_relations
from gpuprov.sources.redact import without_credentials
from gpuprov.sources.release import Release, check_dates, parse_release
from gpuprov.sources.signature import verify_detached, verify_inline
from gpuprov.store.settings import source_timeout

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(kw_only=True, slots=True)
class SourceIndex:
    """The Index over several verified sources; close it, or use it in a `with` statement."""

    connection: sqlite3.Connection
    path: Path
    """The cache file."""
    arch: str
    selectors: Mapping[str, str] = field(default_factory=dict)
    """By source, what its Release calls it in a pin of apt."""
    memo: dict[str, tuple[Stanza, ...]] = field(default_factory=dict)
    provided: dict[str, tuple[str, ...]] = field(default_factory=dict)
    mentions: dict[str, int] = field(default_factory=dict)

    def stanzas(self, name: str) -> Sequence[Stanza]:
        """All versions of a package in all sources."""
        known = self.memo.get(name)
        if known is None:
            with self._readable():
                rows = read_rows(self.connection, name)
            self.mentions |= {row.name: row.mention for row in rows}
            # A flat repository may list packages of several architectures in one file.
            ours = [row for row in rows if row.fields["Architecture"] in {self.arch, "all", ""}]
            known = self.memo[name] = tuple(_stanza(row, self.arch) for row in ours)
        return known

    def providers(self, name: str) -> Sequence[str]:
        """Names of the packages that provide `name`, sorted."""
        known = self.provided.get(name)
        if known is None:
            with self._readable():
                rows = self.connection.execute(
                    "SELECT provider FROM provided WHERE name = ? ORDER BY provider", (name,)
                )
                known = self.provided[name] = tuple(provider for (provider,) in rows)
        return known

    def mention(self, name: str) -> int:
        """Position of the name's first mention; a name without a package comes last."""
        self.stanzas(name)
        return self.mentions.get(name, 1 << 40)

    def names(self) -> Sequence[str]:
        """All package names, sorted."""
        with self._readable():
            return [name for (name,) in self.connection.execute("SELECT DISTINCT name FROM row ORDER BY name")]

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Take a damaged cache away, so that the next run builds it anew."""
        try:
            yield
        except (sqlite3.DatabaseError, msgpack.UnpackException, ValueError) as error:
            self.path.unlink(missing_ok=True)
            raise GpuprovError(_damaged(self.path, error)) from error

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
        fetcher: how files are read; None for the usual way. It reports to `report`.

    Raises:
        GpuprovError: all that is wrong, of all sources at once (GP-SRC-001 to 007, GP-DOC-007).
    """
    report = one_at_a_time(report)
    fetcher = replace(fetcher, report=report) if fetcher else _usual_fetcher(cache, report)
    ordered = _in_order(sources)

    def look(rank: int) -> tuple[Release, list[IndexPart]]:
        report(Progress(phase="fetch", subject=ordered[rank].name, done=rank, total=len(ordered)))
        return _parts(ordered[rank], rank, arch, now, _for(ordered[rank], fetcher))

    def fetch(part: IndexPart) -> Path:
        wanted, own = part.wanted, _for(ordered[part.rank], fetcher)
        return own.by_digest(wanted.urls, part.source, sha256=wanted.file.sha256, size=wanted.file.size)

    looked = at_once(look, range(len(ordered)))
    parts = [part for _, found in looked for part in found]
    connection = find_cache(cache, parts)
    paths = at_once(fetch, parts) if connection is None else []
    report(Progress(phase="fetch", done=len(ordered), total=len(ordered), finished=True))
    if connection is None:
        report(Progress(phase="index", text="reading the package lists"))
        connection = build_cache(cache, parts, paths)
        report(Progress(phase="index", finished=True))
    selectors = {source.name: release.selector for source, (release, _) in zip(ordered, looked, strict=True)}
    return SourceIndex(connection=connection, path=index_path(cache, parts), arch=arch, selectors=selectors)


def _usual_fetcher(cache: Path, report: Report) -> Fetcher:
    return Fetcher(cache=cache, report=report, timeout=source_timeout())


def _for(definition: SourceDefinition, fetcher: Fetcher) -> Fetcher:
    return replace(fetcher, proxies=definition.proxies) if definition.proxies else fetcher


def _in_order(sources: Sequence[SourceDefinition]) -> list[SourceDefinition]:
    """The OS archive in the machine's order, then the others by name: the order in the spec changes nothing."""
    return sorted(sources, key=lambda s: (s.on_host, s.name if s.on_host else ""))


def _parts(
    definition: SourceDefinition, rank: int, arch: str, now: datetime, fetcher: Fetcher
) -> tuple[Release, list[IndexPart]]:
    certs = read_keys(definition.keys, definition.name)
    release = parse_release(_verified(definition, certs, now, fetcher), definition.name)
    if definition.check_valid_until:
        check_dates(release, definition.name, now)
    return release, [
        IndexPart(source=definition.name, rank=rank, pin=_pin(definition, release), wanted=wanted)
        for wanted in wanted_files(definition, release, arch)
    ]


def _pin(definition: SourceDefinition, release: Release) -> int:
    return release.pin if definition.priority is None else definition.priority


def _verified(definition: SourceDefinition, certs: Sequence[Cert], now: datetime, fetcher: Fetcher) -> bytes:
    root, name = release_root(definition), definition.name
    inline = fetcher.release(f"{root}InRelease", name)
    if inline is not None:
        return verify_inline(inline, certs, name, now, definition.excepted_keys)
    plain = fetcher.release(f"{root}Release", name)
    signature = fetcher.release(f"{root}Release.gpg", name) if plain is not None else None
    if plain is None or signature is None:
        raise GpuprovError(_unsigned(definition, "Release without Release.gpg" if plain else "no Release"))
    return verify_detached(plain, signature, certs, name, now, definition.excepted_keys)


def _sha256(text: str) -> str:
    if not _DIGEST.fullmatch(text):
        raise ValueError(f"its SHA256 is '{text}'" if text else "it has no SHA256; older digests are not accepted")
    return text


def _damaged(path: Path, error: Exception) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-009",
        address="sources",
        summary=f"the cache of the package lists is damaged: {error}",
        detail=f"{path} was removed.",
        hint="Run the same command again: it reads the lists anew. If it happens twice, check the disk.",
    )


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
                sha256=_sha256(fields["SHA256"].lower()),
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
