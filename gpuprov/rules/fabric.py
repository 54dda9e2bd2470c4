"""GPUs behind NVSwitches need Fabric Manager, of exactly the driver's version; without it CUDA does not start."""

from collections.abc import Iterator

from gpuprov.catalog.find import gpu
from gpuprov.catalog.load import cite
from gpuprov.catalog.rows import GpuRow
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.unknown import unknown


def fabric_manager(facts: PoolFacts) -> tuple[Diagnostic, ...]:
    """GP-RULE-006 when Fabric Manager is needed and cannot be had; a warning when the spec does without it."""
    row = gpu(facts.gpu_model) if facts.gpu_model else None
    if row is None or not facts.branches or (row.fabric is None and facts.fabric != "auto"):
        return ()
    if row.fabric is None:
        hint = "write `fabric: none` if the hosts need no Fabric Manager"
        return (unknown(facts.addresses.gpu, f"whether the {row.id} needs Fabric Manager", hint=hint),)
    return tuple(_needed(facts, row)) if row.fabric in {"nvswitch", "nvlsm"} else ()


def _needed(facts: PoolFacts, row: GpuRow) -> Iterator[Diagnostic]:
    needs = f"the {row.id} needs Fabric Manager"
    if facts.fabric != "auto":
        yield _refused(facts, row, f"{needs}, and the spec does without it", "write `fabric: auto`", Severity.WARNING)
    elif row.fabric == "nvlsm":
        what = f"{needs} with the NVLink subnet manager beside it, which this release does not install"
        yield _refused(facts, row, what, "write `fabric: none` and bring both to the hosts yourself")
    elif facts.from_os:
        hint = "take the driver from NVIDIA's repository: `source: nvidia`"
        yield _refused(facts, row, f"{needs}, and the OS archive has none", hint)


def _refused(facts: PoolFacts, row: GpuRow, what: str, hint: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic(
        code="GP-RULE-006",
        summary=what,
        address=facts.addresses.fabric,
        detail="Without it, CUDA programs fail with error 802 (system not yet initialised).",
        hint=hint,
        severity=severity,
        source=cite(row),
    )
