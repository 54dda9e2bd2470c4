"""`init`: a first spec, of an example or of a host that is there."""

from pathlib import Path
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.named import named_hosts
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report
from gpuprov.model.snapshot import NotObserved
from gpuprov.probe.probe import ProbeRequest, probe_hosts
from gpuprov.reference.schema import schema_text
from gpuprov.spec.draft import draft_spec, example_inventory, example_spec
from gpuprov.store.files import make_folder, write_text

SCHEMA_NAME: Final = "gpuprov.schema.json"
_MODELINE: Final = f"# yaml-language-server: $schema={SCHEMA_NAME}\n"
"""Tells editors with a YAML language server where the schema lies: keys, values and texts while one writes."""


def init_example(folder: Path) -> tuple[Path, ...]:
    """Write a commented example spec, its schema for editors, and an inventory.

    Raises:
        GpuprovError: GP-DOC-007 when one of the files is there already; then nothing is written.
    """
    return _write({**_with_schema(folder, example_spec()), folder / "inventory" / "site.yml": example_inventory()})


def init_from_host(name: str, folder: Path, access: Access, report: Report) -> tuple[Path, ...]:
    """Write a spec of what one host has, from a read-only look at it, and the schema for editors.

    Raises:
        GpuprovError: the host cannot be observed, or one of the files is there already.
    """
    _refuse_existing(list(_with_schema(folder, "")))
    hosts = named_hosts([name], None, access).hosts
    result = probe_hosts(hosts, ProbeRequest(), limit=1, timeout=access.probe_seconds, report=report)[0].result
    if isinstance(result, NotObserved):
        raise GpuprovError(result.diagnostic)
    return _write(_with_schema(folder, draft_spec(result)))


def _with_schema(folder: Path, spec: str) -> dict[Path, str]:
    return {folder / "gpuprov.yaml": _MODELINE + spec, folder / SCHEMA_NAME: schema_text()}


def _write(texts: dict[Path, str]) -> tuple[Path, ...]:
    _refuse_existing(list(texts))
    for path, text in texts.items():
        make_folder(path.parent)
        write_text(path, text)
    return tuple(texts)


def _refuse_existing(paths: list[Path]) -> None:
    there = [path for path in paths if path.exists()]
    if there:
        raise GpuprovError(
            *(
                Diagnostic(
                    code="GP-DOC-007",
                    address=str(path),
                    summary="the file is there already; nothing was written",
                    hint="give another folder with --dir, or move the file away",
                )
                for path in there
            )
        )
