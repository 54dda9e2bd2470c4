"""`lock`: from the spec's constraints to exact packages; and whether the lock is still true."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from gpuprov.app.base_images import (
    AskImages,
    FindImages,
    Published,
    ask_account,
    base_images,
    find_in_account,
    published,
)
from gpuprov.app.definitions import definitions_for
from gpuprov.app.frameworks import locked_frameworks, withdrawn_frameworks
from gpuprov.app.lock_file import present_lock, previous_lock
from gpuprov.app.site import Site, open_site, today
from gpuprov.app.staleness import lock_inputs
from gpuprov.lock.compatibility import check_lock, check_spec
from gpuprov.lock.images import image_needs
from gpuprov.lock.make import LockInputs, make_lock
from gpuprov.lock.moves import Move, moves
from gpuprov.lock.names import unknown_names
from gpuprov.lock.reasons import Reasons
from gpuprov.lock.text import write_lock
from gpuprov.lock.types import Lock, LockedSource
from gpuprov.lock.verdict import Verdict, judge
from gpuprov.lock.verdict_text import newer_diagnostic, stale_diagnostic, would_change
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Report
from gpuprov.sources.definition import SourceDefinition, locked
from gpuprov.sources.index import SourceIndex, open_index
from gpuprov.store.cache import cache_folder
from gpuprov.store.files import write_text

Environments = dict[tuple[str, str], SourceIndex]


class Intent(StrEnum):
    """What is to become of the lock that is made."""

    WRITE = "write"
    """It takes the place of the one before."""
    DRY_RUN = "dry-run"
    """It is only shown."""
    LOCKED = "locked"
    """It must be the one before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Locked:
    """A lock that was made, and how it differs from the one before."""

    lock: Lock
    moves: tuple[Move, ...]
    path: Path
    written: bool
    """False when it was not to be written, and when nothing changed."""
    diagnostics: tuple[Diagnostic, ...]


def make(
    path: Path,
    *,
    upgrade: frozenset[str],
    intent: Intent = Intent.WRITE,
    report: Report,
    find_images: FindImages = find_in_account,
) -> Locked:
    """Resolve a spec and write its lock.

    Args:
        path: the spec.
        upgrade: packages whose locked version may move, and operating systems whose base image may; `*` for all.
        intent: whether the new lock is written; with LOCKED a difference is GP-LOCK-010 among the diagnostics.
        report: where progress goes.
        find_images: looks base images up; asked only for those that the lock lacks, or that may move.

    Raises:
        GpuprovError: the spec is refused by a rule, a source or the cloud account cannot be used, `upgrade` names
            nothing that is locked (GP-LOCK-009), or there is no solution; nothing is written then.
    """
    site = open_site(path)
    told = (*site.warnings, *_refuse(check_spec(site.spec, today=today())))
    before = previous_lock(site)
    answer, found = _resolved(site, before, upgrade=upgrade, report=report, find_images=find_images)
    told = (*told, *_refuse(check_lock(answer, site.spec, today=today())))
    unknown = unknown_names(upgrade, before, answer)
    if unknown:
        raise GpuprovError(*unknown)
    changed = before is None or before.digest != answer.digest
    if changed and intent is Intent.LOCKED:
        told = (*told, would_change(found, first=before is None))
    written = changed and intent is Intent.WRITE
    if written:
        write_text(site.lock_path, write_lock(answer))
    return Locked(
        lock=answer, moves=found, path=site.lock_path, written=written, diagnostics=tuple(dict.fromkeys(told))
    )


def _resolved(
    site: Site, before: Lock | None, *, upgrade: frozenset[str], report: Report, find_images: FindImages
) -> tuple[Lock, tuple[Move, ...]]:
    """The lock of a spec as the sources are now, and what moved since the one before."""
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
                sources=_locked(definitions, indexes),
                pools=pools,
                indexes=indexes,
                previous=before,
                upgrade=upgrade,
                images=images,
                frameworks=frameworks,
            )
        )
        if not isinstance(answer, Lock):
            raise GpuprovError(*(_placed(diagnostic, site) for diagnostic in answer))
        by_name = {pool.pool: pool for pool in pools}
        reasons = Reasons(before=before, after=answer, upgrade=upgrade, pools=by_name, indexes=indexes)
        return answer, moves(before, answer, reasons.why)
    finally:
        _close(indexes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """Whether a lock is still true."""

    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]


def check(path: Path, report: Report, *, frozen: bool = False, ask_images: AskImages = ask_account) -> Check:
    """Compare the lock with spec, catalog and what sources and account offer now; needs no host.

    Args:
        path: the spec.
        report: where progress goes.
        frozen: look at no source, and at no cloud account: only spec and catalog are compared.
        ask_images: asks the account whether base images are still published; only for a spec with cloud hosts.

    Raises:
        GpuprovError: there is no lock (GP-LOCK-005), its text is none, or a source cannot be used.
    """
    site = open_site(path)
    present = present_lock(site)
    images = Published()
    if present.lock is None:
        verdict = Verdict(reasons=present.reasons)
    else:
        verdict = _judged(site, present.lock, report, frozen=frozen)
        if not frozen:
            images = published(site.spec, present.lock, report=report, ask=ask_images)
        reasons = (*present.reasons, *verdict.reasons, *images.reasons)
        verdict = replace(verdict, reasons=reasons, newer=(*verdict.newer, *images.newer))
    stale = stale_diagnostic(verdict)
    newer = newer_diagnostic(verdict)
    return Check(
        verdict=verdict,
        diagnostics=(*site.warnings, *images.unknown, *(found for found in (stale, newer) if found is not None)),
    )


def _judged(site: Site, lock: Lock, report: Report, *, frozen: bool) -> Verdict:
    pools, spec_inputs, catalog_inputs = lock_inputs(site)
    # Without a look at the sources their definitions stay unread too: they hold the mirrors of this machine.
    definitions, indexes = ((), None) if frozen else _open(site, report)
    try:
        verdict = judge(
            lock,
            spec_inputs=spec_inputs,
            catalog_inputs=catalog_inputs,
            sources=lock.sources if indexes is None else _locked(definitions, indexes),
            pools=pools,
            images=image_needs(site.spec),
            indexes=indexes,
        )
    finally:
        _close(indexes or {})
    if frozen:
        return verdict
    return replace(verdict, reasons=(*verdict.reasons, *withdrawn_frameworks(lock, report)))


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


def _locked(definitions: Sequence[SourceDefinition], indexes: Environments) -> tuple[LockedSource, ...]:
    """Sources as a lock records them, with what their Releases call them."""
    selectors = {name: text for index in indexes.values() for name, text in index.selectors.items()}
    return tuple(locked(definition, selectors.get(definition.name, "")) for definition in definitions)


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
