"""DCGM against the driver branch and the GPU, by the catalog's rows."""

from gpuprov.catalog.find import gpu
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import DcgmRow
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.version import Constraint
from gpuprov.rules.facts import PoolFacts


def dcgm_fits(facts: PoolFacts, number: int) -> tuple[Diagnostic, ...]:
    """GP-RULE-005: an error or a warning for every row that fits the version, the branch and the GPU."""
    if not facts.dcgm:
        return ()
    gpu_row = gpu(facts.gpu_model) if facts.gpu_model else None
    found = []
    for row in rows(DcgmRow):
        if not Constraint.parse(row.versions).allows(facts.dcgm):
            continue
        if row.from_branch is not None and number < row.from_branch:
            continue
        if row.architectures and (gpu_row is None or gpu_row.architecture not in row.architectures):
            continue
        found.append(
            Diagnostic(
                code="GP-RULE-005",
                summary=row.reason,
                address=facts.addresses.dcgm,
                detail=f"DCGM {facts.dcgm}, driver branch {number}.",
                hint="choose another version of DCGM",
                severity=Severity.ERROR if row.verdict == "refuse" else Severity.WARNING,
                source=cite(row),
            )
        )
    return tuple(found)
