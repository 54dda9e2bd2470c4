"""Checks over the tables of what stands on the driver: references and forms."""

import re
from collections.abc import Iterator

from gpuprov.catalog.load import Catalog, rows
from gpuprov.catalog.rows import GpuRow, ToolkitRow
from gpuprov.catalog.rows_stack import CompanionRow, EngineRow, FrameworkRow, NgcRow, VariantRow, XidRow
from gpuprov.model.version import Constraint, check_version, compare_driver


def stack_problems(catalog: Catalog) -> Iterator[str]:
    """Everything that is wrong with these tables, one sentence each, begun with the table."""
    yield from _companions(catalog)
    yield from _engines(catalog)
    yield from _variants(catalog)
    yield from _frameworks(catalog)
    yield from _ngc(catalog)
    for row in rows(XidRow, catalog):
        if not row.id.isdecimal():
            yield f"xids: {row.id} is no code"


def _companions(catalog: Catalog) -> Iterator[str]:
    fabrics = {row.fabric for row in rows(GpuRow, catalog) if row.fabric}
    for row in rows(CompanionRow, catalog):
        if not set(row.fabrics) <= fabrics:
            yield f"companions: {row.id} is for a fabric that no GPU has"
        for pattern in row.patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                yield f"companions: the pattern {pattern} of {row.id} is no regular expression: {error}"


def _engines(catalog: Catalog) -> Iterator[str]:
    for row in rows(EngineRow, catalog):
        try:
            Constraint.parse(row.toolkit)
            check_version(row.min_version)
        except ValueError as error:
            yield f"engines: {row.id}: {error}"


def _variants(catalog: Catalog) -> Iterator[str]:
    floors = {row.release: row.min_driver for row in rows(ToolkitRow, catalog)}
    for row in rows(VariantRow, catalog):
        if row.id != f"cu{row.cuda.replace('.', '')}":
            yield f"variants: {row.id} is not named after CUDA {row.cuda}"
        floor = floors.get(row.cuda)
        if floor is None:
            yield f"variants: {row.id} is of CUDA {row.cuda}, of which there is no toolkit"
        elif row.min_driver is not None and compare_driver(row.min_driver, floor) != 0:
            yield f"variants: {row.id} and the toolkit of its CUDA have different lowest drivers"


def _frameworks(catalog: Catalog) -> Iterator[str]:
    variants = {row.id for row in rows(VariantRow, catalog)}
    seen: set[tuple[str, str]] = set()
    for row in rows(FrameworkRow, catalog):
        if not set(row.variants) <= variants:
            yield f"frameworks: {row.id} has a variant that variants has not"
        lowest, highest = ([int(n) for n in (text or "0").split(".")] for text in (row.python_min, row.python_max))
        if row.python_max and lowest > highest:
            yield f"frameworks: the Python of {row.id} ends before it begins"
        if (row.project, row.version) in seen:
            yield f"frameworks: {row.project} {row.version} has two rows"
        seen.add((row.project, row.version))


def _ngc(catalog: Catalog) -> Iterator[str]:
    toolkits = {row.id: row for row in rows(ToolkitRow, catalog)}
    for row in rows(NgcRow, catalog):
        if row.cuda is not None and row.cuda not in toolkits:
            yield f"ngc: {row.id} has the unknown CUDA {row.cuda}"
