"""The rules asked for every pool: before the lock with what the spec leaves open, after it with exact versions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuprov.lock.accepted import accepted_by, as_accepted, idle
from gpuprov.lock.pool_facts import instance_facts, pool_facts, with_lock
from gpuprov.lock.requests import pool_inputs
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span
from gpuprov.rules.answer import Answer, told
from gpuprov.rules.check import check_pool
from gpuprov.rules.equal import check_equal
from gpuprov.rules.instance import check_instance
from gpuprov.spec.types import Spec

if TYPE_CHECKING:
    from gpuprov.lock.types import Lock


def check_spec(spec: Spec, *, today: str) -> tuple[Diagnostic, ...]:
    """What the rules say of a spec, and what of it has no packages in the catalog.

    Args:
        spec: the spec.
        today: the date as YYYY-MM-DD.

    Returns:
        Errors, warnings and notes with their places; each is told once, also when several pools share it.
    """
    answers = [a for pool in spec.pools.values() for a in check_pool(pool_facts(spec, pool), today)]
    answers += [a for facts in instance_facts(spec) for a in check_instance(facts)]
    found = [*_told(answers, spec, today), *idle(spec.accept, answers, today)]
    try:
        pool_inputs(spec)
    except GpuprovError as error:
        known = {(d.address, d.severity) for d in found}
        found += [d for d in error.diagnostics if (d.address, d.severity) not in known]
    return _placed(found, spec)


def check_lock(lock: "Lock", spec: Spec, *, today: str) -> tuple[Diagnostic, ...]:
    """What the rules say of the exact versions of a lock, for the pools that both have."""
    answers: list[Answer] = []
    for asked in pool_inputs(spec):
        locked, pool = lock.pools.get(asked.pool), spec.pools[asked.pool]
        if locked is None:
            continue
        source = pool.stack.driver.source if pool.stack.driver is not None else ""
        of_pool = check_pool(with_lock(pool_facts(spec, pool), locked, lock, source), today)
        answers += of_pool
        versions = {row.name: row.version for row in locked.packages}
        for each in asked.equal:
            if each.driver and any(answer.rule == "GP-RULE-007" for answer in of_pool):
                continue  # the companion that stands apart is told already
            members = {name: version for name, version in versions.items() if name in each.names}
            answers += check_equal(each.label, members, f"pools.{asked.pool}")
    return _placed(_told(answers, spec, today), spec)


def _told(answers: Sequence[Answer], spec: Spec, today: str) -> list[Diagnostic]:
    """Answers as diagnostics; those that the spec accepts do not count."""

    def place(address: str) -> str:
        span = _span(spec, address)
        return f"{address} ({span.file}:{span.line})" if span else address

    found = []
    for answer in answers:
        by = accepted_by(answer, spec.accept, today)
        diagnostic = told(answer, place)
        found.append(diagnostic if by is None else as_accepted(diagnostic, by))
    return found


def _placed(found: Sequence[Diagnostic], spec: Spec) -> tuple[Diagnostic, ...]:
    placed = [replace(d, span=d.span or _span(spec, d.address)) for d in found]
    return tuple(dict.fromkeys(placed))


def _span(spec: Spec, address: str) -> Span | None:
    """The place of an address, or of what stands above it: a field with its default was not written."""
    while address and address not in spec.spans:
        address = address.rpartition(".")[0]
    return spec.spans.get(address)
