"""Versions as rpm orders them: epoch, version, release (rpm-version(7), rpm 4.18; read 2026-11-30).

Letters and digits are compared in runs, and what stands between runs does not count: `2_0` equals `2.0`. This is the
order of `Family.RPM`; no source of that family is read yet.
"""

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import Final

RpmKey = tuple[int, tuple[tuple[int, int, str], ...], tuple[tuple[int, int, str], ...]]

_FORM: Final = re.compile(r"(?:([0-9]+):)?([A-Za-z0-9._+~^]+)(?:-([A-Za-z0-9._+~^]+))?")
_RUNS: Final = re.compile(r"[0-9]+|[A-Za-z]+|~|\^")
# Before the end of a text comes `~`, after it `^`, then letters, then numbers.
_TILDE, _END, _CARET, _LETTERS, _NUMBER = range(5)


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class RpmVersion:
    """An rpm version, `[epoch:]version[-release]`; equal means equal in order, the text may differ.

    Args:
        text: as rpm writes it; ValueError when it is none.
    """

    text: str

    def __post_init__(self) -> None:
        rpm_key(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RpmVersion) and rpm_key(self.text) == rpm_key(other.text)

    def __lt__(self, other: "RpmVersion") -> bool:
        return rpm_key(self.text) < rpm_key(other.text)

    def __hash__(self) -> int:
        return hash(rpm_key(self.text))

    def __str__(self) -> str:
        return self.text


def rpm_key(text: str) -> RpmKey:
    """Give the key that orders versions as rpm does; raises ValueError for text that is no version."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(
            f"'{text}' is no rpm version: expected [epoch:]version[-release] of ASCII letters, digits and . _ + ~ ^"
        )
    epoch, version, release = found.groups()
    return int(epoch or 0), _order(version), _order(release or "")


def _order(part: str) -> tuple[tuple[int, int, str], ...]:
    return (*map(_run, _RUNS.findall(part)), (_END, 0, ""))


def _run(text: str) -> tuple[int, int, str]:
    if text[0].isdigit():
        return _NUMBER, int(text), ""
    if text[0].isalpha():
        return _LETTERS, 0, text
    return (_TILDE if text == "~" else _CARET), 0, ""
