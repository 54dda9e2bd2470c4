"""GPUs need a driver branch that supports their architecture, and kernel modules of a flavour that drives them all."""

from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.find import architecture, branch, gpu
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import ArchitectureRow, BranchRow, GpuRow
from gpuprov.model.version import compare_driver
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import PoolFacts

OPEN_FROM: Final = 515
"""First driver branch with open kernel modules (Driver Installation Guide R610, kernel modules; seen 2026-11-30)."""
OPEN_ONLY_FROM: Final = 615
"""First branch without packages of proprietary modules (release notes of 615.71.09 as quoted in public notes, 2026-10;
the Driver Installation Guide R620, section 4.1, 2026-11-09, has the modules themselves removed)."""
_FLAVOUR_SOURCE: Final = "NVIDIA Driver Installation Guide R610 and R620: Kernel Modules; seen 2026-11-30"
_BRANCH: Final = "GP-RULE-002"
_MODULES: Final = "GP-RULE-003"


def branch_supports_gpu(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """Refused when the branch has left a GPU's architecture, or the driver is older than a GPU."""
    for model in facts.gpu_models:
        row, arch = _rows(facts, model)
        if row is None or arch is None:
            yield unknown(_BRANCH, facts.addresses.gpu, f"the GPU {model}", table="gpus")
        else:
            yield from _supports(facts, number, row, arch)


def modules_fit(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """Refused when the branch lacks the flavour of the kernel modules, or the flavour does not drive every GPU."""
    if facts.modules == "proprietary" and number >= OPEN_ONLY_FROM:
        what = f"branch {number} has no proprietary kernel modules"
        way = f"write `modules: open`, or use a branch before {OPEN_ONLY_FROM}"
        yield _flavour(facts, what, way, Said(what=what, source=_FLAVOUR_SOURCE))
        return
    if facts.modules == "open" and number < OPEN_FROM:
        what = f"branch {number} has no open kernel modules"
        way = f"write `modules: proprietary`, or use branch {OPEN_FROM} or newer"
        yield _flavour(facts, what, way, Said(what=what, source=_FLAVOUR_SOURCE))
        return
    found = [(model, arch) for model in facts.gpu_models if (arch := _rows(facts, model)[1]) is not None]
    wanted = {arch.flavour: (model, arch) for model, arch in found if arch.flavour != "any"}
    if {"open", "proprietary"} <= set(wanted):
        yield _excluding(facts, wanted)
        return
    for flavour, (model, arch) in wanted.items():
        if facts.modules not in {"", flavour}:
            what = f"the {model} ({arch.id}) works only with {flavour} kernel modules"
            said = Said(what=f"{arch.id} needs {flavour} modules", source=cite(arch, "flavour", facts.catalog))
            yield _flavour(facts, what, f"write `modules: {flavour}`", said)


def _supports(facts: PoolFacts, number: int, row: GpuRow, arch: ArchitectureRow) -> Iterator[Answer]:
    branch_row = branch(number, facts.catalog)
    if arch.max_branch is not None and number > arch.max_branch:
        yield _dropped(facts, number, row, arch)
    elif branch_row is None or not branch_row.knows("architectures"):
        what = f"which GPUs driver branch {number} supports"
        yield unknown(_BRANCH, facts.addresses.driver, what, table="branches")
    elif (arch.listed_as or arch.id) not in branch_row.architectures:
        said = Said(
            what=f"branch {number} is for {', '.join(branch_row.architectures)}",
            source=cite(branch_row, "architectures", facts.catalog),
        )
        is_of = Said(what=f"the {row.id} is {row.architecture}", source=cite(row, "architecture", facts.catalog))
        what = f"branch {number} does not support {arch.id}"
        yield _too_old(facts, what, (said, is_of), f"use one of the branches {_branches_for(facts, arch)}")
    else:
        yield from _above_floor(facts, branch_row, row, arch)


def _above_floor(facts: PoolFacts, branch_row: BranchRow, row: GpuRow, arch: ArchitectureRow) -> Iterator[Answer]:
    """Compare with the lowest driver of the model, or of its architecture where the model's is not known."""
    driver = facts.driver or branch_row.latest
    floor_row = row if row.min_driver else arch
    floor = row.min_driver or arch.min_driver
    if floor is None:
        what = f"the lowest driver for the {row.id}; branch {branch_row.id} supports its architecture"
        yield unknown(_BRANCH, facts.addresses.gpu, what, table="gpus", verdict=Verdict.NOTE)
    elif compare_driver(driver, floor) < 0:
        said = Said(what=f"the {row.id} needs {floor}", source=cite(floor_row, "min_driver", facts.catalog))
        has = Said(what=f"the driver is {driver}", at=facts.addresses.driver)
        what = f"{row.id} needs {floor} or newer; {driver} is older"
        yield _too_old(facts, what, (said, has), f"use driver {floor} or newer")


def _rows(facts: PoolFacts, model: str) -> tuple[GpuRow | None, ArchitectureRow | None]:
    row = gpu(model, facts.catalog)
    return row, architecture(row.architecture, facts.catalog) if row else None


def _dropped(facts: PoolFacts, number: int, row: GpuRow, arch: ArchitectureRow) -> Answer:
    modules = f" with `modules: {arch.flavour}`" if arch.flavour != "any" else ""
    return Answer(
        rule=_BRANCH,
        verdict=Verdict.REFUSED,
        address=facts.addresses.driver,
        summary=f"driver branch {number} has left the {row.id} ({arch.id}); the last one is {arch.max_branch}",
        facts=(
            Said(what=f"{arch.id} ends with branch {arch.max_branch}", source=cite(arch, "max_branch", facts.catalog)),
            Said(what=f"the {row.id} is {arch.id}", source=cite(row, "architecture", facts.catalog)),
        ),
        consequence="The driver would load and ignore the GPU.",
        satisfies=f'write version: "{arch.max_branch}.*"{modules}',
    )


def _branches_for(facts: PoolFacts, arch: ArchitectureRow) -> str:
    """The branches that support an architecture and are not ended, else all that support it."""
    fitting = [row for row in rows(BranchRow, facts.catalog) if (arch.listed_as or arch.id) in row.architectures]
    return ", ".join(row.id for row in fitting if row.status == "supported") or ", ".join(row.id for row in fitting)


def _too_old(facts: PoolFacts, what: str, said: tuple[Said, ...], way: str) -> Answer:
    return Answer(
        rule=_BRANCH,
        verdict=Verdict.REFUSED,
        address=facts.addresses.driver,
        summary=f"the driver is too old for the GPU: {what}",
        facts=said,
        consequence="The driver would load and not find the GPU.",
        satisfies=way,
    )


def _flavour(facts: PoolFacts, what: str, way: str, said: Said) -> Answer:
    return Answer(
        rule=_MODULES,
        verdict=Verdict.REFUSED,
        address=facts.addresses.modules,
        summary=f"{what}, and the spec asks for {facts.modules} ones",
        facts=(said, Said(what=f"modules: {facts.modules}", at=facts.addresses.modules)),
        consequence="The packages would install, and no GPU would be found.",
        satisfies=way,
    )


def _excluding(facts: PoolFacts, wanted: dict[str, tuple[str, ArchitectureRow]]) -> Answer:
    (old, old_arch), (new, new_arch) = wanted["proprietary"], wanted["open"]
    return Answer(
        rule=_MODULES,
        verdict=Verdict.REFUSED,
        address=facts.addresses.gpu,
        summary=f"no kernel modules drive both the {old} ({old_arch.id}) and the {new} ({new_arch.id})",
        facts=(
            Said(what=f"{old_arch.id} needs proprietary modules", source=cite(old_arch, "flavour", facts.catalog)),
            Said(what=f"{new_arch.id} needs open modules", source=cite(new_arch, "flavour", facts.catalog)),
        ),
        consequence="A host loads one flavour; the other GPU would not be found.",
        satisfies="put the two into different hosts",
    )
