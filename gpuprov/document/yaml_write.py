"""Writing text values as YAML that people can read: block scalars where they are exact, quoted text elsewhere."""

import re
from typing import Final

# Characters that YAML allows raw in a block scalar; a carriage return or a Unicode line break would be folded into \n.
_RAW: Final = re.compile(
    "[\\t\\n\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd\\U00010000-\\U0010ffff]*\\Z"
)
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_PLAIN: Final = re.compile(r"[ -~\xa1-\xff]*\Z")


def quoted(text: str) -> str:
    """A text as a double-quoted scalar; what cannot stand raw is escaped."""
    return '"' + "".join(_escape(character) for character in text) + '"'


def block(text: str, indent: str) -> str:
    """A text as a scalar after `key: `: a block of indented lines, or quoted where a block would not be exact.

    Args:
        text: any text without lone surrogates.
        indent: the indentation of the key; the lines get two spaces more.
    """
    if "\n" not in text or not text.strip() or _RAW.match(text) is None:
        return quoted(text)
    ending = len(text) - len(text.rstrip("\n"))
    chomp = {0: "-", 1: ""}.get(ending, "+")
    # A first line that starts with white space would be taken for the indentation.
    indicator = "2" if text[0] in " \t\n" else ""
    lines = text[: len(text) - 1 if ending else len(text)].split("\n")
    return f"|{indicator}{chomp}\n" + "\n".join(f"{indent}  {line}" if line else "" for line in lines)


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if _PLAIN.match(character) or (ord(character) > 0xFF and _RAW.match(character)):  # noqa: PLR2004 - Latin-1's end
        return character
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 - two hexadecimal digits
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four digits
