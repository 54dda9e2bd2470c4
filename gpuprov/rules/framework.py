"""Python frameworks bring their own CUDA runtime: it needs a driver of its major, and code for the GPU."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpuprov.catalog.find import branch, gpu
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import Row
from gpuprov.catalog.rows_stack import FrameworkRow, VariantRow
from gpuprov.model.version import compare_driver
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import FrameworkFacts, PoolFacts
from gpuprov.rules.numbers import numbers

_RULE: Final = "GP-RULE-011"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wheel:
    """What a framework's wheel needs, and the row that says it."""

    shown: str
    row: Row
    min_driver: str | None
    variant: VariantRow | None


def frameworks_fit(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """Refused when the driver or a GPU cannot run the wheel; a warning when the driver only just runs it."""
    for framework in facts.frameworks:
        known = [row for row in rows(FrameworkRow, facts.catalog) if row.project == framework.name]
        if not known:
            continue  # a package of no framework that the catalog holds: it has no GPU code that is known
        wheel = _wheel(facts, framework, known)
        if wheel is None:
            shown = f"{framework.name} {framework.version} {framework.variant}".strip()
            yield unknown(_RULE, facts.addresses.frameworks, shown, table="frameworks")
            continue
        yield from _driver(facts, wheel, number)
        yield from _gpus(facts, wheel)


def _wheel(facts: PoolFacts, framework: FrameworkFacts, known: list[FrameworkRow]) -> _Wheel | None:
    shown = f"{framework.name} {framework.version}".strip()
    variants = {row.id: row for row in rows(VariantRow, facts.catalog)}
    if framework.variant:
        variant = variants.get(framework.variant)
        if variant is None:
            return None
        return _Wheel(shown=f"{shown}+{variant.id}", row=variant, min_driver=variant.min_driver, variant=variant)
    row = next((row for row in known if _same(row.version, framework.version)), None)
    if row is None:
        return None
    variant = variants.get(f"cu{row.cuda.replace('.', '')}") if row.cuda else None
    return _Wheel(shown=shown, row=row, min_driver=row.min_driver, variant=variant)


def _same(version: str, part: str) -> bool:
    """Whether a release begins with the known part of a version; an empty part is the newest row."""
    return not part or version == part or version.startswith(f"{part}.")


def _driver(facts: PoolFacts, wheel: _Wheel, number: int) -> Iterator[Answer]:
    row = branch(number, facts.catalog)
    driver = facts.driver or (row.latest if row else "")
    needs = Said(
        what=f"{wheel.shown} needs driver {wheel.min_driver}", source=cite(wheel.row, "min_driver", facts.catalog)
    )
    if wheel.min_driver is None:
        what = f"the lowest driver for {wheel.shown}"
        yield unknown(_RULE, facts.addresses.frameworks, what, table="variants")
    elif not driver or compare_driver(driver, wheel.min_driver) < 0:
        yield Answer(
            rule=_RULE,
            verdict=Verdict.REFUSED,
            address=facts.addresses.frameworks,
            summary=f"{wheel.shown} needs driver {wheel.min_driver} or newer; {driver or 'the driver'} is older",
            facts=(needs, Said(what=f"the driver is {driver}", at=facts.addresses.driver)),
            consequence="It would find no GPU and compute on the CPU in silence.",
            satisfies=f"raise the driver to {wheel.min_driver} or newer, or take a variant of an older CUDA",
        )
    elif wheel.variant is not None and wheel.variant.branch is not None and number < wheel.variant.branch:
        yield Answer(
            rule=_RULE,
            verdict=Verdict.WARNING,
            address=facts.addresses.frameworks,
            summary=f"{wheel.shown} is built with CUDA {wheel.variant.cuda}, newer than driver branch {number}",
            facts=(
                needs,
                Said(
                    what=f"branch {wheel.variant.branch} has all of it",
                    source=cite(wheel.variant, "branch", facts.catalog),
                ),
            ),
            consequence="It runs; code that is compiled on the host (PTX), and features of the newer driver, do not.",
            satisfies=f"use driver branch {wheel.variant.branch} or newer, or a variant of an older CUDA",
        )


def _gpus(facts: PoolFacts, wheel: _Wheel) -> Iterator[Answer]:
    variant = wheel.variant
    for model in facts.gpu_models if variant is not None else ():
        row = gpu(model, facts.catalog)
        if variant is None or row is None or row.compute_capability is None:
            continue
        capability = row.compute_capability
        old = variant.min_capability is not None and numbers(capability) < numbers(variant.min_capability)
        new = numbers(capability) >= (10, 0) and capability not in variant.new_capabilities
        if old or new:
            yield Answer(
                rule=_RULE,
                verdict=Verdict.REFUSED,
                address=facts.addresses.frameworks,
                summary=f"{wheel.shown} has no code for the {model} (compute capability {capability})",
                facts=(
                    Said(
                        what=f"what {variant.id} is built for", source=cite(variant, "new_capabilities", facts.catalog)
                    ),
                    Said(what=f"the {model}", source=cite(row, "compute_capability", facts.catalog)),
                ),
                consequence="Every kernel would fail: no kernel image is available for the device.",
                satisfies=_way(facts, capability),
            )


def _way(facts: PoolFacts, capability: str) -> str:
    fitting = [
        row.id
        for row in rows(VariantRow, facts.catalog)
        if (row.min_capability is None or numbers(row.min_capability) <= numbers(capability))
        and (numbers(capability) < (10, 0) or capability in row.new_capabilities)
    ]
    return f"take one of the variants {', '.join(fitting)}" if fitting else "use another GPU or framework"
