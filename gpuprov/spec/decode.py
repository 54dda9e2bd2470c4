"""From the text of a spec to a Spec, or to everything that is wrong with it."""

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from gpuprov.catalog.load import PACKAGED, Catalog
from gpuprov.document.canonical import digest
from gpuprov.document.envelope import API_VERSION, KINDS, unknown_version
from gpuprov.document.node import MappingNode, Node, Scalar, describe_node
from gpuprov.document.yaml_text import MAX_PROBLEMS, read_yaml
from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity, Span
from gpuprov.model.waiver import Waiver
from gpuprov.spec.access import AccessSpec
from gpuprov.spec.checks import check_spec
from gpuprov.spec.merge import with_overrides
from gpuprov.spec.own_rows import Folder, catalog_of, no_folder
from gpuprov.spec.tree import Decoder, EnoughError
from gpuprov.spec.tuning import TuningSpec
from gpuprov.spec.types import FileSpec, PoolSpec, Spec
from gpuprov.spec.written import WrittenPool, WrittenSpec


def load(text: str, file: str, folder: Folder = no_folder) -> tuple[Spec | None, tuple[Diagnostic, ...]]:
    """Read a spec.

    Args:
        text: the whole file.
        file: its path, for places and for what is relative to the spec.
        folder: reads the folder of own catalog rows that the spec may name.

    Returns:
        The spec and the notes on its own catalog rows, or None and all errors in the order of the file. It never
        raises on bad text.
    """
    catalog, told = catalog_of(text, file, folder)
    written, spans, problems = read_written(text, file, catalog)
    errors = (*(d for d in told if d.severity is Severity.ERROR), *problems)
    if written is None or errors:
        return None, errors
    spec = replace(_resolve(written, file), catalog=catalog)
    return replace(spec, digest=spec_digest(spec), spans=spans), told


def load_part(text: str, file: str, folder: Folder = no_folder) -> Spec | None:
    """What of a refused spec can be looked at further: the spec with those pools alone that no error touches.

    Args:
        text: the whole file, which `load` refused.
        file: its path.
        folder: reads the folder of own catalog rows that the spec may name.

    Returns:
        The spec without digest, or None where an error may touch every pool.
    """
    catalog, told = catalog_of(text, file, folder)
    written, spans, problems = read_written(text, file, catalog)
    touched = [problem.address for problem in problems]
    shared = any(re.split(r"[.\[]", address, maxsplit=1)[0] in _SHARED for address in touched)
    if written is None or shared or any(d.severity is Severity.ERROR for d in told):
        return None
    spec = replace(_resolve(written, file), catalog=catalog, spans=spans)
    sound = {name: pool for name, pool in spec.pools.items() if not _touches(join("pools", name), touched)}
    return replace(spec, pools=sound) if sound else None


_SHARED: Final = frozenset({"", "os", "sources", "stack", "targets", "accept", "catalog"})
"""Parts of a spec that every pool may depend on; what is wrong with the text as a whole has no address."""


def _touches(pool: str, addresses: Sequence[str]) -> bool:
    return any(address == pool or address.startswith((f"{pool}.", f"{pool}[")) for address in addresses)


def read_written(
    text: str, file: str, catalog: Catalog = PACKAGED
) -> tuple[WrittenSpec | None, dict[str, Span], tuple[Diagnostic, ...]]:
    """Read a spec as it was written, with the pools' overrides applied.

    Args:
        text: the whole file.
        file: its path.
        catalog: the rows that names are looked up in.

    Returns:
        The spec, the place of every address that was written, and all errors in the order of the file. With errors
        the spec is None or has gaps.
    """
    root, found = read_yaml(text, file)
    if root is None:
        return None, {}, found
    decoder, written = Decoder(), None
    try:
        top = with_overrides(_top(root))
        decoder.spans[""] = top.span
        written = decoder.decode(WrittenSpec, top, "")
        check_spec(written, decoder, catalog)
    except GpuprovError as error:
        return None, {}, (*found, *error.diagnostics)
    except EnoughError:
        last = decoder.problems[-1]
        what = f"{MAX_PROBLEMS} problems; nothing more was looked for"
        decoder.problems.append(replace(last, address="", summary=what, detail="", hint="mend these first"))
    decoder.spans.pop("", None)
    return written, decoder.spans, tuple(sorted((*found, *decoder.problems), key=_place))


def spec_digest(spec: Spec) -> str:
    """The digest over the decoded spec, without its path and places."""
    value: dict[str, Any] = asdict(replace(spec, spans={}, catalog=PACKAGED))
    for key in ("path", "spans", "digest", "catalog"):
        del value[key]
    return digest(value)


def _top(root: Node) -> MappingNode:
    """Refuse what is no spec at all before its keys are looked at."""
    if not isinstance(root, MappingNode):
        raise GpuprovError(
            Diagnostic(
                code="GP-SPEC-002",
                summary=f"the spec is {describe_node(root)}",
                detail="Expected: a mapping with the keys apiVersion, name, os, pools.",
                hint="`gpuprov init` writes a spec to start from",
                span=root.span,
            )
        )
    kind, version = root.get("kind"), root.get("apiVersion")
    if isinstance(kind, Scalar) and kind.text in KINDS:
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-004",
                summary=f"the file holds a {kind.text}, not a spec",
                address="kind",
                hint="give the spec that people write, such as gpuprov.yaml",
                span=kind.span,
            )
        )
    if isinstance(version, Scalar) and not version.is_null and version.text != API_VERSION:
        raise GpuprovError(unknown_version(version.text, version.span))
    return root


def _place(problem: Diagnostic) -> tuple[int, int]:
    return (problem.span.line, problem.span.column) if problem.span else (0, 0)


def _resolve(written: WrittenSpec, file: str) -> Spec:
    return Spec(
        path=file,
        name=written.name,
        os=written.os,
        sources=dict(written.sources),
        stack=written.stack,
        pools={name: _pool(name, pool, written) for name, pool in written.pools.items()},
        files=tuple(
            FileSpec(path=path, text=f.text, mode=f.mode.zfill(4), owner=f.owner, group=f.group)
            for path, f in sorted(written.files.items())
        ),
        exporters=written.monitoring.exporters,
        verify=written.verify,
        inventory=written.targets.onprem.inventory if written.targets.onprem else None,
        cloud=written.targets.cloud,
        storage=dict(written.storage),
        access=written.access or AccessSpec(),
        tuning=written.tuning or TuningSpec(),
        pin=written.lock.pin,
        waivers=tuple(Waiver(facet=w.facet, reason=w.reason, until=w.until) for w in written.parity.waivers),
        accept=written.accept,
        digest="",
    )


def _pool(name: str, pool: WrittenPool, written: WrittenSpec) -> PoolSpec:
    return PoolSpec(
        name=name,
        os=pool.os or written.os,
        gpu=pool.gpu,
        onprem=pool.onprem,
        cloud=pool.cloud,
        rollout=pool.rollout,
        stack=pool.stack or written.stack,
        verify=written.verify if pool.verify is None else pool.verify,
    )
