"""The stacks of targets and pools laid over the spec's, as trees: each value keeps the place where it was written."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gpuprov.document.node import Entry, MappingNode, Node, Scalar, SequenceNode
from gpuprov.document.yaml_text import MAX_VALUES
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span

TARGETS: Final = ("onprem", "cloud")
"""The targets, by their keys in `targets` and in a pool."""


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
    """A spec's tree in which every `stack` of a target or a pool is whole.

    A target's is the spec's with the target's overrides. A pool's is that of its target, where its hosts are all on
    one, else the spec's, with the pool's overrides; a pool that nothing overrides has none, and the spec's counts.

    Raises:
        GpuprovError: GP-DOC-003 when the overrides together make more values than a document may have.
    """
    base, pools, targets = root.get("stack"), root.get("pools"), root.get("targets")
    laid = _targets(targets, base) if isinstance(targets, MappingNode) else {}
    if isinstance(targets, MappingNode):
        for name, stack in laid.items():
            target = targets.get(name)
            if isinstance(target, MappingNode):
                targets = _with(targets, name, _with(target, "stack", stack.value))
        root = _with(root, "targets", targets)
    if not isinstance(pools, MappingNode):
        return root
    own = {entry.key.text: _overrides(entry.value, laid) for entry in pools.entries}
    size = max((_size(node) for node in (base, *(entry.value for entry in laid.values()))), default=0)
    if sum(map(bool, own.values())) * size > MAX_VALUES:
        raise GpuprovError(_too_many(sum(map(bool, own.values())), pools.span))
    entries = (_pool(entry, own[entry.key.text], base) for entry in pools.entries)
    return _with(root, "pools", replace(pools, entries=tuple(entries)))


def _targets(targets: MappingNode, base: Node | None) -> dict[str, Entry]:
    """The whole stack of each target that has one."""
    found = {}
    for name in TARGETS:
        target = targets.get(name)
        for entry in target.entries if isinstance(target, MappingNode) else ():
            if entry.key.text == "stack":
                found[name] = Entry(entry.key, merge_nodes(base, entry.value))
    return found


def _overrides(pool: Node, laid: Mapping[str, Entry]) -> tuple[Entry, ...]:
    """What lies over the spec's stack in a pool: its target's stack, and its own."""
    if not isinstance(pool, MappingNode):
        return ()
    on = [
        name
        for name in TARGETS
        if (node := pool.get(name)) is not None and not (isinstance(node, Scalar) and node.is_null)
    ]
    of_target = (laid[on[0]],) if len(on) == 1 and on[0] in laid else ()
    return (*of_target, *(entry for entry in pool.entries if entry.key.text == "stack"))


def _pool(entry: Entry, over: tuple[Entry, ...], base: Node | None) -> Entry:
    if not over or not isinstance(entry.value, MappingNode):
        return entry
    stack = base
    for layer in over:
        stack = merge_nodes(stack, layer.value)
    return Entry(entry.key, _with(entry.value, "stack", stack or over[-1].value, key=over[-1].key))


def _with(node: MappingNode, name: str, value: Node, key: Scalar | None = None) -> MappingNode:
    """A mapping with another value of a key, or with the key added."""
    entries = tuple(Entry(entry.key, value) if entry.key.text == name else entry for entry in node.entries)
    if key is not None and node.get(name) is None:
        entries = (*entries, Entry(key, value))
    return replace(node, entries=entries)


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
