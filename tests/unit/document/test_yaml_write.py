"""Scalars as they are written: blocks where they are exact, quotes elsewhere; YAML reads the same text again."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.document.yaml_write import block, quoted

TEXT = st.text(st.characters(blacklist_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", '""'),
        ("one", '"one"'),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\nb", "|-\n  a\n  b"),
        ("a\n\n", "|+\n  a\n"),
        (" a\nb\n", "|2\n   a\n  b"),
        ("\tx\ny", "|2-\n  \tx\n  y"),
        ("a\r\nb\n", '"a\\r\\nb\\n"'),
        ("\x1b[0m\n", '"\\x1b[0m\\n"'),
        (" \n", '" \\n"'),
    ],
)
def test_block(text: str, written: str) -> None:
    assert block(text, "") == written


@given(TEXT)
def test_yaml_reads_a_block_again(text: str) -> None:
    assert yaml.safe_load(f"a:\n  b: {block(text, '  ')}\n  c: 1\n") == {"a": {"b": text, "c": 1}}


@given(TEXT)
def test_yaml_reads_quotes_again(text: str) -> None:
    assert yaml.safe_load(quoted(text)) == text
    assert "\n" not in quoted(text)
