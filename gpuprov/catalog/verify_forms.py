"""Checks of single values: what others match or compare with must have its form before anything else is asked."""

import re
from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.load import FILES, Catalog, rows
from gpuprov.catalog.rows import BranchRow, ComponentRow, NeverRow, RetiredRow

_NUMBERS: Final = frozenset(
    {
        "bundled_driver",
        "compute_capability",
        "containerd",
        "cuda",
        "docker",
        "driver",
        "kernel",
        "latest",
        "max_cuda",
        "mig_min_driver",
        "min_capability",
        "min_driver",
        "min_kernel",
        "new_capabilities",
        "python_max",
        "python_min",
        "release",
        "releases",
    }
)
"""Fields of any table whose values are numbers with dots."""
_DOTTED: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})*")


def broken_forms(catalog: Catalog) -> Iterator[str]:
    """Every value without its form, one sentence each, begun with the table."""
    yield from _patterns(catalog)
    yield from _versions(catalog)


def _patterns(catalog: Catalog) -> Iterator[str]:
    found = [(f"components: {r.id}", p) for r in rows(ComponentRow, catalog) for p in r.patterns]
    found += [(f"never: {r.id}", r.pattern) for r in rows(NeverRow, catalog)]
    found += [(f"retired: {r.id}", r.pattern) for r in rows(RetiredRow, catalog)]
    for name, pattern in found:
        try:
            re.compile(pattern)
        except re.error as error:
            yield f"{name}: the pattern {pattern} is no regular expression: {error}"


def _versions(catalog: Catalog) -> Iterator[str]:
    """What rules compare as numbers is numbers with dots."""
    for name, kind in FILES.items():
        for row in rows(kind, catalog):
            for field in _NUMBERS & set(kind.__dataclass_fields__):
                value = getattr(row, field)
                for text in (value,) if isinstance(value, str) else value or ():
                    if not _DOTTED.fullmatch(text):
                        yield f"{name}: {row.id} has {field} {text}, and numbers with dots were expected"
    for branch in rows(BranchRow, catalog):
        if not branch.id.isdecimal():
            yield f"branches: {branch.id} is no number"
