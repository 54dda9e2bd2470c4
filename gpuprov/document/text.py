"""From the bytes of a file to text: size, encoding and byte order mark are checked before anything is parsed."""

import re
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span

SPEC_LIMIT: Final = 1 << 20
"""Most bytes of a spec: 1 MiB."""
MACHINE_LIMIT: Final = 64 << 20
"""Most bytes of a document that gpuprov wrote: 64 MiB."""

# The line breaks of YAML 1.1, so that line numbers agree with the parser's.
_BREAK: Final = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_OTHER: Final = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x1f\x8b": "compressed (gzip)"}


def decode_text(data: bytes, file: str, limit: int = SPEC_LIMIT) -> str:
    """Decode a file's bytes as UTF-8.

    Args:
        data: the whole file.
        file: its name, for the error.
        limit: most bytes allowed.

    Raises:
        GpuprovError: GP-DOC-003 for a byte order mark or too many bytes, GP-DOC-002 for bytes that are no UTF-8.
    """
    check_size(len(data), file, limit)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        lines = split_lines(before)
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-002",
                summary=f"the file is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}",
                detail="gpuprov's documents are UTF-8 text.",
                hint=f"save the file as UTF-8; it is {_OTHER.get(data[:2], 'in another encoding')} now",
                span=Span(file=file, line=len(lines), column=len(lines[-1]) + 1),
            )
        ) from error
    check_mark(text, file)
    return text


def check_size(size: int, file: str, limit: int) -> None:
    """Refuse more than `limit` bytes (GP-DOC-003)."""
    if size > limit:
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-003",
                summary=f"the file has more than the {limit} bytes that are read",
                hint="check that this is the right file",
                span=Span(file=file, line=1, column=1),
            )
        )


def check_mark(text: str, file: str) -> None:
    """Refuse a byte order mark (GP-DOC-003)."""
    if text.startswith("\ufeff"):
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-003",
                summary="the file starts with a byte order mark",
                hint="save the file as UTF-8 without a byte order mark",
                span=Span(file=file, line=1, column=1),
            )
        )


def split_lines(text: str) -> list[str]:
    """Split text at YAML's line breaks; the last element is what follows the last break."""
    return _BREAK.split(text)


def span_at(lines: list[str], file: str, line: int, column: int, end_column: int | None = None) -> Span:
    """A Span with its source line; line and column count from 1 and may lie after the end of the text."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return Span(file=file, line=line, column=column, end_column=end_column, text=text)
