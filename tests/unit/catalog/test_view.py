"""The catalog as it is looked at: tables and rows by any of their names, and what backs a field."""

import pytest

from gpuprov.catalog.load import FILES, PACKAGED, speaking
from gpuprov.catalog.own import read_own
from gpuprov.catalog.view import counts, known_fields, show, sources_of
from gpuprov.model.diagnostic import GpuprovError

ROWS = {
    "gpus.yaml": """
sources: {card: {title: our data sheet, url: "https://example.org", as_of: "2026-10"}}
rows: [{id: T4, min_driver: "418.40.04", sources: [card]}]
"""
}


def test_every_table_is_counted() -> None:
    found = {table.name: table for table in counts(PACKAGED)}
    assert set(found) == set(FILES)
    assert all(table.rows and table.about for table in found.values())
    assert not any(table.own for table in found.values())
    own = {table.name: table for table in counts(read_own(ROWS).catalog)}
    assert (own["gpus"].own, own["gpus"].rows) == (1, found["gpus"].rows)
    assert own["gpus"].unknown == found["gpus"].unknown - 1


@pytest.mark.parametrize(
    ("kind", "name", "ids"),
    [
        ("gpus", "T4", ["T4"]),
        ("gpu", "t4", ["T4"]),
        ("gpus", "1eb8", ["T4"]),
        ("gpus", "Tesla T4", ["T4"]),
        ("toolkits", "13.0", ["13.0.0", "13.0.1", "13.0.2", "13.0.3"]),
        ("xid", "79", ["79"]),
        ("systems", "bookworm", ["debian-12"]),
        ("container_toolkits", "1.20.0", ["1.20.0"]),
    ],
)
def test_a_row_is_found_by_any_of_its_names(kind: str, name: str, ids: list[str]) -> None:
    assert [row.id for row in show(PACKAGED, kind, name).rows] == ids


@pytest.mark.parametrize(
    ("kind", "name", "word"),
    [
        ("gpsu", "", "did you mean gpus?"),
        ("co", "", "companions, components, container_toolkits"),
        ("gpus", "H100-SXM5-80G", "did you mean H100-SXM5-80GB"),
        ("gpus", "zzzzzz", "`gpuprov catalog show gpus`"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(kind: str, name: str, word: str) -> None:
    with pytest.raises(GpuprovError) as caught:
        show(PACKAGED, kind, name)
    (found,) = caught.value.diagnostics
    assert found.code == "GP-CAT-004"
    assert word in f"{found.detail} {found.hint}"


def test_a_field_is_shown_with_whether_and_by_whom_it_is_backed() -> None:
    shown = show(PACKAGED, "gpus", "T4")
    assert shown.table is not None
    known = {name: knows for name, _, knows in known_fields(shown.rows[0])}
    assert not known["min_driver"]
    assert known["fabric"]
    assert speaking(shown.rows[0], "pci_ids", shown.table) == ("pciids", "okm")
    assert speaking(shown.rows[0], "power_w", shown.table) == ()
    assert [key for key, _ in sources_of(shown.rows[0], shown.table)][:2] == ["pciids", "hmc"]
    own = show(read_own(ROWS).catalog, "gpus", "T4")
    assert own.table is not None
    assert speaking(own.rows[0], "min_driver", own.table) == ("own/card",)
    assert speaking(own.rows[0], "pci_ids", own.table) == ("pciids", "okm")
