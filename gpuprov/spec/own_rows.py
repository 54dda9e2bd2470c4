"""The catalog that a spec is read with: the packaged one, with the rows of the folder that the spec names over it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from gpuprov.catalog.load import PACKAGED, Catalog
from gpuprov.document.node import MappingNode, Scalar
from gpuprov.document.yaml_text import parse_yaml
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity

Folder = Callable[[str], Mapping[str, str]]
"""Reads the files of a folder that is named as in the spec: path to text."""


def no_folder(folder: str) -> Mapping[str, str]:
    """Refuse to read: for a caller that has the spec's text alone."""
    raise GpuprovError(
        Diagnostic(code="GP-DOC-001", summary=f"the folder {folder} cannot be read from here", address="catalog")
    )


def catalog_of(text: str, file: str, folder: Folder) -> tuple[Catalog, tuple[Diagnostic, ...]]:
    """The catalog in force for a spec, and what is to be told of it: notes on own rows, or all that is wrong.

    Args:
        text: the whole spec; where it cannot be read, the packaged catalog is the answer.
        file: its path.
        folder: reads the folder.
    """
    if "catalog" not in text:
        return PACKAGED, ()
    try:
        top = parse_yaml(text, file)
    except GpuprovError:
        return PACKAGED, ()  # the spec's own reader tells what is wrong with the text
    named = top.get("catalog") if isinstance(top, MappingNode) else None
    if not isinstance(named, Scalar) or named.is_null:
        return PACKAGED, ()
    from gpuprov.catalog.own import read_own  # noqa: PLC0415 - most specs name no folder, and `validate` is to be quick

    try:
        own = read_own(folder(named.text))
    except GpuprovError as error:
        return PACKAGED, tuple(replace(d, span=d.span or named.span) for d in error.diagnostics)
    if not own.notes:
        return PACKAGED, (_empty(named),)
    return own.catalog, own.notes


def _empty(named: Scalar) -> Diagnostic:
    return Diagnostic(
        code="GP-CAT-003",
        summary=f"the folder {named.text} holds no rows",
        address="catalog",
        hint="files of own rows end in .yaml, .yml or .json and are named like a table, such as gpus.yaml",
        span=named.span,
        severity=Severity.WARNING,
    )
