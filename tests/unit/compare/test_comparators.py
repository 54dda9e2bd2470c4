from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.compare.comparators import COMPARATORS, SYMMETRIC
from gpuprov.model.facets import FACETS

FILE = next(p for p in Path(__file__).parents if p.name == "tests") / "cases" / "compare" / "comparators.yaml"
ROWS = [(name, *row) for name, rows in yaml.safe_load(FILE.read_text()).items() for row in rows]


@pytest.mark.parametrize(("name", "expected", "observed", "same"), ROWS)
def test_comparator(name: str, expected: Any, observed: Any, *, same: bool | None) -> None:
    assert COMPARATORS[name](expected, observed) is same


def test_every_comparator_of_the_facet_table_is_there_and_has_cases() -> None:
    assert {facet.comparator for facet in FACETS} <= set(COMPARATORS)
    assert {row[0] for row in ROWS} == set(COMPARATORS)
    assert {row[3] for row in ROWS} == {True, False, None}


def test_what_compares_two_hosts_has_no_sides() -> None:
    for name, other in SYMMETRIC.items():
        assert name in COMPARATORS
        assert other not in SYMMETRIC
    for name, expected, observed, _ in ROWS:
        plain = COMPARATORS[SYMMETRIC.get(name, name)]
        assert plain(expected, observed) is plain(observed, expected)
