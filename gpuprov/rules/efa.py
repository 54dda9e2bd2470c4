"""The instance type of a pool takes the Elastic Fabric Adapters that the spec asks for, and its hosts can be reached.

EC2 User Guide: Elastic Fabric Adapter (what takes it, and where), Maximize network bandwidth on instances with multiple
network cards (layouts); RunInstances: no public address for an instance with several interfaces (read 2026-11-30).
"""

from typing import Final

from gpuprov.catalog.efa import interfaces
from gpuprov.catalog.find import instances_with
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import InstanceRow
from gpuprov.rules.answer import Answer, Said, Verdict
from gpuprov.rules.facts import InstanceFacts

NO_EFA: Final = "GP-CLOUD-080"
NO_LAYOUT: Final = "GP-CLOUD-081"
NO_ADDRESS: Final = "GP-CLOUD-082"
APART: Final = "GP-CLOUD-083"
_NAMED: Final = 6
"""Most instance types that a hint names."""


def check_efa(facts: InstanceFacts, row: InstanceRow) -> tuple[Answer, ...]:
    """Check a type that the catalog knows; nothing for a pool without EFA.

    Returns:
        GP-CLOUD-080 for a type without EFA, GP-CLOUD-081 where the catalog does not know it or its interfaces,
        GP-CLOUD-082 where the hosts would need an address that they cannot get, GP-CLOUD-083 for hosts that may stand
        far apart.
    """
    if not facts.efa:
        return ()
    if row.efa_interfaces == 0:
        what = f"{row.id} takes no Elastic Fabric Adapter"
        return (_answer(facts, NO_EFA, what, "AWS refuses such an instance.", _takes(facts), _said(facts, row)),)
    found = interfaces(row.id, facts.efa, facts.catalog)
    if not found:
        return (_unknown(facts, row),)
    answers = []
    if facts.public and len(found) > 1:
        what = f"{row.id} has {len(found)} network interfaces with EFA, and such an instance gets no public address"
        why = "EC2 gives one to an instance with a single interface only; gpuprov could not reach the hosts."
        way = "write `targets.cloud.network.public: false`, and reach them over `jump` or the site's own way"
        answers.append(_answer(facts, NO_ADDRESS, what, why, way, _said(facts, row)))
    if not facts.close:
        what = f"{facts.who} has EFA, and new hosts may stand far apart"
        why = "AWS recommends a cluster placement group: EFA is as quick as the way between the hosts."
        way = "write `placement: cluster` beside `efa`"
        answers.append(_answer(facts, APART, what, why, way, (), verdict=Verdict.WARNING))
    return tuple(answers)


def _unknown(facts: InstanceFacts, row: InstanceRow) -> Answer:
    known = row.efa_interfaces is not None
    what = f"how the interfaces of {row.id} are laid out for EFA" if known else f"whether {row.id} takes EFA"
    ways = (_takes(facts), "or write what you know into efa_layouts.yaml of the folder that `catalog:` names")
    return _answer(
        facts,
        NO_LAYOUT,
        f"the catalog does not know {what}",
        "A layout that is guessed would be refused by AWS, or leave adapters out.",
        "; ".join(way for way in ways if way),
        _said(facts, row) if known else (),
    )


def _takes(facts: InstanceFacts) -> str:
    """A hint with types of a known layout, those with the pool's GPUs where it has some."""
    if facts.gpu_model:
        likely = instances_with(facts.gpu_model, facts.gpu_count, facts.catalog)
    else:
        likely = tuple(row for row in rows(InstanceRow, facts.catalog) if not row.gpu_name)
    taking = [row.id for row in likely if interfaces(row.id, facts.efa, facts.catalog)]
    more = f" and {len(taking) - _NAMED} more" if len(taking) > _NAMED else ""
    if taking:
        return f"types that take it: {', '.join(taking[:_NAMED])}{more}"
    return "take `efa` away: the catalog knows no such type with these GPUs" if facts.gpu_model else "take `efa` away"


def _said(facts: InstanceFacts, row: InstanceRow) -> tuple[Said, ...]:
    return (
        Said(what=row.id, source=cite(row, "efa_interfaces", facts.catalog)),
        Said(what=f"what {facts.who} asks for", at=_at(facts)),
    )


def _at(facts: InstanceFacts) -> str:
    return f"{facts.address.rpartition('.')[0]}.efa"


def _answer(
    facts: InstanceFacts,
    rule: str,
    summary: str,
    consequence: str,
    satisfies: str,
    said: tuple[Said, ...],
    *,
    verdict: Verdict = Verdict.REFUSED,
) -> Answer:
    return Answer(
        rule=rule,
        verdict=verdict,
        address=_at(facts),
        summary=summary,
        consequence=consequence,
        satisfies=satisfies,
        facts=said,
    )
