"""All rules over one pool."""

from collections.abc import Callable
from typing import Final

from gpuprov.catalog.find import branch
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.rules.cuda import cuda_needs_driver
from gpuprov.rules.dcgm import dcgm_fits
from gpuprov.rules.fabric import fabric_manager
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.gpu import branch_supports_gpu, modules_fit
from gpuprov.rules.support import end_of_support
from gpuprov.rules.unknown import unknown

_BY_BRANCH: Final[tuple[Callable[[PoolFacts, int], tuple[Diagnostic, ...]], ...]] = (
    cuda_needs_driver,
    branch_supports_gpu,
    modules_fit,
    dcgm_fits,
)


def check_pool(facts: PoolFacts, today: str) -> tuple[Diagnostic, ...]:
    """Check one pool against every rule.

    Where several driver branches are possible, the pool is refused only when each of them is: which one it becomes is
    decided by the lock, and then the rules are asked again with that one.

    Args:
        facts: the pool.
        today: the date as YYYY-MM-DD; rules read no clock.

    Returns:
        Errors (GP-RULE-001 to -007; -900 where the catalog does not know), warnings and notes.
    """
    found = fabric_manager(facts)
    if not facts.branches:
        return found
    by_branch = [_check_branch(facts, number, today) for number in facts.branches]
    good = [answer for answer in by_branch if all(d.severity is not Severity.ERROR for d in answer)]
    return (*found, *(good or by_branch)[0])


def _check_branch(facts: PoolFacts, number: int, today: str) -> tuple[Diagnostic, ...]:
    row = branch(number)
    if row is None:
        return (unknown(facts.addresses.driver, f"the driver branch {number}"),)
    found = [diagnostic for rule in _BY_BRANCH for diagnostic in rule(facts, number)]
    return (*found, *end_of_support(facts, row, today))
