"""HTML, piece by piece: escaping, tables, and the frame of a page that needs nothing but itself."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from typing import Final

from gpuprov.render.observation import printable

_FOLDER: Final = resources.files("gpuprov.render.reports")


def text(value: str) -> str:
    """A text as HTML."""
    return escape(printable(value))


def code(value: str) -> str:
    """A text as code."""
    return f"<code>{text(value)}</code>"


def table(head: Sequence[str], rows: Iterable[str], *, name: str = "") -> str:
    """A table that scrolls by itself where it is too wide; rows are HTML already."""
    heads = "".join(f'<th scope="col">{text(title)}</th>' for title in head)
    named = f' id="{name}"' if name else ""
    body = "\n".join(rows)
    return f'<div class="wide"><table{named}><thead><tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def cells(*values: str) -> str:
    """The cells of a row; they are HTML already."""
    return "".join(f"<td>{value}</td>" for value in values)


def section(title: str, body: str) -> str:
    """A part of the page."""
    return f"<section><h2>{text(title)}</h2>\n{body}\n</section>"


def page(title: str, body: str) -> str:
    """The whole page: style and script stand in it, and its policy lets it load and run nothing else."""
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}; form-action 'none'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{text(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
