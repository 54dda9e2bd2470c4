"""A spec that names a folder of own rows is read with them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.spec.decode import load

BASE = yaml.safe_load((Path(__file__).parents[2] / "cases" / "spec" / "refused.yaml").read_text())["base"]
ROWS = """
sources: {card: {title: our data sheet, url: "https://example.org", as_of: "2026-10"}}
rows:
  - {id: X9, architecture: hopper, fabric: none, min_driver: "525.60.13", nvml_names: [X],
     pci_ids: [ffff], sources: [card]}
"""


def test_a_gpu_of_an_own_row_is_known() -> None:
    text = BASE.replace("H100-SXM5-80GB", "X9")
    spec, found = load(text, "gpuprov.yaml")
    assert spec is None
    assert [d.code for d in found] == ["GP-CAT-002"]
    spec, found = load(f"{text}catalog: rows\n", "gpuprov.yaml", lambda name: {f"{name}/gpus.yaml": ROWS})
    assert spec is not None
    assert [(d.code, d.severity) for d in found] == [("GP-CAT-003", Severity.NOTE)]


def test_own_rows_do_not_move_the_digest_of_the_spec() -> None:
    plain, _ = load(BASE, "gpuprov.yaml")
    own, _ = load(f"{BASE}catalog: rows\n", "gpuprov.yaml", lambda _: {"gpus.yaml": ROWS})
    assert plain is not None
    assert own is not None
    assert plain.digest == own.digest


def test_an_empty_folder_is_told() -> None:
    spec, found = load(f"{BASE}catalog: rows\n", "gpuprov.yaml", lambda _: {})
    assert spec is not None
    assert [(d.code, d.severity, d.span.line if d.span else 0) for d in found] == [
        ("GP-CAT-003", Severity.WARNING, len(BASE.splitlines()) + 1)
    ]


def test_a_folder_that_cannot_be_read_is_told_at_its_name() -> None:
    def missing(name: str) -> Mapping[str, str]:
        raise GpuprovError(Diagnostic(code="GP-DOC-001", summary=f"no {name}", address="catalog"))

    spec, found = load(f"{BASE}catalog: rows\n", "gpuprov.yaml", missing)
    assert spec is None
    assert [(d.code, d.span.column if d.span else 0) for d in found] == [("GP-DOC-001", 10)]


def test_wrong_rows_are_told_beside_what_is_wrong_with_the_spec() -> None:
    text = f"{BASE}catalog: rows\nsurprise: 1\n"
    spec, found = load(text, "gpuprov.yaml", lambda _: {"gpus.yaml": "rows: []\n"})
    assert spec is None
    assert [d.code for d in found] == ["GP-CAT-001", "GP-SPEC-001"]


@pytest.mark.parametrize("written", ["catalog: null", "catalog:", "# catalog: rows"])
def test_no_folder_is_asked_for_where_none_is_named(written: str) -> None:
    spec, found = load(f"{BASE}{written}\n", "gpuprov.yaml")
    assert spec is not None
    assert found == ()
