"""The container toolkit writes CDI specs of a form that an old container engine does not read."""

from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.find import system
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows_stack import EngineRow
from gpuprov.model.version import Constraint, compare, upstream
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import PoolFacts

_RULE: Final = "GP-RULE-010"


def toolkit_fits_engine(facts: PoolFacts) -> Iterator[Answer]:
    """A warning when the engine is too old for the toolkit's CDI specs: the runtime works, `--device` does not."""
    if not facts.toolkit:
        return
    for row in rows(EngineRow, facts.catalog):
        if row.id != facts.engine or not Constraint.parse(row.toolkit).allows(facts.toolkit):
            continue
        version, said = _engine(facts, row)
        if version is None:
            what = f"the version of {row.id} on {facts.os}; CDI specs need {row.min_version}"
            yield unknown(_RULE, facts.addresses.toolkit, what, table="systems", verdict=Verdict.NOTE)
        elif compare(version, row.min_version) < 0:
            yield Answer(
                rule=_RULE,
                verdict=Verdict.WARNING,
                address=facts.addresses.toolkit,
                summary=f"the CDI specs of container toolkit {facts.toolkit} need {row.id} {row.min_version} or newer",
                facts=(
                    Said(what=f"the toolkit needs {row.min_version}", source=cite(row, "min_version", facts.catalog)),
                    Said(what=f"{row.id} is {version}", source=said),
                ),
                consequence="`docker run --runtime nvidia` works; `--device nvidia.com/gpu=all` does not.",
                satisfies="use a newer OS release, or a container toolkit before 1.19.1",
            )


def _engine(facts: PoolFacts, row: EngineRow) -> tuple[str | None, str]:
    """The engine's version and who says it: the lock, or the catalog's row of the OS."""
    for name in row.packages:
        if name in facts.locked:
            return upstream(facts.locked[name]).partition("+")[0].partition("~")[0], f"the lock, {name}"
    found = system(facts.os, facts.catalog)
    version = {"docker": found.docker, "containerd": found.containerd}.get(row.id) if found else None
    return version, cite(found, row.id, facts.catalog) if found else ""
