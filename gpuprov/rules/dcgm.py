"""DCGM against the driver branch, the CUDA that the driver reports, and the GPU."""

import re
from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.find import branch, gpu
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import DcgmRow
from gpuprov.model.version import Constraint
from gpuprov.rules.answer import Answer, Said, Verdict
from gpuprov.rules.facts import PoolFacts

_RULE: Final = "GP-RULE-005"
_CUDA: Final = re.compile(r"datacenter-gpu-manager-4-(?:proprietary-)?cuda([0-9]+)")
_OLD: Final = ("maxwell", "pascal", "volta")
_LAST_OLD_CUDA: Final = 12
_CUDA_SOURCE: Final = "Azure/azhpc-images components/install_dcgm.sh, 2026-07-29"


def dcgm_fits(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """Refused or a warning for every row that fits the version, the branch and a GPU."""
    if not facts.dcgm:
        return
    found = {g.architecture for model in facts.gpu_models if (g := gpu(model, facts.catalog)) is not None}
    for row in rows(DcgmRow, facts.catalog):
        if not Constraint.parse(row.versions).allows(facts.dcgm):
            continue
        if row.from_branch is not None and number < row.from_branch:
            continue
        if row.architectures and not found & set(row.architectures):
            continue
        yield Answer(
            rule=_RULE,
            verdict=Verdict.REFUSED if row.verdict == "refuse" else Verdict.WARNING,
            address=facts.addresses.dcgm,
            summary=row.reason,
            facts=(
                Said(what=f"known of DCGM {row.versions}", source=cite(row, "reason", facts.catalog)),
                Said(what=f"DCGM {facts.dcgm}", at=facts.addresses.dcgm),
                Said(what=f"driver branch {number}", at=facts.addresses.driver),
            ),
            satisfies="choose another version of DCGM",
        )


def dcgm_has_cuda(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """Refused when DCGM's package is for another CUDA major than the driver reports."""
    row = branch(number, facts.catalog)
    if row is None or row.max_cuda is None:
        return
    major = int(row.max_cuda.partition(".")[0])
    old = [m for m in facts.gpu_models if (g := gpu(m, facts.catalog)) is not None and g.architecture in _OLD]
    if old:
        major = min(major, _LAST_OLD_CUDA)
    for name in sorted({*facts.packages, *facts.locked}):
        found = _CUDA.fullmatch(name)
        if found is None or int(found[1]) == major:
            continue
        why = f"for the {old[0]}, whose GPU CUDA 13 has left" if old else f"with driver branch {number}"
        yield Answer(
            rule=_RULE,
            verdict=Verdict.REFUSED,
            address=facts.addresses.packages if name in facts.packages else facts.addresses.dcgm,
            summary=f"{name} is for CUDA {found[1]}, and DCGM takes CUDA {major} {why}",
            facts=(
                Said(what=f"branch {number} reports CUDA {row.max_cuda}", source=cite(row, "max_cuda", facts.catalog)),
                Said(what="DCGM's package follows what the driver reports", source=_CUDA_SOURCE),
            ),
            consequence="Its diagnostics and profiling modules would not load.",
            satisfies=f"take {name.removesuffix(found[1])}{major}, or write `dcgm:` and leave the choice to gpuprov",
        )
