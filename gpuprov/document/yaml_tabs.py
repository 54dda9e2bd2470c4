"""Tabs outside of values: legal YAML in places, but they make columns and indentation lie."""

from bisect import bisect_right


def find_tab(lines: list[str], scalars: list[tuple[int, int, int, int]]) -> tuple[int, int] | None:
    """Find the first tab that is in no scalar and in no comment.

    Args:
        lines: the text's lines.
        scalars: for each scalar its first line and column and its end line and column (exclusive), from 0.

    Returns:
        Line and column, from 1; None where there is none.
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
                return number + 1, column + 1
    return None
