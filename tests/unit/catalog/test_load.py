"""Reading catalog files: unverified values are unknown, and a row that does not fit is refused by its address."""

import json
import time
from typing import Any

import pytest

from gpuprov.catalog.load import FILES, cite, read_table, rows, table
from gpuprov.catalog.rows import GpuRow, RepositoryRow
from gpuprov.model.diagnostic import GpuprovError

GOOD: dict[str, Any] = {
    "as_of": "2026-11-30",
    "sources": {"s": {"title": "T", "url": "https://example.org", "as_of": "2026-11"}},
    "rows": [
        {
            "id": "A",
            "nvml_names": ["NVIDIA A"],
            "pci_ids": ["1234"],
            "architecture": "ada",
            "fabric": "none",
            "min_driver": "525.60",
            "sources": ["s"],
        }
    ],
}


def read(**row: Any) -> GpuRow:
    value = {**GOOD, "rows": [{**GOOD["rows"][0], **row}]}
    found = read_table(json.dumps(value), "gpus.json", GpuRow).rows[0]
    assert isinstance(found, GpuRow)
    return found


def test_a_row_is_read() -> None:
    row = read()
    assert (row.id, row.fabric, row.min_driver, row.unverified) == ("A", "none", "525.60", ())
    assert row.knows("fabric")


def test_what_is_unverified_is_unknown_whatever_stands_there() -> None:
    row = read(unverified=["fabric", "nvml_names"])
    assert row.fabric is None
    assert row.nvml_names == ()
    assert not row.knows("fabric")


@pytest.mark.parametrize(
    ("row", "address"),
    [
        ({"colour": "red"}, "rows[0].colour"),
        ({"fabric": 3}, "rows[0].fabric"),
        ({"pci_ids": "1234"}, "rows[0].pci_ids"),
        ({"architecture": None}, "rows[0].architecture"),
        ({"sources": []}, "rows[0].sources"),
        ({"sources": ["t"]}, "rows[0].sources"),
        ({"unverified": ["colour"]}, "rows[0].unverified"),
    ],
)
def test_a_wrong_row_is_refused(row: dict[str, Any], address: str) -> None:
    with pytest.raises(GpuprovError) as caught:
        read(**row)
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-CAT-001", address)]


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({**GOOD, "rows": GOOD["rows"] * 2})])
def test_a_wrong_file_is_refused(text: str) -> None:
    with pytest.raises(GpuprovError) as caught:
        read_table(text, "gpus.json", GpuRow)
    assert [d.code for d in caught.value.diagnostics] == ["GP-CAT-001"]


def test_cite_names_title_and_date() -> None:
    row = next(r for r in rows(RepositoryRow) if r.id == "debian13")
    assert "2026-08-17" in cite(row)


def test_cite_names_what_speaks_of_the_field() -> None:
    row = next(r for r in rows(GpuRow) if r.id == "B200")
    assert cite(row, "datacenter").startswith("CUDA Compatibility: Forward Compatibility")
    assert cite(row, "min_driver") != cite(row, "pci_ids")
    assert len(cite(row)) > len(cite(row, "pci_ids"))


def test_the_whole_catalog_is_read_in_little_time() -> None:
    table.cache_clear()
    start = time.process_time()
    for name in FILES:
        table(name)
    assert time.process_time() - start < 0.06
