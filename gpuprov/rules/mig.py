"""A MIG layout must be of profiles that the GPU has, and fit into its slices and its memory."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from gpuprov.catalog.find import branch, gpu
from gpuprov.catalog.load import cite
from gpuprov.catalog.rows import GpuRow
from gpuprov.model.version import compare_driver
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import PoolFacts

_RULE: Final = "GP-RULE-015"
_PROFILE: Final = re.compile(r"([0-9])g\.([0-9]+)gb")
_MEMORY_SLICES: Final = {7: 8, 4: 4, 2: 2}
"""Slices of memory that a GPU with so many instances has (MIG User Guide R610: memory fractions; seen 2026-11-30)."""


def mig_fits(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """Refused when a GPU has no MIG, lacks a profile, has no room for the layout, or the driver is too old for it."""
    for model in facts.gpu_models if facts.mig else ():
        row = gpu(model, facts.catalog)
        if row is None:
            continue  # another rule says that the GPU is not known
        if row.mig_instances == 0:
            yield _answer(facts, row, f"the {model} has no MIG", "write `mig: null`")
        elif row.mig_instances is None or not row.knows("mig_profiles"):
            yield unknown(_RULE, facts.addresses.mig, f"the MIG profiles of the {model}", table="gpus")
        else:
            yield from _layout(facts, row, row.mig_instances)
            yield from _driver(facts, row, number)


def _layout(facts: PoolFacts, row: GpuRow, slices: int) -> Iterator[Answer]:
    most = {name: int(count) for name, _, count in (text.rpartition(":") for text in row.mig_profiles)}
    wanted = Counter(facts.mig)
    missing = [name for name in wanted if name not in most]
    if missing:
        summary = f"the {row.id} has no MIG profile {', '.join(missing)}"
        yield _answer(facts, row, summary, f"its profiles: {', '.join(most)}")
        return
    over = [f"{count} x {name} (at most {most[name]})" for name, count in wanted.items() if count > most[name]]
    if over:
        yield _answer(facts, row, f"the {row.id} has no room for {', '.join(over)}", "take fewer of them")
        return
    total = _MEMORY_SLICES[slices]
    whole = max(_parts(name)[1] for name in most)
    compute = sum(_parts(name)[0] for name in facts.mig)
    memory = sum(round(_parts(name)[1] / whole * total) for name in facts.mig)
    if compute > slices or memory > total:
        what = f"{compute} of {slices} compute slices and {memory} of {total} memory slices"
        yield _answer(facts, row, f"the layout needs {what} of the {row.id}", "take smaller profiles")


def _driver(facts: PoolFacts, row: GpuRow, number: int) -> Iterator[Answer]:
    branch_row = branch(number, facts.catalog)
    driver = facts.driver or (branch_row.latest if branch_row else "")
    if row.mig_min_driver is None:
        yield unknown(_RULE, facts.addresses.mig, f"the lowest driver with MIG on the {row.id}", table="gpus")
    elif driver and compare_driver(driver, row.mig_min_driver) < 0:
        summary = f"MIG on the {row.id} needs driver {row.mig_min_driver} or newer; {driver} is older"
        yield _answer(facts, row, summary, "use a newer driver")


def _parts(profile: str) -> Sequence[int]:
    found = _PROFILE.match(profile)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _answer(facts: PoolFacts, row: GpuRow, summary: str, way: str) -> Answer:
    return Answer(
        rule=_RULE,
        verdict=Verdict.REFUSED,
        address=facts.addresses.mig,
        summary=summary,
        facts=(
            Said(what=f"MIG of the {row.id}", source=cite(row, "mig_profiles", facts.catalog)),
            Said(what=f"mig: {', '.join(facts.mig)}", at=facts.addresses.mig),
        ),
        satisfies=way,
    )
