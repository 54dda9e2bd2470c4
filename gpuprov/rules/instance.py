"""The instance type of a cloud pool has exactly the GPUs of its hosts, and the architecture that is locked for."""

from typing import Final

from gpuprov.catalog.find import instance, instances_with
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import InstanceRow
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.rules.facts import InstanceFacts
from gpuprov.rules.unknown import unknown

_NAMED: Final = 4
"""Most instance types that a hint names."""


def check_instance(facts: InstanceFacts) -> tuple[Diagnostic, ...]:
    """Check the instance type of a pool's hosts, or of an image's builder.

    Returns:
        GP-CLOUD-022 for a type that the catalog does not know, GP-RULE-008 for one with other GPUs than the pool's,
        GP-RULE-900 where the catalog does not know the type's GPUs, GP-SPEC-006 for an architecture that is not built.
    """
    row = instance(facts.type)
    if row is None:
        return (_unknown_type(facts),)
    if row.arch != facts.arch:
        return (_other_architecture(facts, row),)
    return _gpus(facts, row)


def _gpus(facts: InstanceFacts, row: InstanceRow) -> tuple[Diagnostic, ...]:
    if not facts.gpu_model:
        return (_has_gpus(facts, row),) if row.gpu_name else ()
    if not row.gpu_name:
        return (_other_gpus(facts, row, "no GPU"),)
    if row.gpu is None or row.gpus is None:
        hint = _fitting(facts) or "use a type whose GPUs the catalog knows"
        return (unknown(facts.address, f"which GPUs {row.id} has (EC2 says {row.gpu_name})", hint=hint),)
    if (row.gpu, row.gpus) == (facts.gpu_model, facts.gpu_count):
        return ()
    return (_other_gpus(facts, row, f"{row.gpus} x {row.gpu}" if row.gpus else row.note),)


def _other_gpus(facts: InstanceFacts, row: InstanceRow, has: str) -> Diagnostic:
    wanted = f"{facts.gpu_count} x {facts.gpu_model}"
    return Diagnostic(
        code="GP-RULE-008",
        summary=f"{row.id} has {has}, and the hosts of the pool {facts.pool} have {wanted}",
        address=facts.address,
        detail="Hosts of a pool are equal on every target; the proof after a run would fail.",
        hint=_fitting(facts) or f"the catalog knows no instance type with {wanted}: change the pool's gpu",
        source=cite(row),
    )


def _has_gpus(facts: InstanceFacts, row: InstanceRow) -> Diagnostic:
    """Refused, not warned of: the driver would stay unloaded, and the GPUs would be paid for."""
    what = f"{row.gpus} x {row.gpu_name}" if row.gpus else row.gpu_name
    return Diagnostic(
        code="GP-RULE-008",
        summary=f"{row.id} has GPUs ({what}), and {facts.who} has none",
        address=facts.address,
        detail="They would be paid for, and nothing would load the driver.",
        hint="take a type without GPUs, such as m7i.large" + ("" if not facts.pool else ", or give the pool its gpu"),
        source=cite(row),
    )


def _unknown_type(facts: InstanceFacts) -> Diagnostic:
    family = facts.type.partition(".")[0]
    near = [row.id for row in rows(InstanceRow) if row.id.partition(".")[0] == family]
    hints = [hint for hint in (_near(facts), _fitting(facts)) if hint]
    return Diagnostic(
        code="GP-CLOUD-022",
        summary=f"the catalog does not know the instance type {facts.type}",
        address=facts.address,
        detail=f"Types of {family}: {', '.join(near)}." if near else "What is not known is not taken for fitting.",
        hint="; ".join(hints) or "use a type that the catalog knows, such as m7i.large, or a newer gpuprov",
    )


def _other_architecture(facts: InstanceFacts, row: InstanceRow) -> Diagnostic:
    return Diagnostic(
        code="GP-SPEC-006",
        summary=f"{row.id} is {row.arch}, and this release locks packages for {facts.arch} only",
        address=facts.address,
        hint=_fitting(facts) or "take a type of that architecture, such as m7i.large",
        source=cite(row),
    )


def _fitting(facts: InstanceFacts) -> str:
    """A hint with the types that have the pool's GPUs; empty where there is none, or the pool has no GPU."""
    if not facts.gpu_model:
        return ""
    found = [row.id for row in instances_with(facts.gpu_model, facts.gpu_count) if row.arch == facts.arch]
    return f"types with {facts.gpu_count} x {facts.gpu_model}: {', '.join(found[:_NAMED])}" if found else ""


def _near(facts: InstanceFacts) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only needed on the way out, and slow to import

    possible = [row.id for row in rows(InstanceRow) if bool(row.gpu_name) == bool(facts.gpu_model)]
    near = get_close_matches(facts.type.lower(), possible, n=2, cutoff=0.75)
    return f"did you mean {' or '.join(near)}?" if near else ""
