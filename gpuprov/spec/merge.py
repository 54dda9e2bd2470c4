"""A pool's stack laid over the spec's, as trees: each value keeps the place where it was written."""

from dataclasses import replace

from gpuprov.document.node import Entry, MappingNode, Node, SequenceNode
from gpuprov.document.yaml_text import MAX_VALUES
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span


def merge_nodes(base: Node | None, over: Node) -> Node:
    """Lay one tree over another: mappings key by key, everything else (null too) takes the place of what was there."""
    if not isinstance(base, MappingNode) or not isinstance(over, MappingNode):
        return over
    merged = {entry.key.text: entry for entry in base.entries}
    for entry in over.entries:
        below = merged.get(entry.key.text)
        value = merge_nodes(below.value, entry.value) if below else entry.value
        merged[entry.key.text] = Entry(entry.key, value)
    return MappingNode(tuple(merged.values()), over.span, base.whole and over.whole)


def with_overrides(root: MappingNode) -> MappingNode:
    """A spec's tree in which every pool's `stack` is the spec's with the pool's overrides; pools without one stay.

    Raises:
        GpuprovError: GP-DOC-003 when the overrides together make more values than a document may have.
    """
    base, pools = root.get("stack"), root.get("pools")
    if not isinstance(pools, MappingNode):
        return root
    own = sum(isinstance(entry.value, MappingNode) and entry.value.get("stack") is not None for entry in pools.entries)
    if own * _size(base) > MAX_VALUES:
        raise GpuprovError(_too_many(own, pools.span))
    return _replace(root, "pools", _each_pool(pools, base))


def _each_pool(pools: MappingNode, base: Node | None) -> MappingNode:
    entries = []
    for entry in pools.entries:
        own = entry.value.get("stack") if isinstance(entry.value, MappingNode) else None
        if own is not None and isinstance(entry.value, MappingNode):
            entries.append(Entry(entry.key, _replace(entry.value, "stack", merge_nodes(base, own))))
        else:
            entries.append(entry)
    return replace(pools, entries=tuple(entries))


def _replace(node: MappingNode, key: str, value: Node) -> MappingNode:
    entries = (Entry(entry.key, value) if entry.key.text == key else entry for entry in node.entries)
    return replace(node, entries=tuple(entries))


def _size(node: Node | None) -> int:
    if isinstance(node, MappingNode):
        return 1 + sum(_size(entry.value) for entry in node.entries)
    return 1 + sum(_size(item) for item in node.items) if isinstance(node, SequenceNode) else 1


def _too_many(pools: int, span: Span) -> Diagnostic:
    return Diagnostic(
        code="GP-DOC-003",
        summary=f"more than {MAX_VALUES} values once the stack is laid under the overrides of {pools} pools",
        address="pools",
        hint="give hosts that are equal one pool",
        span=span,
    )
