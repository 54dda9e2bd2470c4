"""Sizes of volumes as text, such as `500GiB`, and as a number of GiB."""

import re
from typing import Final

LARGEST_GIB: Final = 65_536
"""Most that a gp3 volume holds (EC2 API reference, CreateVolume: 1 to 65,536 GiB; seen 2026-11-30)."""
_FORM: Final = re.compile(r"([1-9][0-9]{0,5})(GiB|TiB)")


def size_in_gib(text: str) -> int | None:
    """The size in GiB; None for a text of another form."""
    found = _FORM.fullmatch(text)
    return int(found[1]) * (1024 if found[2] == "TiB" else 1) if found else None


def refuse_size(text: str) -> str:
    """Say what is wrong with the text of a size; empty for a good one."""
    size = size_in_gib(text)
    if size is None:
        return f"{text} is no size in GiB or TiB"
    return "" if size <= LARGEST_GIB else f"{text} is more than a gp3 volume holds ({LARGEST_GIB // 1024}TiB)"
