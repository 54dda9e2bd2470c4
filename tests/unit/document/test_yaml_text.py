"""The YAML reader: exact spans and scalars, refusals by code and place, and nothing but GpuprovError on any text."""

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuprov.document.node import MappingNode, Node, Scalar, SequenceNode, describe_node
from gpuprov.document.text import decode_text
from gpuprov.document.yaml_text import MAX_DEPTH, parse_yaml
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "document" / "yaml.yaml").read_text())


def plain(node: Node) -> object:
    match node:
        case Scalar():
            return [node.text, node.style, node.tag, node.span.line, node.span.column]
        case SequenceNode():
            return [plain(item) for item in node.items]
        case MappingNode():
            return {entry.key.text: plain(entry.value) for entry in node.entries}


@pytest.mark.parametrize("case", CASES["read"], ids=lambda case: case["id"])
def test_read(case: dict[str, object]) -> None:
    assert plain(parse_yaml(str(case["text"]), "f")) == case["tree"]


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["id"])
def test_refused(case: dict[str, object]) -> None:
    with pytest.raises(GpuprovError) as caught:
        parse_yaml(str(case["text"]), "f")
    found = [[d.code, d.span.line, d.span.column] for d in caught.value.diagnostics if d.span is not None]
    assert found == case["found"]
    for word in case.get("words", []):  # type: ignore[attr-defined]
        assert word in caught.value.diagnostics[0].summary + caught.value.diagnostics[0].hint


@pytest.mark.parametrize("case", CASES["bytes"], ids=lambda case: case["id"])
def test_refused_bytes(case: dict[str, object]) -> None:
    with pytest.raises(GpuprovError) as caught:
        decode_text(bytes.fromhex(str(case["hex"])) * int(str(case.get("times", 1))), "f")
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert [found.code, found.span.line, found.span.column] == case["found"]


def test_span_ends_after_the_scalar_and_shows_its_line() -> None:
    root = parse_yaml('a: 1\ncuda: "13.0" # x\n', "spec.yaml")
    assert isinstance(root, MappingNode)
    node = root.get("cuda")
    assert node is not None
    assert (node.span.file, node.span.line, node.span.column, node.span.end_column) == ("spec.yaml", 2, 7, 13)
    assert node.span.text == 'cuda: "13.0" # x'


def test_deepest_allowed_nesting_is_read() -> None:
    parse_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH, "f")


def test_describe_node_names_what_yaml_made() -> None:
    root = parse_yaml("[1.5, on, x, ~, [], {}, 2027-01-01]", "f")
    assert isinstance(root, SequenceNode)
    words = [describe_node(item) for item in root.items]
    assert words == [
        "the number 1.5",
        "the truth value on",
        'the text "x"',
        "nothing",
        "a list",
        "a mapping",
        "the date 2027-01-01",
    ]


def refused(text: str) -> tuple[Diagnostic, ...]:
    try:
        parse_yaml(text, "f")
    except GpuprovError as error:
        return error.diagnostics
    return ()


PIECES = [*":-{}[]\"'\n\t #&*!|>%@`?,abc01._~<=\r\u2028\ufeff\x85\x00", "- ", "a: ", "---\n"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES)))
@example(["a: ", "\ud800"])
@example(["\ufeff"])
def test_any_text_is_read_or_refused_with_a_place(parts: list[str]) -> None:
    for found in refused("".join(parts)):
        assert found.code in {"GP-DOC-002", "GP-DOC-003"}
        assert found.span is not None
        assert found.span.line >= 1
        assert found.span.column >= 1


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_bytes_decode_exactly_or_are_refused(data: bytes) -> None:
    try:
        text = decode_text(data, "f")
    except GpuprovError as error:
        text = ""
        codes = {d.code for d in error.diagnostics}
    else:
        codes = set()
    assert text.encode() == data or codes in ({"GP-DOC-002"}, {"GP-DOC-003"})
