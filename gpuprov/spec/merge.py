"""A pool's stack laid over the spec's, as trees: each value keeps the place where it was written."""

from gpuprov.document.node import Entry, MappingNode, Node


def merge_nodes(base: Node | None, over: Node) -> Node:
    """Lay one tree over another: mappings key by key, everything else (null too) takes the place of what was there."""
    if not isinstance(base, MappingNode) or not isinstance(over, MappingNode):
        return over
    merged = {entry.key.text: entry for entry in base.entries}
    for entry in over.entries:
        below = merged.get(entry.key.text)
        value = merge_nodes(below.value, entry.value) if below else entry.value
        merged[entry.key.text] = Entry(entry.key, value)
    return MappingNode(tuple(merged.values()), over.span)


def with_overrides(root: MappingNode) -> MappingNode:
    """A spec's tree in which every pool's `stack` is the spec's with the pool's overrides; pools without one stay."""
    base, pools = root.get("stack"), root.get("pools")
    if not isinstance(pools, MappingNode):
        return root
    return _replace(root, "pools", _each_pool(pools, base))


def _each_pool(pools: MappingNode, base: Node | None) -> MappingNode:
    entries = []
    for entry in pools.entries:
        own = entry.value.get("stack") if isinstance(entry.value, MappingNode) else None
        if own is not None and isinstance(entry.value, MappingNode):
            entries.append(Entry(entry.key, _replace(entry.value, "stack", merge_nodes(base, own))))
        else:
            entries.append(entry)
    return MappingNode(tuple(entries), pools.span)


def _replace(node: MappingNode, key: str, value: Node) -> MappingNode:
    return MappingNode(
        tuple(Entry(entry.key, value) if entry.key.text == key else entry for entry in node.entries), node.span
    )
