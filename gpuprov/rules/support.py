"""Driver branches come to their end of support."""

from gpuprov.catalog.load import cite
from gpuprov.catalog.rows import BranchRow
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.unknown import unknown


def end_of_support(facts: PoolFacts, row: BranchRow, today: str) -> tuple[Diagnostic, ...]:
    """GP-RULE-004 as a warning when the branch's support has ended; the month of its end counts as supported."""
    month = row.end_of_support
    if row.status == "ended" or (month is not None and today[:7] > month):
        when = f"in {month}" if month else "before the catalog's date"
        return (
            Diagnostic(
                code="GP-RULE-004",
                summary=f"the support of driver branch {row.id} ended {when}",
                address=facts.addresses.driver,
                detail="No security fixes come for it any more.",
                hint="move to a supported branch",
                severity=Severity.WARNING,
                source=cite(row),
            ),
        )
    if not row.knows("status"):
        return (unknown(facts.addresses.driver, f"whether branch {row.id} is still supported", Severity.WARNING),)
    return ()
