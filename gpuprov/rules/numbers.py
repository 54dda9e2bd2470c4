"""Releases such as 13.0 or 6.8 as numbers, so that 12.10 comes after 12.9."""

import re


def numbers(text: str) -> tuple[int, ...]:
    """The leading numbers of a release: `13.0` gives (13, 0), `6.8.0-60-generic` gives (6, 8, 0)."""
    found = re.match(r"[0-9]+(\.[0-9]+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
