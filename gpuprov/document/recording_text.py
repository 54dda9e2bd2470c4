"""Recording to text and back: YAML with one block a collector, the document that a user reads, cuts and attaches."""

from typing import Any, Final

from gpuprov.document.canonical import digest
from gpuprov.document.envelope import API_VERSION, check_head
from gpuprov.document.node import MappingNode, Node, Scalar, SequenceNode, describe_node
from gpuprov.document.text import MACHINE_LIMIT
from gpuprov.document.yaml_text import parse_yaml
from gpuprov.document.yaml_write import block, quoted
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.snapshot import CollectorOutput, Recording

KIND: Final = "Recording"


def write_recording(recording: Recording) -> str:
    """Write a Recording as YAML; collectors are sorted by name."""
    lines = [
        f"kind: {KIND}",
        f"apiVersion: {API_VERSION}",
        f"digest: {quoted(_digest(recording))}",
        f"host: {quoted(recording.host)}",
        f"os: {quoted(recording.os)}",
        f"arch: {quoted(recording.arch)}",
        f"taken: {quoted(recording.taken)}",
        f"milliseconds: {round(recording.seconds * 1000)}",
        "collectors:" if recording.collectors else "collectors: {}",
    ]
    for name in sorted(recording.collectors):
        output = recording.collectors[name]
        lines += [
            f"  {quoted(name)}:",
            f"    command: {block(output.command, '    ')}",
            f"    status: {output.status}",
            f"    stdout: {block(output.stdout, '    ')}",
            f"    stderr: {block(output.stderr, '    ')}",
        ]
    return "\n".join(lines) + "\n"


def read_recording(text: str, file: str) -> Recording:
    """Read a Recording.

    A recording without `digest` is taken as it is: people cut recordings before they share them. With one, it must fit.

    Raises:
        GpuprovError: as `parse_yaml`; GP-DOC-004, -005, -006; GP-DOC-008 with the place for what is missing.
    """
    root = parse_yaml(text, file, MACHINE_LIMIT)
    top = _mapping(root, "")
    check_head(
        {key: node.text for key in ("kind", "apiVersion") if isinstance(node := top.get(key), Scalar)}, file, KIND
    )
    collectors = _mapping(_member(top, "collectors", ""), "collectors")
    recording = Recording(
        host=_text(top, "host", ""),
        os=_text(top, "os", ""),
        arch=_text(top, "arch", ""),
        taken=_text(top, "taken", ""),
        seconds=_integer(top, "milliseconds", "") / 1000 if top.get("milliseconds") is not None else 0.0,
        collectors={
            entry.key.text: _output(entry.value, f"collectors.{entry.key.text}") for entry in collectors.entries
        },
    )
    written = top.get("digest")
    if written is not None and _text(top, "digest", "") != _digest(recording):
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-006",
                summary="the Recording's digest does not fit its content: it was changed by hand or damaged",
                address="digest",
                detail=f"content: {_digest(recording)}",
                hint="remove the line `digest:` if the recording was cut on purpose",
                span=written.span,
            )
        )
    return recording


def _digest(recording: Recording) -> str:
    body: dict[str, Any] = {
        "host": recording.host,
        "os": recording.os,
        "arch": recording.arch,
        "taken": recording.taken,
        "milliseconds": round(recording.seconds * 1000),
        "collectors": {
            name: [output.command, output.status, output.stdout, output.stderr]
            for name, output in recording.collectors.items()
        },
    }
    return digest({"apiVersion": API_VERSION, "kind": KIND, "body": body})


def _output(node: Node, path: str) -> CollectorOutput:
    fields = _mapping(node, path)
    return CollectorOutput(
        command=_text(fields, "command", path),
        stdout=_text(fields, "stdout", path),
        stderr=_text(fields, "stderr", path),
        status=_integer(fields, "status", path),
    )


def _member(fields: MappingNode, key: str, path: str) -> Node:
    node = fields.get(key)
    if node is None:
        raise _wrong(fields, f"{path}.{key}", "the field is missing")
    return node


def _mapping(node: Node, path: str) -> MappingNode:
    if not isinstance(node, MappingNode):
        raise _wrong(node, path, f"a mapping was expected, {describe_node(node)} was found")
    return node


def _text(fields: MappingNode, key: str, path: str) -> str:
    """Any scalar is taken by its raw text: `os: debian-12` and a date mean what they say."""
    node = _member(fields, key, path)
    if not isinstance(node, Scalar):
        raise _wrong(node, f"{path}.{key}", f"a text was expected, {describe_node(node)} was found")
    return "" if node.is_null else node.text


def _integer(fields: MappingNode, key: str, path: str) -> int:
    node = _member(fields, key, path)
    digits = node.text.removeprefix("-") if isinstance(node, Scalar) else ""
    if not isinstance(node, Scalar) or not (digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS):
        raise _wrong(node, f"{path}.{key}", f"a whole number was expected, {describe_node(node)} was found")
    return int(node.text)


_DIGITS: Final = 15


def _wrong(node: Scalar | MappingNode | SequenceNode, address: str, summary: str) -> GpuprovError:
    return GpuprovError(
        Diagnostic(
            code="GP-DOC-008",
            summary=summary,
            address=address.lstrip("."),
            hint="a recording has host, os, arch, taken, and for each collector command, stdout, stderr and status",
            span=node.span,
        )
    )
