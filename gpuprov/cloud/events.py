"""Events of the engine -> progress and resource changes; pure, tried on recorded events."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from gpuprov.cloud.state import HOLDING, PROVIDER_PREFIX, STACK_TYPE, address_of
from gpuprov.model.progress import Progress
from gpuprov.model.resource import ResourceAction, ResourceChange, ResourcePlan

if TYPE_CHECKING:
    from pulumi.automation.events import EngineEvent, StepEventMetadata, StepEventStateMetadata

PHASE: Final = "resources"
UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What stands in an event for a value that only the apply will know (engine 3.274.1, 2026-11-30)."""

_ACTIONS: Final = {
    "create": ResourceAction.CREATE,
    "import": ResourceAction.CREATE,
    "update": ResourceAction.UPDATE,
    "delete": ResourceAction.DELETE,
    "discard": ResourceAction.DELETE,
    # A replacement is three steps, in an order of the plugin's choosing; they are one change.
    "create-replacement": ResourceAction.REPLACE,
    "replace": ResourceAction.REPLACE,
    "delete-replaced": ResourceAction.REPLACE,
    "import-replacement": ResourceAction.REPLACE,
    "discard-replaced": ResourceAction.REPLACE,
}
_AWAY: Final = frozenset({"delete-replaced", "discard-replaced"})
_ANEW: Final = frozenset({"create-replacement", "import-replacement"})
_WORDS: Final = {
    "create": "being made",
    "update": "being changed",
    "delete": "being deleted",
    "create-replacement": "its replacement is being made",
    "delete-replaced": "the replaced one is being deleted",
    "refresh": "being read",
    "read": "being read",
}
_ENDED: Final = {
    "create": "made",
    "update": "changed",
    "delete": "deleted",
    "create-replacement": "its replacement is made",
    "delete-replaced": "the replaced one is deleted",
}
CANCELLED: Final = frozenset({"update canceled", "context canceled"})
"""What the engine says when it was asked to stop: the second while it deletes (engine 3.274.1, 2026-12-01)."""
_LONG: Final = 60
_NOTHING: Final = "(none)"
_COLOURS: Final = re.compile(r"<\{%[^%]*%\}>|\x1b\[[0-9;]*m")


@dataclass(frozen=True, kw_only=True, slots=True)
class Complaint:
    """An error of the engine or of its plugin."""

    urn: str
    """Empty when it is about no resource."""
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NewResource:
    """A resource that a preview would create, with what recovery needs to find one that is there already."""

    urn: str
    type: str
    parent: str
    provider: str
    inputs: Mapping[str, Any]


@dataclass(kw_only=True, slots=True)
class EventReader:
    """Takes the events of one run of the engine in their order, and says what it does and did."""

    planning: bool
    """Whether the run is a preview: then what would be done counts, else only what was done."""
    total: int | None = None
    """Resources that will change, by the preview, for progress."""
    complaints: list[Complaint] = field(default_factory=list)
    created: list[NewResource] = field(default_factory=list)
    failed: list[NewResource] = field(default_factory=list)
    """Creates that failed: the account may hold the resource all the same, and no state tells of it."""
    unchanged: int = 0
    cancelled: bool = False
    ended_well: bool = False
    """Set by who ran the engine."""
    begun: bool = False
    """Whether the engine came as far as a resource."""
    _changes: dict[str, ResourceChange] = field(default_factory=dict)
    _making: dict[str, NewResource] = field(default_factory=dict)
    _steps: dict[str, set[str]] = field(default_factory=dict)
    """URN -> the engine's words for what it does there."""

    @property
    def changes(self) -> tuple[ResourceChange, ...]:
        """Changes in the engine's order, one for each resource."""
        return tuple(_rest_of(change, self._steps[change.urn]) for change in self._changes.values())

    def plan(self) -> ResourcePlan:
        """What a preview found."""
        return ResourcePlan(changes=self.changes, unchanged=self.unchanged)

    def take(self, event: "EngineEvent") -> Progress | None:
        """Take one event; gives progress where there is some to show."""
        if event.diagnostic_event is not None:
            self._complain(event.diagnostic_event.severity, event.diagnostic_event.urn, event.diagnostic_event.message)
        if event.resource_pre_event is not None:
            return self._began(event.resource_pre_event.metadata)
        if event.res_outputs_event is not None:
            return self._ended(event.res_outputs_event.metadata)
        if event.res_op_failed_event is not None:
            meta = event.res_op_failed_event.metadata
            if meta.urn in self._making:
                self.failed.append(self._making[meta.urn])
            return _progress(meta.urn, "failed", self._done, self.total) if _shown(meta) else None
        return None

    @property
    def _done(self) -> int:
        return len(self._changes)

    def _began(self, meta: "StepEventMetadata") -> Progress | None:
        if not _shown(meta):
            return None
        self.begun = True
        word = _op(meta)
        if self.planning:
            self._count(meta)
            return _progress(meta.urn, "looked at", None, None)
        if word in {"create", "create-replacement"} and meta.new is not None:
            self._making[meta.urn] = _new(meta, meta.new)
        if word in _WORDS:
            return _progress(meta.urn, _WORDS[word], self._done, self.total)
        return None

    def _ended(self, meta: "StepEventMetadata") -> Progress | None:
        if not _shown(meta) or self.planning:
            return None
        self._count(meta)
        word = _op(meta)
        if word not in _ENDED:
            return None
        return replace(_progress(meta.urn, _ENDED[word], self._done, self.total), finished=True)

    def _count(self, meta: "StepEventMetadata") -> None:
        word = _op(meta)
        if word == "same":
            self.unchanged += 1
            return
        action = _ACTIONS.get(word)
        if action is None:
            return
        if word == "create" and meta.new is not None:
            self.created.append(_new(meta, meta.new))
        found = change_of(meta, action)
        self._steps.setdefault(meta.urn, set()).add(word)
        before = self._changes.get(meta.urn)
        if before is not None:
            found = replace(
                before,
                action=ResourceAction.REPLACE if ResourceAction.REPLACE in {before.action, action} else before.action,
                reasons=_joined(before.reasons, found.reasons),
                changes=_joined(before.changes, found.changes),
            )
        self._changes[meta.urn] = found

    def _complain(self, severity: str, urn: str | None, message: str) -> None:
        if severity != "error":
            return
        text = _COLOURS.sub("", message).strip()
        if text in CANCELLED and not urn:
            self.cancelled = True
        elif text and not any(one.text == text and one.urn == (urn or "") for one in self.complaints):
            self.complaints.append(Complaint(urn=urn or "", text=text))


