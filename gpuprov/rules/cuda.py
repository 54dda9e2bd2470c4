"""CUDA needs a driver of its major or newer (minor version compatibility), and builds for a range of GPUs."""

from collections.abc import Iterator

from gpuprov.catalog.find import branch, gpu, toolkits
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import GpuRow, ToolkitRow
from gpuprov.model.version import compare_driver
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.numbers import numbers

_DRIVER = "GP-RULE-001"
_GPU = "GP-RULE-016"


def cuda_needs_driver(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """Refused when the driver is older than the release's major needs; a warning when it only just runs it."""
    if not facts.cuda:
        return
    found = toolkits(facts.cuda, facts.catalog)
    if not found:
        yield unknown(_DRIVER, facts.addresses.cuda, f"the CUDA release {facts.cuda}", table="toolkits")
        return
    row, branch_row = found[0], branch(number, facts.catalog)
    driver = facts.driver or (branch_row.latest if branch_row else "")
    shown = facts.driver or f"{driver}, the newest of branch {number},"
    needs = Said(what=f"CUDA {facts.cuda} needs {row.min_driver}", source=cite(row, "min_driver", facts.catalog))
    has = Said(what=f"the driver is {driver}", at=facts.addresses.driver)
    if not driver or compare_driver(driver, row.min_driver) < 0:
        yield Answer(
            rule=_DRIVER,
            verdict=Verdict.REFUSED,
            address=facts.addresses.cuda,
            summary=f"CUDA {facts.cuda} needs driver {row.min_driver} or newer; {shown} is older",
            facts=(needs, has),
            consequence="Programs built with it would not find a usable driver; some fall back to the CPU in silence.",
            satisfies=f"raise the driver to {row.min_driver} or newer, or lower stack.cuda",
        )
        return
    reports = branch_row.max_cuda if branch_row else None
    if branch_row is not None and reports is not None and numbers(reports) < numbers(facts.cuda):
        yield Answer(
            rule=_DRIVER,
            verdict=Verdict.WARNING,
            address=facts.addresses.cuda,
            summary=f"CUDA {facts.cuda} is newer than the CUDA {reports} of driver branch {number}",
            facts=(
                needs,
                Said(
                    what=f"branch {number} reports CUDA {reports}", source=cite(branch_row, "max_cuda", facts.catalog)
                ),
            ),
            consequence="Compiled programs run; code that is shipped as PTX, and features of the newer driver, do not.",
            satisfies=f"use a driver branch that reports CUDA {facts.cuda}, or CUDA {reports}",
        )


def cuda_builds_for_gpu(facts: PoolFacts) -> Iterator[Answer]:
    """Refused when the toolkit has left the GPU; a warning when it is older than the GPU."""
    found = toolkits(facts.cuda, facts.catalog) if facts.cuda else ()
    if not found:
        return
    for model in facts.gpu_models:
        row = gpu(model, facts.catalog)
        if row is None or row.compute_capability is None:
            continue  # another rule says that the GPU is not known
        answer = _builds(facts, found[-1], row, row.compute_capability)
        if answer is not None:
            yield answer


def _builds(facts: PoolFacts, toolkit: ToolkitRow, row: GpuRow, capability: str) -> Answer | None:
    has = Said(
        what=f"the {row.id} has compute capability {capability}", source=cite(row, "compute_capability", facts.catalog)
    )
    lowest = toolkit.min_capability
    if lowest is not None and numbers(capability) < numbers(lowest):
        return Answer(
            rule=_GPU,
            verdict=Verdict.REFUSED,
            address=facts.addresses.cuda,
            summary=f"CUDA {facts.cuda} builds for compute capability {lowest} on; the {row.id} has {capability}",
            facts=(
                Said(
                    what=f"CUDA {facts.cuda} begins at {lowest}", source=cite(toolkit, "min_capability", facts.catalog)
                ),
                has,
            ),
            consequence="Nothing that is built with it, and none of its libraries, runs on the GPU.",
            satisfies=_older(facts, capability),
        )
    if numbers(capability) < (10, 0):
        return None
    known = _new_capabilities(facts, toolkit)
    if capability in known:
        return None
    if not known and not toolkit.knows("new_capabilities"):
        what = f"whether CUDA {facts.cuda} builds for compute capability {capability} of the {row.id}"
        return unknown(_GPU, facts.addresses.cuda, what, table="toolkits")
    return Answer(
        rule=_GPU,
        verdict=Verdict.WARNING,
        address=facts.addresses.cuda,
        summary=f"CUDA {facts.cuda} is older than the {row.id}: it does not build for compute capability {capability}",
        facts=(
            Said(
                what=f"CUDA {facts.cuda} builds for {', '.join(known) or 'nothing'} from 10.0 on",
                source=cite(toolkit, "new_capabilities", facts.catalog),
            ),
            has,
        ),
        consequence="Only code that is shipped as PTX runs, after it was compiled by the driver; libraries may not.",
        satisfies=_newer(facts, capability),
    )


def _new_capabilities(facts: PoolFacts, toolkit: ToolkitRow) -> tuple[str, ...]:
    """What a release builds for from 10.0 on: within a major, a later release drops nothing."""
    major, release = numbers(toolkit.release)[0], numbers(toolkit.release)
    earlier = [
        row
        for row in rows(ToolkitRow, facts.catalog)
        if numbers(row.release)[0] == major and numbers(row.release) <= release
    ]
    return tuple(sorted({text for row in earlier for text in row.new_capabilities}, key=numbers))


def _older(facts: PoolFacts, capability: str) -> str:
    fitting = [
        row.release
        for row in rows(ToolkitRow, facts.catalog)
        if row.min_capability is not None and numbers(row.min_capability) <= numbers(capability)
    ]
    best = max(fitting, key=numbers, default="")
    return f'write cuda: "{best}", the newest that builds for it' if best else "use a newer GPU"


def _newer(facts: PoolFacts, capability: str) -> str:
    fitting = [row.release for row in rows(ToolkitRow, facts.catalog) if capability in row.new_capabilities]
    best = min(fitting, key=numbers, default="")
    return f"use CUDA {best} or newer" if best else "use a newer CUDA"
