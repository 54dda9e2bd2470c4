"""Reading fields out of a body: the value, or a refusal that names the address."""

from collections.abc import Callable
from typing import Any

import pytest

from gpuprov.document.shape import Fields
from gpuprov.model.diagnostic import GpuprovError

BODY: dict[str, Any] = {
    "t": "x",
    "i": 3,
    "b": True,
    "ts": ["a", "b"],
    "rows": [{"n": 1}],
    "table": {"k": {"n": 2}},
    "f": {"n": 4},
    "z": None,
}


def test_values() -> None:
    fields = Fields(BODY, "f.json")
    assert (fields.text("t"), fields.integer("i"), fields.flag("b")) == ("x", 3, True)
    assert fields.texts("ts") == ("a", "b")
    assert [row.integer("n") for row in fields.rows("rows")] == [1]
    assert fields.table("table")["k"].integer("n") == 2
    assert fields.fields("f").integer("n") == 4
    assert fields.raw("z") is None
    assert (fields.has("z"), fields.has("y")) == (True, False)


@pytest.mark.parametrize(
    ("read", "address"),
    [
        (lambda f: f.text("y"), "y"),
        (lambda f: f.text("i"), "i"),
        (lambda f: f.integer("b"), "b"),
        (lambda f: f.flag("i"), "i"),
        (lambda f: f.texts("rows"), "rows[0]"),
        (lambda f: f.rows("ts"), "ts[0]"),
        (lambda f: f.rows("rows")[0].text("n"), "rows[0].n"),
        (lambda f: f.table("f"), "f.n"),
        (lambda f: f.table("table")["k"].text("n"), "table.k.n"),
        (lambda f: f.fields("z"), "z"),
        (lambda f: f.refuse("t", "no"), "t"),
    ],
)
def test_refusals(read: Callable[[Fields], Any], address: str) -> None:
    with pytest.raises(GpuprovError) as caught:
        read(Fields(BODY, "f.json"))
    (found,) = caught.value.diagnostics
    assert (found.code, found.address) == ("GP-DOC-008", address)
    assert found.span is not None
    assert found.span.file == "f.json"
