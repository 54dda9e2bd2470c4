"""Canonical JSON: one text for equal values, and no text for what has several."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.document.canonical import canonical_json, digest
from gpuprov.model.diagnostic import GpuprovError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_text_holds_the_value(value: object) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=5))
def test_order_of_keys_does_not_count(value: dict[str, int]) -> None:
    assert digest(value) == digest(dict(reversed(list(value.items()))))


@pytest.mark.parametrize(
    "pair", [({"a": 1}, {"a": "1"}), ({"a": True}, {"a": 1}), ([1, 2], [2, 1]), ("", None)], ids=repr
)
def test_other_values_have_other_digests(pair: tuple[object, object]) -> None:
    assert digest(pair[0]) != digest(pair[1])


def test_the_digest_of_a_known_value_never_changes() -> None:
    # printf '{"a":[1,null],"b":"ü"}' | sha256sum
    assert digest({"b": "ü", "a": (1, None)}) == (
        "sha256:99d384bcceb172977f6eaf4ef3a0327d9228fb58de31d042ba9c21853129253a"
    )


@pytest.mark.parametrize(
    "value",
    [1.5, {"a": [float("nan")]}, {1: "a"}, b"x", {"a": {"b": object()}}],
    ids=["float", "nan", "number as key", "bytes", "object"],  # the same in every process: pytest-xdist compares them
)
def test_values_without_one_text_are_refused(value: object) -> None:
    with pytest.raises(GpuprovError) as caught:
        canonical_json(value)
    assert caught.value.diagnostics[0].code == "GP-INT-001"
