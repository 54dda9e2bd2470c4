"""A GPU needs a driver branch that supports its architecture, and kernel modules of a flavour that does."""

from typing import Final

from gpuprov.catalog.find import architecture, branch, gpu
from gpuprov.catalog.load import cite
from gpuprov.catalog.rows import ArchitectureRow, BranchRow, GpuRow
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.version import compare_driver
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.unknown import unknown

OPEN_FROM: Final = 515
"""First driver branch with open kernel modules (Driver Installation Guide R610, kernel modules; seen 2026-11-30)."""
OPEN_ONLY_FROM: Final = 615
"""First branch without packages of proprietary modules (release notes of 615.71.09 as quoted in public notes, 2026-10;
the Driver Installation Guide R620, section 4.1, 2026-11-09, has the modules themselves removed)."""
_FLAVOUR_SOURCE: Final = "NVIDIA Driver Installation Guide R610 and R620: Kernel Modules; seen 2026-11-30"


def branch_supports_gpu(facts: PoolFacts, number: int) -> tuple[Diagnostic, ...]:
    """GP-RULE-002 when the branch has left the GPU's architecture, or the driver is older than the GPU."""
    if not facts.gpu_model:
        return ()
    gpu_row, arch = _rows(facts)
    if gpu_row is None or arch is None:
        return (unknown(facts.addresses.gpu, f"the GPU {facts.gpu_model}"),)
    row = branch(number)
    if arch.max_branch is not None and number > arch.max_branch:
        return (_dropped(facts, number, arch),)
    if row is None or not row.knows("architectures"):
        return (unknown(facts.addresses.driver, f"which GPUs driver branch {number} supports"),)
    if (arch.listed_as or arch.id) not in row.architectures:
        return (_too_old(facts, f"branch {number} does not support {arch.id}", arch),)
    return _above_floor(facts, row, gpu_row, arch)


def modules_fit(facts: PoolFacts, number: int) -> tuple[Diagnostic, ...]:
    """GP-RULE-003 when the flavour of the kernel modules does not exist in the branch, or does not drive the GPU."""
    if facts.modules == "proprietary" and number >= OPEN_ONLY_FROM:
        what = f"branch {number} has no proprietary kernel modules"
        return (
            _flavour(facts, what, f"write `modules: open`, or use a branch before {OPEN_ONLY_FROM}", _FLAVOUR_SOURCE),
        )
    if facts.modules == "open" and number < OPEN_FROM:
        what = f"branch {number} has no open kernel modules"
        return (
            _flavour(facts, what, f"write `modules: proprietary`, or use branch {OPEN_FROM} or newer", _FLAVOUR_SOURCE),
        )
    arch = _rows(facts)[1] if facts.gpu_model else None
    if arch is None or arch.flavour in {"any", facts.modules}:
        return ()
    what = f"the {facts.gpu_model} ({arch.id}) works only with {arch.flavour} kernel modules"
    return (_flavour(facts, what, f"write `modules: {arch.flavour}`", cite(arch)),)


def _above_floor(facts: PoolFacts, row: BranchRow, gpu_row: GpuRow, arch: ArchitectureRow) -> tuple[Diagnostic, ...]:
    """Compare with the lowest driver of the model, or of its architecture where the model's is not known."""
    driver = facts.driver or row.latest
    floor_row = gpu_row if gpu_row.min_driver else arch
    floor = gpu_row.min_driver or arch.min_driver
    if floor is None:
        what = f"the lowest driver for the {facts.gpu_model}; branch {row.id} supports its architecture"
        return (unknown(facts.addresses.gpu, what, Severity.NOTE),)
    if compare_driver(driver, floor) < 0:
        return (_too_old(facts, f"{facts.gpu_model} needs {floor} or newer; {driver} is older", floor_row),)
    return ()


def _rows(facts: PoolFacts) -> tuple[GpuRow | None, ArchitectureRow | None]:
    gpu_row = gpu(facts.gpu_model)
    return gpu_row, architecture(gpu_row.architecture) if gpu_row else None


def _dropped(facts: PoolFacts, number: int, arch: ArchitectureRow) -> Diagnostic:
    modules = f" with `modules: {arch.flavour}`" if arch.flavour != "any" else ""
    return Diagnostic(
        code="GP-RULE-002",
        summary=f"driver branch {number} has left the {facts.gpu_model} ({arch.id}); the last one is {arch.max_branch}",
        address=facts.addresses.driver,
        detail="The driver would load and ignore the GPU.",
        hint=f'write version: "{arch.max_branch}.*"{modules}',
        source=cite(arch),
    )


def _too_old(facts: PoolFacts, what: str, row: GpuRow | ArchitectureRow) -> Diagnostic:
    return Diagnostic(
        code="GP-RULE-002",
        summary=f"the driver is too old for the GPU: {what}",
        address=facts.addresses.driver,
        detail="The driver would load and not find the GPU.",
        hint="use a newer driver",
        source=cite(row),
    )


def _flavour(facts: PoolFacts, what: str, hint: str, source: str) -> Diagnostic:
    return Diagnostic(
        code="GP-RULE-003",
        summary=f"{what}, and the spec asks for {facts.modules} ones",
        address=facts.addresses.modules,
        detail="The packages would install, and no GPU would be found.",
        hint=hint,
        source=source,
    )
