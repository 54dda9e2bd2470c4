"""From the text of a spec to a Spec, or to everything that is wrong with it."""

from dataclasses import asdict, replace
from typing import Any

from gpuprov.document.canonical import digest
from gpuprov.document.envelope import API_VERSION, KINDS, unknown_version
from gpuprov.document.node import MappingNode, Node, Scalar, describe_node
from gpuprov.document.yaml_text import parse_yaml
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.finding import Waiver
from gpuprov.spec.checks import check_spec
from gpuprov.spec.merge import with_overrides
from gpuprov.spec.tree import Decoder
from gpuprov.spec.types import FileSpec, PoolSpec, Spec
from gpuprov.spec.written import WrittenPool, WrittenSpec


def load(text: str, file: str) -> tuple[Spec | None, tuple[Diagnostic, ...]]:
    """Read a spec.

    Args:
        text: the whole file.
        file: its path, for places and for what is relative to the spec.

    Returns:
        The spec and no diagnostic, or None and all errors in the order of the file. It never raises on bad text.
    """
    try:
        root = _top(parse_yaml(text, file))
    except GpuprovError as error:
        return None, error.diagnostics
    decoder = Decoder()
    decoder.spans[""] = root.span
    written: WrittenSpec = decoder.decode(WrittenSpec, with_overrides(root), "")
    check_spec(written, decoder)
    if decoder.problems:
        return None, tuple(sorted(decoder.problems, key=_place))
    del decoder.spans[""]
    spec = _resolve(written, file)
    return replace(spec, digest=spec_digest(spec), spans=decoder.spans), ()


def spec_digest(spec: Spec) -> str:
    """The digest over the decoded spec, without its path and places."""
    value: dict[str, Any] = asdict(replace(spec, spans={}))
    for key in ("path", "spans", "digest"):
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
        pin=written.lock.pin,
        waivers=tuple(Waiver(facet=w.facet, reason=w.reason, until=w.until) for w in written.parity.waivers),
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
