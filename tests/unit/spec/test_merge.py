"""Laying one tree over another: mappings key by key, everything else as a whole."""

import pytest

from gpuprov.document.node import MappingNode, Node, Scalar, SequenceNode
from gpuprov.document.yaml_text import parse_yaml
from gpuprov.spec.merge import merge_nodes


def plain(node: Node) -> object:
    match node:
        case Scalar():
            return node.text
        case SequenceNode():
            return [plain(item) for item in node.items]
        case MappingNode():
            return {entry.key.text: plain(entry.value) for entry in node.entries}


@pytest.mark.parametrize(
    ("base", "over", "merged"),
    [
        ("{a: 1, b: 2}", "{b: 3, c: 4}", {"a": "1", "b": "3", "c": "4"}),
        ("{a: {x: 1, y: 2}}", "{a: {y: 3}}", {"a": {"x": "1", "y": "3"}}),
        ("{a: {x: 1}}", "{a: null}", {"a": "null"}),
        ("{a: null}", "{a: {x: 1}}", {"a": {"x": "1"}}),
        ("{a: [1, 2]}", "{a: [3]}", {"a": ["3"]}),
        ("{a: 1}", "{}", {"a": "1"}),
    ],
)
def test_merge(base: str, over: str, merged: object) -> None:
    assert plain(merge_nodes(parse_yaml(base, "f"), parse_yaml(over, "f"))) == merged


def test_each_value_keeps_its_place() -> None:
    merged = merge_nodes(parse_yaml("a: 1\nb: 2\n", "f"), parse_yaml("\n\n\nb: 3\n", "f"))
    assert isinstance(merged, MappingNode)
    assert [entry.value.span.line for entry in merged.entries] == [1, 4]
