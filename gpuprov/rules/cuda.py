"""CUDA needs a driver of its major or newer (minor version compatibility)."""

from gpuprov.catalog.find import branch, toolkits
from gpuprov.catalog.load import cite
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.version import compare_driver
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.unknown import unknown


def cuda_needs_driver(facts: PoolFacts, number: int) -> tuple[Diagnostic, ...]:
    """GP-RULE-001 when the driver is older than the release's major needs; a warning when it only just runs it."""
    if not facts.cuda:
        return ()
    rows = toolkits(facts.cuda)
    if not rows:
        return (unknown(facts.addresses.cuda, f"the CUDA release {facts.cuda}"),)
    row, branch_row = rows[0], branch(number)
    driver = facts.driver or (branch_row.latest if branch_row else "")
    shown = facts.driver or f"{driver}, the newest of branch {number},"
    if not driver or compare_driver(driver, row.min_driver) < 0:
        return (
            Diagnostic(
                code="GP-RULE-001",
                summary=f"CUDA {facts.cuda} needs driver {row.min_driver} or newer; {shown} is older",
                address=facts.addresses.cuda,
                detail="Programs built with it would not find a usable driver; some fall back to the CPU in silence.",
                hint=f"raise the driver to {row.min_driver} or newer, or lower stack.cuda",
                source=cite(row),
            ),
        )
    reports = branch_row.max_cuda if branch_row else None
    if reports is not None and _release(reports) < _release(facts.cuda):
        return (
            Diagnostic(
                code="GP-RULE-001",
                summary=f"CUDA {facts.cuda} is newer than the CUDA {reports} of driver branch {number}",
                address=facts.addresses.cuda,
                detail="Compiled programs run; code that is shipped as PTX, and features of the newer driver, do not.",
                hint=f"use a driver branch that reports CUDA {facts.cuda}, or CUDA {reports}",
                severity=Severity.WARNING,
                source=cite(row),
            ),
        )
    return ()


def _release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
