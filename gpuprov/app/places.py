"""Where a finding is written: the line of the lock that pins the package, or of the spec that governs the facet."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from gpuprov.app.site import Site
from gpuprov.compare.facets import facet_of
from gpuprov.compare.finding_id import finding_id
from gpuprov.document.text import span_at
from gpuprov.model.address import join, split_address
from gpuprov.model.diagnostic import Span
from gpuprov.model.fact import Known
from gpuprov.model.finding import Finding
from gpuprov.parity.types import Parity
from gpuprov.spec.types import Spec
from gpuprov.store.files import read_text_if_there

_ROW: Final = re.compile(r'\{"name": "(?P<name>[^"]+)", "version": "(?P<version>[^"]+)"')
"""A package's row of the lock: one line each (document/layout.py)."""


def find_places(site: Site | None, parity: Parity) -> dict[str, Span]:
    """Find the lines of all findings with a say in the status, of the waived ones, and of waivers in trouble.

    Returns:
        Span by the id of the finding; its file is named from the repository's root. What is not written anywhere, such
        as a difference between two hosts that no spec governs, has none.
    """
    if site is None:
        return {}
    findings = [finding for finding in (*parity.findings, *parity.waived) if finding.counts or finding.waiver]
    rows = _lock_rows(site) if any(_package(finding) for finding in findings) else {}
    spec_file, lock_file = from_repository(str(site.path)), from_repository(str(site.lock_path))
    places: dict[str, Span] = {}
    for finding in findings:
        row = _row_of(finding, rows)
        span = row if row is not None else _spec_line(finding, site.spec)
        if span is not None:
            places[finding_id(finding)] = replace(span, file=spec_file if row is None else lock_file)
    places |= {w.id: replace(w.span, file=spec_file) for w in parity.waivers if w.span is not None}
    return places


def from_repository(file: str) -> str:
    """A path as code hosts want it: from the root of the git checkout that the command runs in.

    Outside a checkout it counts from the working folder; a file outside of that keeps its absolute path.
    """
    here = Path.cwd()
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    path = (here / file).resolve()
    return str(path.relative_to(root.resolve())) if path.is_relative_to(root.resolve()) else str(path)


def _package(finding: Finding) -> str:
    parts = split_address(finding.address)
    return parts[1] if parts is not None and parts[0] == "package" else ""


def _lock_rows(site: Site) -> dict[tuple[str, str], Span]:
    """The rows of the lock by package and version; and by package alone, for the first of several."""
    text = read_text_if_there(site.lock_path)
    lines = text.split("\n") if text is not None else []
    rows: dict[tuple[str, str], Span] = {}
    for number, line in enumerate(lines, start=1):
        found = _ROW.search(line)
        if found is not None:
            span = span_at(lines, str(site.lock_path), number, found.start() + 1)
            rows.setdefault((found["name"], found["version"]), span)
            rows.setdefault((found["name"], ""), span)
    return rows


def _row_of(finding: Finding, rows: Mapping[tuple[str, str], Span]) -> Span | None:
    name = _package(finding)
    version = str(finding.expected.value) if isinstance(finding.expected, Known) else ""
    return rows.get((name, version), rows.get((name, ""))) if name else None


def _spec_line(finding: Finding, spec: Spec) -> Span | None:
    pools = _pools(finding.host, spec)
    spans = (_nearest(address, spec.spans) for address in _governing(finding.address, pools))
    return next((span for span in spans if span is not None), None)


def _pools(host: str, spec: Spec) -> tuple[str, ...]:
    """The pool of a host, where the spec alone says it: a cloud host's name, or the only pool there is."""
    named = (name for name, pool in spec.pools.items() if pool.cloud is not None and host in pool.cloud.names(name))
    alone = tuple(spec.pools) if len(spec.pools) == 1 else ()
    return tuple(named) or alone


def _governing(address: str, pools: Iterable[str]) -> Iterator[str]:
    """The spec's addresses that say what a facet must be, the nearest first."""
    parts = split_address(address)
    wanted = facet_of(address).want
    if parts is not None and parts[0] == "file":
        yield join("files", parts[1])
    for pool in pools:
        if wanted.startswith("pools.*."):
            yield wanted.replace("*", pool, 1)
        elif wanted and parts is None:
            yield f"{join('pools', pool)}.{address if address.startswith('stack.') else wanted}"
    if wanted.startswith("pools.*."):
        yield "pools"
    elif parts is None and wanted:
        yield address
    if wanted and wanted != "lock":
        yield wanted


def _nearest(address: str, spans: Mapping[str, Span]) -> Span | None:
    """The span of an address, or of the field that it belongs to: `stack.driver.loaded` is decided by its version.

    A pool, or its overrides as a whole, does not decide a facet that it says nothing of.
    """
    if address in spans:
        return spans[address]
    while "." in address:
        address = address.rpartition(".")[0]
        if address.startswith("pools.") and (address.endswith(".stack") or address.count(".") == 1):
            return None
        if address in spans:
            return spans.get(f"{address}.version", spans[address])
    return None
