"""The envelope of the documents that machines write: kind, apiVersion, and a digest over the content."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuprov.document.canonical import digest
from gpuprov.document.layout import json_text
from gpuprov.document.text import MACHINE_LIMIT, check_mark, check_size, span_at, split_lines
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span

API_VERSION: Final = "gpuprov/v1"
"""The only apiVersion that this release reads and writes, in documents of people and of machines."""

KINDS: Final = ("Lock", "Snapshot", "Recording", "Plan", "Report", "Journal", "Images", "HostKeys", "ExistingHosts")
"""What machines write."""

_OTHER: Final = re.compile(r"gpuprov/v[0-9]+[a-z0-9]*")
"""An apiVersion that another release may know."""
_KIND: Final = re.compile(r"""^[{\s]*["']?kind["']?\s*:\s*["']?(?P<kind>\w+)""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Envelope:
    """The head of a document, as it was read."""

    kind: str
    digest: str
    body: Mapping[str, Any]


def document_digest(kind: str, body: Mapping[str, Any]) -> str:
    """The digest of a document: over kind, apiVersion and body, so that none of them can be exchanged."""
    return digest({"apiVersion": API_VERSION, "body": body, "kind": kind})


def seal(kind: str, body: Mapping[str, Any], *, compact: bool = False) -> str:
    """Write a document.

    Args:
        kind: one of KINDS.
        body: plain values (see `canonical_json`); their order is kept in the text and does not count in the digest.
        compact: on one line, for what only programs read.
    """
    if kind not in KINDS:
        raise GpuprovError(Diagnostic(code="GP-INT-001", summary=f"no document has the kind {kind}"))
    head = {"kind": kind, "apiVersion": API_VERSION, "digest": document_digest(kind, body)}
    whole = {**head, "body": body}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n" if compact else json_text(whole)


def open_document(text: str, file: str, kind: str) -> Mapping[str, Any]:
    """Read a document of one kind and give its body.

    Raises:
        GpuprovError: GP-DOC-002 (no JSON), GP-DOC-004 (another kind), GP-DOC-005 (another apiVersion),
            GP-DOC-006 (the digest does not fit: somebody edited it), GP-DOC-008 (no body).
    """
    return read_envelope(text, file, kind).body


def read_envelope(text: str, file: str, kind: str) -> Envelope:
    """Read a document of one kind with its head; errors as `open_document`."""
    check_size(len(text), file, MACHINE_LIMIT)
    check_mark(text, file)
    value = _parse(text, file)
    check_head(value, file, kind)
    body = value.get("body")
    if not isinstance(body, dict):
        raise GpuprovError(
            Diagnostic(code="GP-DOC-008", summary=f"the {kind} has no body", address="body", span=_whole(file))
        )
    found, expected = value.get("digest"), document_digest(kind, body)
    if found != expected:
        raise GpuprovError(_edited(kind, str(found), expected, _place(text, file, '"digest"')))
    return Envelope(kind=kind, digest=expected, body=body)


def check_head(head: Mapping[str, Any], file: str, kind: str) -> None:
    """Refuse another kind (GP-DOC-004) or an apiVersion that this release does not know (GP-DOC-005).

    Args:
        head: the top of any document; values of other types than text are refused as unknown.
        file: its name.
        kind: the kind that is asked for.
    """
    found = head.get("kind")
    if found != kind:
        what = f"a {found}" if isinstance(found, str) else "no document of gpuprov"
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-004",
                summary=f"the file holds {what}, not a {kind}",
                address="kind",
                hint=f"give a file that holds a {kind}",
                span=_whole(file),
            )
        )
    version = head.get("apiVersion")
    if version != API_VERSION:
        raise GpuprovError(unknown_version(str(version) if version is not None else "", _whole(file)))


def unknown_version(found: str, span: Span) -> Diagnostic:
    """The diagnostic for an apiVersion that this release does not know."""
    return Diagnostic(
        code="GP-DOC-005",
        summary=f"the apiVersion is {found}, which this release does not know"
        if found
        else "the apiVersion is missing",
        address="apiVersion",
        detail=f"This release reads {API_VERSION}.",
        hint="use the release of gpuprov that the file was written for"
        if _OTHER.fullmatch(found)
        else f"write `apiVersion: {API_VERSION}`",
        span=span,
    )


def peek_kind(text: str) -> str | None:
    """The kind that a text claims in its first lines, JSON or YAML; None when it claims none (such as a spec)."""
    found = _KIND.search("\n".join(split_lines(text[:4096])[:8]))
    return found["kind"] if found else None


def parse_machine_json(text: str) -> Any:
    """Parse JSON that gpuprov wrote: no float, no NaN, no key twice; ValueError or RecursionError for anything else."""
    return json.loads(text, parse_constant=_refuse, parse_float=_refuse, object_pairs_hook=_object)


def _parse(text: str, file: str) -> dict[str, Any]:
    try:
        value = parse_machine_json(text)
    except json.JSONDecodeError as error:
        lines = split_lines(text)
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-002",
                summary=f"the text is not JSON: {error.msg}",
                hint="machines write this file; take it from version control or make it again",
                span=span_at(lines, file, error.lineno, error.colno),
            )
        ) from error
    except (RecursionError, ValueError) as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-002", summary=f"the text is not JSON that gpuprov wrote: {error}", span=_whole(file)
            )
        ) from error
    if not isinstance(value, dict):
        raise GpuprovError(
            Diagnostic(code="GP-DOC-004", summary="the file holds no document of gpuprov", span=_whole(file))
        )
    return value


def _refuse(written: str) -> None:
    raise ValueError(f"{written} is no value of a document")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key occurs twice")
    return value


def _edited(kind: str, found: str, expected: str, span: Span) -> Diagnostic:
    return Diagnostic(
        code="GP-DOC-006",
        summary=f"the {kind}'s digest does not fit its content: it was changed by hand or damaged",
        address="digest",
        detail=f"written: {found}\ncontent: {expected}",
        hint="restore the file from version control, or make it again",
        span=span,
    )


def _whole(file: str) -> Span:
    return Span(file=file, line=1, column=1)


def _place(text: str, file: str, word: str) -> Span:
    offset = max(text.find(word), 0)
    before = split_lines(text[:offset])
    return span_at(split_lines(text[: offset + 200]), file, len(before), len(before[-1]) + 1)
