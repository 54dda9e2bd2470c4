"""What stands between values and is not seen: a tab makes columns lie, a byte order mark only some readers skip."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

_UNSEEN: Final = ("\t", "\ufeff")


def find_unseen(lines: list[str], scalars: list[tuple[int, int, int, int]]) -> Iterator[tuple[int, int, str]]:
    """Find the first tab or byte order mark of each line that is in no scalar and in no comment.

    Args:
        lines: the text's lines.
        scalars: for each scalar its first line and column and its end line and column (exclusive), from 0.

    Yields:
        Line and column, from 1, and the character.
    """
    ranges = sorted(((a, b), (c, d)) for a, b, c, d in scalars)
    starts = [start for start, _ in ranges]

    def inside(place: tuple[int, int]) -> bool:
        index = bisect_right(starts, place) - 1
        return index >= 0 and place < ranges[index][1]

    for number, line in enumerate(lines):
        if not any(mark in line for mark in _UNSEEN):
            continue
        for column, character in enumerate(line):
            if character == "#" and not inside((number, column)):
                break
            if character in _UNSEEN and not inside((number, column)):
                yield number + 1, column + 1, character
                break
