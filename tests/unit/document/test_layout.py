"""JSON layout: the value is kept, and one changed row changes one line."""

import json

from hypothesis import given
from hypothesis import strategies as st

from gpuprov.document.layout import json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_layout_keeps_the_value_and_the_order_of_keys(value: object) -> None:
    text = json_text(value)
    assert json.dumps(json.loads(text)) == json.dumps(value)
    assert text.endswith("\n")


def test_rows_stand_on_one_line_each() -> None:
    row = {"name": "nvidia-driver-cuda", "version": "580.95.05-1", "sha256": "0" * 64, "components": ["main"]}
    text = json_text({"head": "x", "rows": [row, {**row, "name": "b"}], "empty": []})
    assert text.splitlines() == [
        "{",
        '  "head": "x",',
        '  "rows": [',
        "    " + json.dumps(row) + ",",
        "    " + json.dumps({**row, "name": "b"}),
        "  ],",
        '  "empty": []',
        "}",
    ]
