"""What an interrupted run left behind: pending operations and orphans, taken into the state instead of made twice.

The engine only warns of a pending create and makes a second resource; its own ways to import one lose it (engine
3.274.1, tried 2026-11-30). What works: put the resource with its id into the exported deployment, import that, refresh.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gpuprov.cloud.decide.natural_keys import recovery_key
from gpuprov.cloud.decide.tags import ID
from gpuprov.cloud.events import UNKNOWN, NewResource
from gpuprov.cloud.state import Pending, address_of
from gpuprov.model.diagnostic import Diagnostic, Severity

Find = Callable[[str, str], str | None]
"""(type token, gpuprov:id or natural key) -> physical id in the account, or None."""
TakenOver = Callable[[str, str], None]
"""Finishes what was cut off with the making of a resource, given its type token and physical id."""

_SECRET: Final = "[secret]"  # noqa: S105 (what stands in an event for a secret value)
_SECRET_KEY: Final = "4dabf18193072939515e22adb298388d"  # noqa: S105 (marks a wrapped value in a deployment)
_SETTLED_BY_READING: Final = {"updating", "deleting", "reading", "importing"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """A deployment in which nothing is pending that reading cannot settle, and what was done for it."""

    deployment: Mapping[str, Any]
    told: tuple[Diagnostic, ...]
    """Notes with GP-CLOUD-023; an error with GP-CLOUD-015 for each operation that nobody can settle."""
    changed: bool
    """Whether the deployment is another one than before."""
    reading: bool
    """Whether a refresh is needed."""
    taken: tuple[tuple[str, str], ...] = ()
    """Type token and physical id of what was taken into the state."""


def settle(deployment: Mapping[str, Any], find: Find) -> Settled:
    """Take every pending create whose resource exists into the state, and drop those whose resource does not.

    Args:
        deployment: what the engine exports.
        find: looks in the account.
    """
    resources = [dict(row) for row in deployment.get("resources") or []]
    left: list[Mapping[str, Any]] = []
    told: list[Diagnostic] = []
    adopted: list[tuple[str, str]] = []
    for operation in deployment.get("pending_operations") or []:
        row, kind = dict(operation.get("resource") or {}), str(operation.get("type"))
        address = address_of(str(row.get("urn", "")))
        if kind in _SETTLED_BY_READING:
            left.append(operation)
            told.append(_note(address, f"an earlier run was cut off while {kind} it; AWS was asked how that ended"))
            continue
        key = _key(str(row.get("type")), row.get("inputs") or {})
        if key is None:
            left.append(operation)
            told.append(_unsettled(address, kind))
            continue
        found = find(str(row["type"]), key)
        if found is None:
            told.append(_note(address, "an earlier run was cut off before it was made; it will be made now"))
            continue
        _take_in(resources, row, found)
        adopted.append((str(row["type"]), found))
        told.append(
            _note(address, f"an earlier run was cut off while making it; {found} is taken over, not made again")
        )
    pending = len(deployment.get("pending_operations") or [])
    return Settled(
        deployment={**deployment, "resources": resources, "pending_operations": left},
        told=tuple(told),
        changed=len(left) != pending,
        reading=bool(adopted) or any(str(one.get("type")) in _SETTLED_BY_READING for one in left),
        taken=tuple(adopted),
    )


def adopt(
    deployment: Mapping[str, Any], created: Sequence[NewResource], find: Find, *, leaving: bool = False
) -> Settled:
    """Take resources into the state that a run would make although the account holds them already.

    One whose inputs are not all known yet waits: it stands on another one that has to be taken in first.

    Args:
        deployment: what the engine exports.
        created: what a preview would create, or an update failed to; what the state holds by now is passed over.
        find: looks in the account.
        leaving: whether all of it goes next. What is taken in goes first then: no event of the engine tells what it
            was to wait for, and a gateway, for one, cannot go before an instance that it serves.
    """
    resources = [dict(row) for row in deployment.get("resources") or []]
    providers = {f"{row['urn']}::{row.get('id', '')}" for row in resources}
    # What was deleted in order to be made anew stays in the state until the new one is recorded.
    there = {row["urn"] for row in resources if not row.get("delete") and not row.get("pendingReplacement")}
    told: list[Diagnostic] = []
    taken: list[tuple[str, str]] = []
    for new in created:
        if new.urn in there or _holds(new.inputs, UNKNOWN):
            continue
        key = _key(new.type, new.inputs)
        found = find(new.type, key) if key else None
        if found is None:
            continue
        address = address_of(new.urn)
        if new.provider not in providers:
            told.append(_lost(address, found))
            continue
        inputs = {name: value for name, value in new.inputs.items() if not _holds(value, _SECRET)}
        row = {
            "urn": new.urn,
            "custom": True,
            "type": new.type,
            "inputs": inputs,
            "parent": new.parent,
            "provider": new.provider,
            "dependencies": [one["urn"] for one in resources if _stands_on(inputs, one, leaving=leaving)],
        }
        _take_in(resources, row, found)
        taken.append((new.type, found))
        told.append(_note(address, f"the account holds it already as {found}; it is taken over, not made again"))
    return Settled(
        deployment={**deployment, "resources": resources},
        told=tuple(told),
        changed=bool(taken),
        reading=bool(taken),
        taken=tuple(taken),
    )


def explain(pending: Sequence[Pending]) -> tuple[Diagnostic, ...]:
    """Say what is pending, for a command that only looks."""
    return tuple(
        Diagnostic(
            code="GP-CLOUD-023",
            severity=Severity.WARNING,
            address=one.address,
            summary=f"an earlier run was cut off while {one.operation} it",
            hint="`gpuprov up` finds out how that ended, and goes on from there",
        )
        for one in pending
    )


def _take_in(resources: list[dict[str, Any]], row: Mapping[str, Any], found: str) -> None:
    for other in resources:
        # A replacement that was cut off: the old one is what remains to be deleted.
        if other.get("urn") == row["urn"] and other.get("id") != found and not other.get("delete"):
            other["delete"] = True
    inputs = row.get("inputs") or {}
    resources.append({**row, "id": found, "outputs": dict(inputs)})


def _stands_on(inputs: Mapping[str, Any], other: Mapping[str, Any], *, leaving: bool) -> bool:
    """Whether inputs name a resource of the state by its physical id, or everything counts."""
    resource = bool(other.get("id")) and not other.get("delete") and not str(other.get("type")).startswith("pulumi:")
    return resource and (leaving or _holds(inputs, str(other["id"])))


def _key(type_token: str, inputs: Mapping[str, Any]) -> str | None:
    return _tag(inputs) or recovery_key(type_token, inputs)


def _tag(inputs: Mapping[str, Any]) -> str | None:
    tags = inputs.get("tags")
    value = tags.get(ID) if isinstance(tags, Mapping) else None
    return value if isinstance(value, str) and value and value != UNKNOWN else None


def _holds(value: Any, word: str) -> bool:
    """Whether a value holds another somewhere inside, or, of an event, one that the engine did not tell."""
    if isinstance(value, Mapping):
        return (word == _SECRET and _SECRET_KEY in value) or any(_holds(inner, word) for inner in value.values())
    if isinstance(value, list):
        return any(_holds(inner, word) for inner in value)
    return bool(value == word)


def _note(address: str, text: str) -> Diagnostic:
    return Diagnostic(code="GP-CLOUD-023", severity=Severity.NOTE, address=address, summary=text)


def _unsettled(address: str, kind: str) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-015",
        address=address,
        summary=f"an earlier run was cut off while {kind} {address}, and nothing tells whether it exists",
        detail="its inputs hold neither the tag gpuprov:id nor a name; nothing was changed",
        hint="look for it in the AWS console and delete it there if it exists, then take it out of the list of pending"
        " operations: `pulumi stack export`, edit, `pulumi stack import`",
    )


def _lost(address: str, found: str) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-015",
        address=address,
        summary=f"the account holds {address} as {found}, and this stack's state does not know it",
        detail="the state is empty: it was lost, or another folder's run made the resource from a spec of this name",
        hint="put the state back (.gpuprov/cloud of the folder that made it), or delete the resources with the tag"
        " gpuprov:spec, or give the spec another name",
    )
