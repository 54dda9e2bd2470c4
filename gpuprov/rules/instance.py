"""The instance type of a cloud pool has exactly the GPUs of its hosts, and the architecture that is locked for."""

from typing import Final

from gpuprov.catalog.find import instance, instances_with, retired
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import InstanceRow
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.efa import check_efa
from gpuprov.rules.facts import InstanceFacts

_RULE: Final = "GP-RULE-008"
_PLAIN: Final = {"amd64": "c7i.2xlarge", "arm64": "c7g.2xlarge"}
"""A type without GPUs of each architecture."""
_NAMED: Final = 4
"""Most instance types that a hint names."""


_EQUAL: Final = "Hosts of a pool are equal on every target; the proof after a run would fail."
# awslabs/amazon-eks-ami issue 2443 (report case A30), seen 2026-11-30.
_PART: Final = "A part of a GPU is a virtual one: it needs NVIDIA's GRID guest driver, not the data centre driver."


def check_instance(facts: InstanceFacts) -> tuple[Answer, ...]:
    """Check the instance type of a pool's hosts, or of an image's builder.

    Returns:
        GP-CLOUD-022 for a type that the catalog does not know, GP-RULE-008 for one with other GPUs than the pool's,
        whose GPUs the catalog does not know, that is not sold so, or that has another architecture; what `check_efa`
        finds.
    """
    row = instance(facts.type, facts.catalog)
    if row is None:
        return (_unknown_type(facts),)
    if row.arch != facts.arch:
        return (_other_architecture(facts, row),)
    return (*_gpus(facts, row), *_sold(facts, row), *check_efa(facts, row))


def _sold(facts: InstanceFacts, row: InstanceRow) -> tuple[Answer, ...]:
    """How and where the type is sold, as far as the catalog knows; the account is asked again when hosts are made."""
    if row.capacity_block_only and facts.market != "capacity-block":
        return (
            Answer(
                rule=_RULE,
                verdict=Verdict.REFUSED,
                address=facts.address,
                summary=f"{row.id} is sold in capacity blocks alone",
                facts=_said(facts, row, "capacity_block_only"),
                consequence="An instance that is asked for on demand would not be had.",
                satisfies="write `market: {kind: capacity-block, id: cr-...}`, or take a type that is sold on demand",
            ),
        )
    if row.regions and facts.region and facts.region not in row.regions:
        return (
            Answer(
                rule=_RULE,
                verdict=Verdict.WARNING,
                address=facts.address,
                summary=f"{row.id} was not offered in {facts.region} when the catalog was made",
                facts=_said(facts, row, "regions"),
                consequence="AWS is asked again when hosts are made; it may have come since.",
                satisfies=f"regions that offered it: {', '.join(row.regions)}",
            ),
        )
    return ()


def _gpus(facts: InstanceFacts, row: InstanceRow) -> tuple[Answer, ...]:
    if not facts.gpu_model:
        return (_has_gpus(facts, row),) if row.gpu_name else ()
    if not row.gpu_name:
        return (_other_gpus(facts, row, "no GPU"),)
    if row.gpu is None or row.gpus is None:
        hint = _fitting(facts) or "use a type whose GPUs the catalog knows"
        what = f"which GPUs {row.id} has (EC2 says {row.gpu_name})"
        return (unknown(_RULE, facts.address, what, table="instances", hint=hint),)
    if (row.gpu, row.gpus) == (facts.gpu_model, facts.gpu_count):
        return ()
    return (_other_gpus(facts, row, f"{row.gpus} x {row.gpu}" if row.gpus else row.note),)


def _said(facts: InstanceFacts, row: InstanceRow, field: str = "gpus") -> tuple[Said, ...]:
    return (
        Said(what=row.id, source=cite(row, field, facts.catalog)),
        Said(what=f"what {facts.who} asks for", at=facts.address),
    )


def _other_gpus(facts: InstanceFacts, row: InstanceRow, has: str) -> Answer:
    wanted = f"{facts.gpu_count} x {facts.gpu_model}"
    return Answer(
        rule=_RULE,
        verdict=Verdict.REFUSED,
        summary=f"{row.id} has {has}, and the hosts of the pool {facts.pool} have {wanted}",
        address=facts.address,
        consequence=_EQUAL if row.gpus or not row.gpu_name else f"{_EQUAL} {_PART}",
        satisfies=_fitting(facts) or f"the catalog knows no instance type with {wanted}: change the pool's gpu",
        facts=_said(facts, row),
    )


def _has_gpus(facts: InstanceFacts, row: InstanceRow) -> Answer:
    """Refused, not warned of: the driver would stay unloaded, and the GPUs would be paid for."""
    what = f"{row.gpus} x {row.gpu_name}" if row.gpus else row.gpu_name
    return Answer(
        rule=_RULE,
        verdict=Verdict.REFUSED,
        summary=f"{row.id} has GPUs ({what}), and {facts.who} has none",
        address=facts.address,
        consequence="They would be paid for, and nothing would load the driver.",
        satisfies="take a type without GPUs, such as m7i.large"
        + ("" if not facts.pool else ", or give the pool its gpu"),
        facts=_said(facts, row),
    )


def _unknown_type(facts: InstanceFacts) -> Answer:
    family = facts.type.partition(".")[0]
    near = [row.id for row in rows(InstanceRow, facts.catalog) if row.id.partition(".")[0] == family]
    hints = [hint for hint in (_near(facts), _fitting(facts)) if hint]
    gone = retired(facts.type, facts.catalog)
    if gone is not None:
        return Answer(
            rule="GP-CLOUD-022",
            verdict=Verdict.REFUSED,
            summary=f"the instance type {facts.type} can no longer be had: {gone.reason}",
            address=facts.address,
            facts=(Said(what=facts.type, source=cite(gone, "reason", facts.catalog)),),
            satisfies=_fitting(facts) or "take a newer type",
        )
    return Answer(
        rule="GP-CLOUD-022",
        verdict=Verdict.REFUSED,
        summary=f"the catalog does not know the instance type {facts.type}",
        address=facts.address,
        consequence=f"Types of {family}: {', '.join(near)}." if near else "What is not known is not taken for fitting.",
        satisfies="; ".join(hints)
        or "use a type that the catalog knows, such as m7i.large, or write a row of your own in instances.yaml",
    )


def _other_architecture(facts: InstanceFacts, row: InstanceRow) -> Answer:
    return Answer(
        rule=_RULE,
        verdict=Verdict.REFUSED,
        summary=f"{row.id} is {row.arch}, and {facts.who} is for hosts that are {facts.arch}",
        address=facts.address,
        consequence="None of the packages could be installed there.",
        satisfies=_fitting(facts) or f"take a type of that architecture, such as {_PLAIN[facts.arch]}",
        facts=_said(facts, row),
    )


def _fitting(facts: InstanceFacts) -> str:
    """A hint with the types that have the pool's GPUs; empty where there is none, or the pool has no GPU."""
    if not facts.gpu_model:
        return ""
    found = [
        row.id for row in instances_with(facts.gpu_model, facts.gpu_count, facts.catalog) if row.arch == facts.arch
    ]
    return f"types with {facts.gpu_count} x {facts.gpu_model}: {', '.join(found[:_NAMED])}" if found else ""


def _near(facts: InstanceFacts) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only needed on the way out, and slow to import

    possible = [row.id for row in rows(InstanceRow, facts.catalog) if bool(row.gpu_name) == bool(facts.gpu_model)]
    near = get_close_matches(facts.type.lower(), possible, n=2, cutoff=0.75)
    return f"did you mean {' or '.join(near)}?" if near else ""