def change_of(meta: "StepEventMetadata", action: ResourceAction) -> ResourceChange:
    """Describe one step as a change, with the values where both are known and short."""
    old = dict((meta.old.inputs if meta.old else None) or {})
    new = dict((meta.new.inputs if meta.new else None) or {})
    changes: list[str] = []
    if action in {ResourceAction.UPDATE, ResourceAction.REPLACE}:
        paths = list(meta.detailed_diff or {}) or list(meta.diffs or [])
        changes = [_described(path, old, new) for path in paths]
    return ResourceChange(
        address=address_of(meta.urn),
        type=meta.type,
        action=action,
        urn=meta.urn,
        # `id` alone is the engine's word for a replacement that a person asked for.
        reasons=tuple(key for key in meta.keys or () if key != "id"),
        changes=tuple(changes),
        holds_data=meta.type in HOLDING,
    )


def _rest_of(change: ResourceChange, steps: Collection[str]) -> ResourceChange:
    """A replacement of which nothing but the deletion is done is one.

    Planned: an earlier run made the new one and did not delete the old one. Done: the new one could not be made.
    """
    halved = _AWAY.intersection(steps) and not _ANEW.intersection(steps)
    return replace(change, action=ResourceAction.DELETE, leftover=True) if halved else change


def _new(meta: "StepEventMetadata", new: "StepEventStateMetadata") -> NewResource:
    return NewResource(
        urn=meta.urn, type=meta.type, parent=new.parent, provider=new.provider, inputs=dict(new.inputs or {})
    )


def _described(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    was, will = _at(old, path), _at(new, path)
    # "Not there" is told apart from a value that must not, or need not, be shown.
    before = _NOTHING if was is None else _text(was)
    after = _NOTHING if will is None else _text(will)
    return f"{path}: {before} -> {after}" if before and after and before != after else path


def _at(value: Any, path: str) -> Any:
    """Follow a property path such as `tags.Name`, `tags["a:b"]` or `blocks[0].size`; None where it leads nowhere."""
    for key, number, word in re.findall(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)', path):
        try:
            value = value[int(number)] if number else value[key or word]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _text(value: Any) -> str:
    """A value as people read it; empty when it is unknown, secret or long."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    hidden = UNKNOWN in text or "[secret]" in text or "4dabf18193072939515e22adb298388d" in text
    return "" if hidden or len(text) > _LONG or "\n" in text else text


def _progress(urn: str, text: str, done: int | None, total: int | None) -> Progress:
    return Progress(phase=PHASE, subject=address_of(urn), text=text, done=done if total else None, total=total or None)


def _shown(meta: "StepEventMetadata") -> bool:
    return meta.type != STACK_TYPE and not meta.type.startswith(PROVIDER_PREFIX)


def _op(meta: "StepEventMetadata") -> str:
    return str(getattr(meta.op, "value", meta.op))


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return (*first, *(one for one in second if one not in first))
