"""The operating system, its kernel, compiler and architecture against the driver, CUDA and the GPU."""

from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.find import gpu, system, toolkits
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import BranchRow, SystemRow
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.numbers import numbers

_SYSTEM: Final = "GP-RULE-012"
_COMPILER: Final = "GP-RULE-013"


def system_named(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """A warning when the branch's installation guide does not name the OS; unknown for an OS without a row."""
    row = system(facts.os, facts.catalog) if facts.os else None
    if row is None:
        if facts.os:
            yield unknown(_SYSTEM, facts.addresses.os, f"the operating system {facts.os}", table="systems")
        return
    editions = sorted({int(guide) for r in rows(SystemRow, facts.catalog) for guide in r.guides})
    edition = max((e for e in editions if e <= number), default=min(editions, default=0))
    if edition and str(edition) not in row.guides and not facts.from_os:
        named = [r for r in rows(SystemRow, facts.catalog) if str(edition) in r.guides and r.family == row.family]
        yield Answer(
            rule=_SYSTEM,
            verdict=Verdict.WARNING,
            address=facts.addresses.os,
            summary=f"NVIDIA's guide of driver branch {edition} does not name {row.id}",
            facts=(
                Said(
                    what=f"the guides that name {row.id}: {', '.join(row.guides) or 'none'}",
                    source=cite(row, "guides", facts.catalog),
                ),
                Said(what=f"branch {number}", at=facts.addresses.driver),
            ),
            consequence="NVIDIA does not support the pair, and its repository may not offer the branch.",
            satisfies=f"use {' or '.join(r.id for r in named)}, or another branch" if named else "use another branch",
        )


def kernel_builds(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """Refused when the kernel is older than the branch's modules build for."""
    row = system(facts.os, facts.catalog) if facts.os else None
    kernel = facts.kernel or (row.kernel if row else None)
    # A floor only rises from branch to branch (3.10 in 550, 4.15 from 560), so an earlier branch's holds as well.
    known = [b for b in rows(BranchRow, facts.catalog) if b.number <= number and b.min_kernel is not None]
    floor = max(known, key=lambda b: b.number, default=None)
    if kernel is None or floor is None or floor.min_kernel is None or numbers(kernel)[:2] >= numbers(floor.min_kernel):
        return
    where = facts.addresses.kernel if facts.kernel else facts.addresses.os
    yield Answer(
        rule=_SYSTEM,
        verdict=Verdict.REFUSED,
        address=where,
        summary=f"the modules of driver branch {number} need Linux {floor.min_kernel} or newer; the kernel is {kernel}",
        facts=(
            Said(
                what=f"branch {floor.id} needs Linux {floor.min_kernel}",
                source=cite(floor, "min_kernel", facts.catalog),
            ),
            Said(
                what=f"the kernel {kernel}",
                source=cite(row, "kernel", facts.catalog) if row and not facts.kernel else "",
                at=where,
            ),
        ),
        consequence="The modules would not be built, and no GPU found.",
        satisfies="use a newer kernel or OS release, or an older branch",
    )


def gpu_fits_host(facts: PoolFacts) -> Iterator[Answer]:
    """Refused when a GPU is one part with a CPU of another architecture than packages are locked for."""
    for model in facts.gpu_models:
        row = gpu(model, facts.catalog)
        if row is not None and row.cpu and facts.arch and row.cpu != facts.arch:
            yield Answer(
                rule=_SYSTEM,
                verdict=Verdict.REFUSED,
                address=facts.addresses.gpu,
                summary=f"hosts of the {row.id} are {row.cpu}, and packages are locked for {facts.arch}",
                facts=(
                    Said(what=f"the {row.id} is one part with its CPU", source=cite(row, "cpu", facts.catalog)),
                    Said(what=f"the pool's instance type is {facts.arch}", at=facts.addresses.gpu),
                ),
                consequence="None of the packages could be installed there.",
                satisfies=f"take an instance type that is {row.cpu}, or another GPU",
            )


def compiler_fits(facts: PoolFacts) -> Iterator[Answer]:
    """A warning when the OS's default GCC is newer than nvcc takes."""
    found = toolkits(facts.cuda, facts.catalog) if facts.cuda else ()
    row = system(facts.os, facts.catalog) if facts.os else None
    known = [toolkit for toolkit in found if toolkit.max_gcc is not None]
    if row is None or row.gcc is None or not known:
        return  # a compiler that is not known hinders nothing but a build on the host
    newest = known[-1]
    if newest.max_gcc is not None and row.gcc > newest.max_gcc:
        yield Answer(
            rule=_COMPILER,
            verdict=Verdict.WARNING,
            address=facts.addresses.cuda,
            summary=f"nvcc of CUDA {facts.cuda} takes GCC {newest.max_gcc} and older; {row.id} has GCC {row.gcc}",
            facts=(
                Said(
                    what=f"CUDA {newest.id} takes GCC {newest.max_gcc}", source=cite(newest, "max_gcc", facts.catalog)
                ),
                Said(what=f"{row.id} has GCC {row.gcc}", source=cite(row, "gcc", facts.catalog)),
            ),
            consequence="Programs run; nvcc on the host refuses to compile.",
            satisfies=f"add an older compiler, such as `packages: [g++-{newest.max_gcc}]`, or use a newer CUDA",
        )
