"""Driver branches come to their end of support."""

from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.load import cite
from gpuprov.catalog.rows import BranchRow
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import PoolFacts

_RULE: Final = "GP-RULE-004"
NEAR: Final = 3
"""Months before its end from which a branch is near it: time enough to plan a move."""


def end_of_support(facts: PoolFacts, row: BranchRow, today: str) -> Iterator[Answer]:
    """A warning when the branch's support has ended or ends soon; the month of its end counts as supported."""
    month = row.end_of_support
    if row.status == "ended" or (month is not None and today[:7] > month):
        when = f"in {month}" if month else "before the catalog's date"
        yield _warning(
            facts,
            row,
            f"the support of driver branch {row.id} ended {when}",
            "No security fixes come for it any more.",
        )
    elif month is not None and _months(month) - _months(today) <= NEAR:
        yield _warning(
            facts, row, f"the support of driver branch {row.id} ends in {month}", "Then no security fixes come for it."
        )
    elif not row.knows("status"):
        what = f"whether branch {row.id} is still supported"
        yield unknown(_RULE, facts.addresses.driver, what, table="branches", verdict=Verdict.NOTE)


def _warning(facts: PoolFacts, row: BranchRow, summary: str, consequence: str) -> Answer:
    return Answer(
        rule=_RULE,
        verdict=Verdict.WARNING,
        address=facts.addresses.driver,
        summary=summary,
        facts=(
            Said(what=f"branch {row.id}", source=cite(row, "end_of_support", facts.catalog)),
            Said(what="it is asked for", at=facts.addresses.driver),
        ),
        consequence=consequence,
        satisfies="move to a supported branch",
    )


def _months(date: str) -> int:
    return int(date[:4]) * 12 + int(date[5:7])
