"""The recorded output forms (tests/cases/forms), as patterns that real output must fit."""

import re
from pathlib import Path

import yaml

_FOLDER = Path(__file__).resolve().parent.parent / "cases" / "forms"
_PLACE = re.compile(r"\{\w+(?::>?\d+)?\}")


def form(file: str, identity: str) -> str:
    """The text of one form."""
    rows = yaml.safe_load((_FOLDER / f"{file}.yaml").read_text(encoding="utf-8"))["forms"]
    return next(str(row["text"]) for row in rows if row["id"] == identity)


def pattern(text: str) -> re.Pattern[str]:
    """A pattern in which each placeholder stands for any text within its line."""
    fixed = [re.escape(part) for part in _PLACE.split(text)]
    return re.compile("[^\n]*?".join(fixed))
