"""All rules over one pool."""

from collections.abc import Iterator

from gpuprov.catalog.find import branch
from gpuprov.rules.answer import Answer, Verdict, unknown
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.support import end_of_support
from gpuprov.rules.table import BY_BRANCH, BY_POOL


def check_pool(facts: PoolFacts, today: str) -> tuple[Answer, ...]:
    """Check one pool against every rule.

    Where several driver branches are possible, the pool is refused only when each of them is: which one it becomes is
    decided by the lock, and then the rules are asked again with that one.

    Args:
        facts: the pool.
        today: the date as YYYY-MM-DD; rules read no clock.

    Returns:
        What the rules refuse, warn of and cannot decide; nothing for a pool that is sound.
    """
    found = tuple(answer for rule in BY_POOL for answer in rule(facts))
    if not facts.branches:
        return found
    by_branch = [tuple(_check_branch(facts, number, today)) for number in facts.branches]
    good = [answers for answers in by_branch if all(a.verdict in {Verdict.WARNING, Verdict.NOTE} for a in answers)]
    return (*found, *(good or by_branch)[0])


def _check_branch(facts: PoolFacts, number: int, today: str) -> Iterator[Answer]:
    row = branch(number, facts.catalog)
    if row is None:
        yield unknown("GP-RULE-002", facts.addresses.driver, f"the driver branch {number}", table="branches")
        return
    for rule in BY_BRANCH:
        yield from rule(facts, number)
    yield from end_of_support(facts, row, today)
