"""Events of the runner -> typed values; pure, tried on recorded events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class Kind(StrEnum):
    """What happened to a task on a host."""

    STARTED = "started"
    OK = "ok"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    SKIPPED = "skipped"


_KINDS: Final = {
    "runner_on_start": Kind.STARTED,
    "runner_on_ok": Kind.OK,
    "runner_on_failed": Kind.FAILED,
    "runner_on_unreachable": Kind.UNREACHABLE,
    "runner_on_skipped": Kind.SKIPPED,
}
_ON_CONTROLLER: Final = {"ansible.builtin.validate_argument_spec", "validate_argument_spec", "meta"}


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskEvent:
    """One event of one task on one host."""

    kind: Kind
    host: str
    task: str
    action: str
    changed: bool = False
    result: Mapping[str, Any] = field(default_factory=dict)
    """What the module returned; empty before it has ended."""

    @property
    def on_controller(self) -> bool:
        """Whether the task never leaves this machine."""
        return self.action in _ON_CONTROLLER

    @property
    def on_host(self) -> bool:
        """Whether the task ran something on the host."""
        return self.kind in {Kind.OK, Kind.FAILED} and not self.on_controller


def parse_event(event: Mapping[str, Any]) -> TaskEvent | None:
    """Read one event; None when it is about no task of a host."""
    kind = _KINDS.get(str(event.get("event")))
    data = event.get("event_data")
    if kind is None or not isinstance(data, Mapping):
        return None
    result = data.get("res")
    result = result if isinstance(result, Mapping) else {}
    return TaskEvent(
        kind=kind,
        host=str(data.get("host", "")),
        task=str(data.get("task", "")).strip(),
        action=str(data.get("resolved_action") or data.get("task_action", "")),
        changed=result.get("changed") is True,
        result=result,
    )


def is_end(event: Mapping[str, Any]) -> bool:
    """Whether the event says that the play has ended on all hosts."""
    return event.get("event") == "playbook_on_stats"
