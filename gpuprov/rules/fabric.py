"""GPUs behind NVSwitches need a manager of their NVLink fabric; without it CUDA does not start."""

import re
from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.find import gpu
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import GpuRow
from gpuprov.catalog.rows_stack import CompanionRow
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import PoolFacts

_RULE: Final = "GP-RULE-006"
_NODES: Final = "/etc/nvidia-imex/nodes_config.cfg"
"""One address a line, the same on every host of an NVLink domain (NVIDIA IMEX Service for NVLink Networks, Deployment
Models, updated 2025-07-02, read 2026-11-30). The guide names RHEL and Ubuntu as systems, and no Debian: gpuprov starts
the service on none of its own accord."""


def fabric_manager(facts: PoolFacts) -> Iterator[Answer]:
    """Refused when Fabric Manager is needed and cannot be had; a warning when the spec does without what is needed."""
    for model in facts.gpu_models if facts.branches else ():
        row = gpu(model, facts.catalog)
        if row is None or (row.fabric is None and facts.fabric != "auto"):
            continue
        if row.fabric is None:
            what = f"whether the {row.id} needs Fabric Manager"
            way = "write `fabric: none` if the hosts need no Fabric Manager"
            yield unknown(_RULE, facts.addresses.gpu, what, table="gpus", hint=way)
        elif row.fabric in {"nvswitch", "nvlsm"}:
            yield from _needed(facts, row)
        elif row.fabric == "external":
            yield from _exchange(facts, row)


def _needed(facts: PoolFacts, row: GpuRow) -> Iterator[Answer]:
    needs = f"the {row.id} needs Fabric Manager"
    if facts.fabric != "auto":
        yield _answer(facts, row, f"{needs}, and the spec does without it", "write `fabric: auto`", Verdict.WARNING)
    elif row.fabric == "nvlsm":
        what = f"{needs} with the NVLink subnet manager beside it, which this release does not install"
        yield _answer(facts, row, what, "write `fabric: none` and bring both to the hosts yourself")
    elif facts.from_os:
        way = "take the driver from NVIDIA's repository: `source: nvidia`"
        yield _answer(facts, row, f"{needs}, and the OS archive has none", way)


def _exchange(facts: PoolFacts, row: GpuRow) -> Iterator[Answer]:
    """Its fabric is managed on the switches; the host itself needs the memory exchange service."""
    needed = [c for c in rows(CompanionRow, facts.catalog) if row.fabric in c.fabrics]
    for companion in needed:
        names = {*facts.packages, *facts.locked}
        if any(re.fullmatch(pattern, name) for pattern in companion.patterns for name in names):
            continue
        yield Answer(
            rule=_RULE,
            verdict=Verdict.WARNING,
            address=facts.addresses.packages,
            summary=f"the {row.id} needs {companion.service or companion.id} on the host, and the spec has it not",
            facts=(
                Said(what=f"the {row.id} is joined by the rack's switches", source=cite(row, "fabric", facts.catalog)),
                Said(what=f"{companion.id} runs on the host", source=cite(companion, "fabrics", facts.catalog)),
            ),
            consequence="Programs could not use the memory of GPUs in other hosts of the rack.",
            satisfies=f"add it: `packages: [{companion.service or companion.id}]`, equal to the driver, and give it the"
            f" addresses of the rack's hosts: {_NODES} in `files`",
        )


def _answer(facts: PoolFacts, row: GpuRow, what: str, way: str, verdict: Verdict = Verdict.REFUSED) -> Answer:
    return Answer(
        rule=_RULE,
        verdict=verdict,
        address=facts.addresses.fabric,
        summary=what,
        facts=(
            Said(what=f"the fabric of the {row.id} is {row.fabric}", source=cite(row, "fabric", facts.catalog)),
            Said(what=f"fabric: {facts.fabric}", at=facts.addresses.fabric),
        ),
        consequence="Without it, CUDA programs fail with error 802 (system not yet initialised).",
        satisfies=way,
    )
