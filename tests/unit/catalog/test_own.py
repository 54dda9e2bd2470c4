"""A user's own rows: what they override, and what is refused at which line."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprov.catalog.load import FILES, PACKAGED, cite
from gpuprov.catalog.own import read_own
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "catalog" / "own.yaml").read_text())["cases"]
GOOD = [case for case in CASES if "rows" in case]
WRONG = [case for case in CASES if "found" in case]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case["id"])
def test_own_rows_count_before_the_packaged_ones(case: dict[str, Any]) -> None:
    own = read_own(case["files"])
    for table, rows in case["rows"].items():
        found = {row.id: row for row in own.catalog.table(table).rows}
        for name, fields in rows.items():
            told = {key: getattr(found[name], key) for key in fields}
            assert {k: list(v) if isinstance(v, tuple) else v for k, v in told.items()} == fields
    for word in case["note"]:
        assert any(word in f"{note.summary}\n{note.detail}" for note in own.notes), word
    untouched = set(FILES) - set(case["rows"])
    assert all(own.catalog.table(name) is PACKAGED.table(name) for name in untouched)


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case["id"])
def test_wrong_rows_are_refused_at_their_place(case: dict[str, Any]) -> None:
    with pytest.raises(GpuprovError) as caught:
        read_own(case["files"])
    found = caught.value.diagnostics
    assert [[d.code, d.address, d.span.file if d.span else None, d.span.line if d.span else None] for d in found] == (
        case["found"]
    )
    for word in case.get("words", []):
        assert word in f"{found[0].summary} {found[0].hint}"


def test_what_an_own_row_writes_has_its_own_source_and_the_rest_the_packaged_ones() -> None:
    own = read_own(GOOD[1]["files"])
    row = next(row for row in own.catalog.table("gpus").rows if row.id == "H100-SXM5-80GB")
    assert cite(row, "min_driver", own.catalog) == "our data sheet, 2026-10-05"
    assert "our data sheet" not in cite(row, "pci_ids", own.catalog)
    assert cite(row, "", own.catalog).startswith("our data sheet, 2026-10-05; ")


TEXTS = sorted({(name, text) for case in GOOD for name, text in case["files"].items()})


@settings(deadline=None)
@given(
    file=st.sampled_from(TEXTS),
    at=st.integers(0, 400),
    end=st.integers(0, 40),
    put=st.text("{}[]:,\"'- \n\tsx0&*!~#|>%@", max_size=6),
)
def test_no_text_makes_the_reader_raise_anything_else(file: tuple[str, str], at: int, end: int, put: str) -> None:
    name, text = file
    found: tuple[Diagnostic, ...] = ()
    try:
        found = read_own({name: text[:at] + put + text[at + end :]}).notes
    except GpuprovError as error:
        found = error.diagnostics
    assert found
    assert all(d.span is not None for d in found)
