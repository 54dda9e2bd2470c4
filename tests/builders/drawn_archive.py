"""Small archives full of alternatives, conflicts, provides and versions, drawn from a seed: harder than real ones."""

import random
from dataclasses import dataclass

from stanza_rows import Row, prefixed

NAMES = "abcdefgh"
VIRTUAL = "vw"
_BOUNDS = ("", "", "", "", " (>= 2)", " (<< 2)", " (= 1)")
_PRIORITIES = ("optional", "optional", "optional", "optional", "important", "required", "extra")
_FIELDS = {
    "depends": (0.6, 3, 2),
    "pre_depends": (0.1, 1, 2),
    "recommends": (0.2, 1, 1),
    "suggests": (0.2, 1, 1),
    "conflicts": (0.06, 1, 1),
}
"""For each field how often it is there, and up to how many groups and alternatives it has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnArchive:
    """Many small archives in one: each request finds only the names with its own prefix."""

    requests: tuple[tuple[str, ...], ...]
    rows: tuple[Row, ...]


def draw_archive(seed: int, count: int) -> DrawnArchive:
    """Draw `count` small archives with a request for each."""
    source = random.Random(seed)  # noqa: S311 - a test's draw
    requests, rows = [], []
    for number in range(count):
        prefix = f"c{number}-"
        for name in source.sample(NAMES, len(NAMES)):
            for version in source.choice((("1",), ("2",), ("1", "2"))):
                rows += [prefixed(prefix, _row(source, name, version))]
        requests.append(tuple(prefix + name for name in source.sample(NAMES, source.randint(1, 3))))
    return DrawnArchive(requests=tuple(requests), rows=tuple(rows))


def _row(source: random.Random, name: str, version: str) -> Row:
    row = {"is": f"{name} {version}", "priority": source.choice(_PRIORITIES)}
    for field, (often, groups, alternatives) in _FIELDS.items():
        if source.random() < often:
            drawn = [_group(source, alternatives) for _ in range(source.randint(1, groups))]
            row[field] = ", ".join(drawn)
    if source.random() < 0.3:
        row["provides"] = source.choice((*VIRTUAL, f"{VIRTUAL[0]} (= 2)", source.choice(NAMES)))
    return row


def _group(source: random.Random, alternatives: int) -> str:
    names = [source.choice(NAMES + VIRTUAL) + source.choice(_BOUNDS) for _ in range(source.randint(1, alternatives))]
    return " | ".join(names)
