"""`lock`: from the spec's constraints to exact packages; and whether the lock is still true."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gpuprov.app.base_images import FindImages, base_images, find_in_account
from gpuprov.app.definitions import definitions_for
from gpuprov.app.frameworks import locked_frameworks, withdrawn_frameworks
from gpuprov.app.site import Site, open_lock, open_site, today
from gpuprov.app.staleness import lock_inputs
from gpuprov.lock.compatibility import check_lock, check_spec
from gpuprov.lock.images import image_needs
from gpuprov.lock.make import LockInputs, make_lock
from gpuprov.lock.moves import Move, moves
from gpuprov.lock.text import read_lock, write_lock
from gpuprov.lock.types import Lock
from gpuprov.lock.verdict import Verdict, judge, stale_diagnostic
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Report
from gpuprov.sources.definition import SourceDefinition, locked
from gpuprov.sources.index import SourceIndex, open_index
from gpuprov.store.cache import cache_folder
from gpuprov.store.files import read_text_if_there, write_text

Environments = dict[tuple[str, str], SourceIndex]


@dataclass(frozen=True, kw_only=True, slots=True)
class Locked:
    """A lock that was made, and how it differs from the one before."""

    lock: Lock
    moves: tuple[Move, ...]
    path: Path
    written: bool
    """False for a dry run, and when nothing changed."""
    diagnostics: tuple[Diagnostic, ...]


def make(
    path: Path,
    *,
    upgrade: frozenset[str],
    dry_run: bool,
    report: Report,
    find_images: FindImages = find_in_account,
) -> Locked:
    """Resolve a spec and write its lock.

    Args:
        path: the spec.
        upgrade: packages whose locked version may move, and operating systems whose base image may; `*` for all.
        dry_run: write nothing.
        report: where progress goes.
        find_images: looks base images up; asked only for those that the lock lacks, or that may move.

    Raises:
        GpuprovError: the spec is refused by a rule, a source or the cloud account cannot be used, or there is no
            solution; nothing is written then.
    """
    site = open_site(path)
    told = (*site.warnings, *_refuse(check_spec(site.spec, today=today())))
    before = _previous(site)
    pools, spec_inputs, catalog_inputs = lock_inputs(site)
    images = base_images(site.spec, before, upgrade=upgrade, report=report, find=find_images)
    frameworks = locked_frameworks(pools, before, upgrade=upgrade, report=report)
    definitions, indexes = _open(site, report)
    try:
        answer = make_lock(
            LockInputs(
                spec_inputs=spec_inputs,
                catalog_inputs=catalog_inputs,
                pin=site.spec.pin,
                sources=tuple(locked(definition) for definition in definitions),
                pools=pools,
                indexes=indexes,
                previous=before,
                upgrade=upgrade,
                images=images,
                frameworks=frameworks,
            )
        )
    finally:
        _close(indexes)
    if not isinstance(answer, Lock):
        raise GpuprovError(*(_placed(diagnostic, site) for diagnostic in answer))
    told = (*told, *_refuse(check_lock(answer, site.spec, today=today())))
    changed = before is None or before.digest != answer.digest
    if changed and not dry_run:
        write_text(site.lock_path, write_lock(answer))
    return Locked(
        lock=answer,
        moves=moves(before, answer),
        path=site.lock_path,
        written=changed and not dry_run,
        diagnostics=tuple(dict.fromkeys(told)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """Whether a lock is still true."""

    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]


def check(path: Path, report: Report) -> Check:
    """Compare the lock with spec, catalog and what the sources offer now; needs no host."""
    site = open_site(path)
    lock, _ = open_lock(site)
    pools, spec_inputs, catalog_inputs = lock_inputs(site)
    definitions, indexes = _open(site, report)
    try:
        verdict = judge(
            lock,
            spec_inputs=spec_inputs,
            catalog_inputs=catalog_inputs,
            sources=tuple(locked(definition) for definition in definitions),
            pools=pools,
            images=image_needs(site.spec),
            indexes=indexes,
        )
    finally:
        _close(indexes)
    verdict = replace(verdict, reasons=(*verdict.reasons, *withdrawn_frameworks(lock, report)))
    stale = stale_diagnostic(verdict)
    return Check(verdict=verdict, diagnostics=(*site.warnings, *((stale,) if stale else ())))


def _previous(site: Site) -> Lock | None:
    text = read_text_if_there(site.lock_path)
    return None if text is None else read_lock(text, str(site.lock_path))


def _open(site: Site, report: Report) -> tuple[tuple[SourceDefinition, ...], Environments]:
    pools, _, _ = lock_inputs(site)
    definitions: dict[str, SourceDefinition] = {}
    indexes: Environments = {}
    for os_name, arch in sorted({(pool.os, pool.arch) for pool in pools}):
        members = [pool for pool in pools if (pool.os, pool.arch) == (os_name, arch)]
        found = definitions_for(site, os_name, members)
        definitions |= {definition.name: definition for definition in found}
        indexes[os_name, arch] = open_index(
            found, arch=arch, cache=cache_folder() / "sources", now=datetime.now(UTC), report=report
        )
    return tuple(definitions.values()), indexes


def _close(indexes: Environments) -> None:
    for index in indexes.values():
        index.close()


def _refuse(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    if errors:
        raise GpuprovError(*errors)
    return diagnostics


def _placed(diagnostic: Diagnostic, site: Site) -> Diagnostic:
    """A diagnostic of the resolver with the line of the spec that asked."""
    span = site.spec.spans.get(diagnostic.address)
    return replace(diagnostic, span=span) if span is not None and diagnostic.span is None else diagnostic
