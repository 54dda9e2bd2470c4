"""Tabs outside of values: legal YAML in places, but they make columns and indentation lie."""

from bisect import bisect_right
from collections.abc import Iterator


def find_tabs(lines: list[str], scalars: list[tuple[int, int, int, int]]) -> Iterator[tuple[int, int]]:
    """Find the first tab of each line that is in no scalar and in no comment.

    Args:
        lines: the text's lines.
        scalars: for each scalar its first line and column and its end line and column (exclusive), from 0.

    Yields:
        Line and column, from 1.
    """
    ranges = sorted(((a, b), (c, d)) for a, b, c, d in scalars)
    starts = [start for start, _ in ranges]

    def inside(place: tuple[int, int]) -> bool:
        index = bisect_right(starts, place) - 1
        return index >= 0 and place < ranges[index][1]

    for number, line in enumerate(lines):
        if "\t" not in line:
            continue
        for column, character in enumerate(line):
            if character == "#" and not inside((number, column)):
                break
            if character == "\t" and not inside((number, column)):
                yield number + 1, column + 1
                break
