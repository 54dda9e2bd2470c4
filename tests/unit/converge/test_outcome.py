"""Recorded events of real runs on lab nodes (2026-11-30) -> outcomes."""

import json
from pathlib import Path
from typing import Any

import pytest

from gpuprov.converge.events import Kind, TaskEvent, is_end, parse_event
from gpuprov.converge.outcome import Tally
from gpuprov.converge.types import Foresight, HostOutcome, HostStatus

LOG = Path("/runs/1/ansible-1/artifacts/play/stdout")
EVENTS = Path(__file__).parents[2] / "cases" / "converge" / "events"


def load(name: str) -> list[dict[str, Any]]:
    return list(json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8")))


def outcomes(events: list[dict[str, Any]], *, cancelled: bool = False) -> dict[str, HostOutcome]:
    parsed = [found for event in events if (found := parse_event(event)) is not None]
    tallies = {event.host: Tally(event.host, LOG) for event in parsed}
    for event in parsed:
        tallies[event.host].take(event)
    ended = any(is_end(event) for event in events)
    return {name: t.outcome(ended=ended, cancelled=cancelled, tail="last line") for name, t in tallies.items()}


FAILED, UNREACHABLE = HostStatus.FAILED, HostStatus.UNREACHABLE


@pytest.mark.parametrize(
    ("name", "host", "status", "codes"),
    [
        ("converged", "node-2", HostStatus.OK, []),
        ("reboot-pending", "node-1", HostStatus.OK, []),
        ("removed-and-kept", "node-2", HostStatus.OK, []),
        ("wrong-sudo-password", "node-2", FAILED, ["GP-SSH-005"]),
        ("missing-sudo-password", "node-2", FAILED, ["GP-SSH-005"]),
        ("host-key-changed", "node-2", UNREACHABLE, ["GP-SSH-003"]),
        ("host-key-unknown", "node-2", UNREACHABLE, ["GP-SSH-004"]),
        ("login-refused-and-timed-out", "node-1", UNREACHABLE, ["GP-SSH-002"]),
        ("login-refused-and-timed-out", "node-2", UNREACHABLE, ["GP-SSH-001"]),
        ("version-withdrawn", "node-2", FAILED, ["GP-LOCK-004"]),
        ("dpkg-locked", "node-1", FAILED, ["GP-CONV-004"]),
    ],
)
def test_recorded_runs(name: str, host: str, status: HostStatus, codes: list[str]) -> None:
    found = outcomes(load(name))[host]
    assert found.status is status
    assert [diagnostic.code for diagnostic in found.diagnostics] == codes


def test_tasks_on_the_controller_are_not_counted() -> None:
    events = load("converged")
    found = outcomes(events)["node-2"]
    ran = [e for e in events if e["event"] == "runner_on_ok" and "Validating" not in e["event_data"]["task"]]
    assert found.tasks == len(ran)
    assert found.changed == sum(event["event_data"]["res"]["changed"] for event in ran)
    assert 0 < found.changed < found.tasks


def test_package_moves_are_told() -> None:
    found = outcomes(load("converged"))["node-2"]
    assert "nvidia-open absent -> 580.82.07-1" in found.packages
    assert "tree 2.1.0-1 -> absent" in outcomes(load("removed-and-kept"))["node-2"].packages


def test_notes_say_what_waits_and_what_stays() -> None:
    waiting = outcomes(load("reboot-pending"))["node-1"].notes
    assert [note for note in waiting if "nvidia-fabricmanager" in note and "waits for the reboot" in note]
    assert "tini stays: gpuprov did not install it" in outcomes(load("removed-and-kept"))["node-2"].notes


def test_a_run_that_breaks_off_is_never_ok() -> None:
    events = load("converged")
    half = events[: len(events) // 2]
    assert outcomes(half)["node-2"].status is FAILED
    assert outcomes(half)["node-2"].diagnostics[0].detail == "last line"
    assert str(LOG) in outcomes(half)["node-2"].diagnostics[0].hint
    stopped = outcomes(half, cancelled=True)["node-2"]
    assert (stopped.status, stopped.diagnostics[0].code) == (HostStatus.CANCELLED, "GP-RUN-003")


def test_a_host_that_no_event_names_is_not_ok() -> None:
    assert Tally("h", LOG).outcome(ended=True, cancelled=False, tail="").status is FAILED


def test_the_running_task_is_known() -> None:
    tally = Tally("node-2", LOG)
    seen = []
    for event in load("wrong-sudo-password"):
        found = parse_event(event)
        if found is not None:
            tally.take(found)
            seen.append((found.kind, tally.in_flight))
    assert seen == [(Kind.STARTED, "Look for Python"), (Kind.FAILED, "")]


def test_a_look_tells_what_would_be_fetched_and_what_would_go() -> None:
    tally = Tally("node-2", LOG)
    look = {"judged_only": True, "download": 10, "growth": 20, "rollback": {"lost": ["a 1"]}}
    tally.take(TaskEvent(kind=Kind.OK, host="node-2", task="t", action="gpuprov_packages", result=look))
    done = TaskEvent(kind=Kind.OK, host="node-2", task="t", action="x", result={"judged_only": False, "download": 1})
    tally.take(done)
    found = tally.outcome(ended=True, cancelled=False, tail="").foresight
    assert found == Foresight(download=10, growth=20, rollback={"lost": ["a 1"]})
    refused = {"gpuprov": {"reason": "plan", "text": "t", "removed": ["site-monitor"]}}
    tally.take(TaskEvent(kind=Kind.FAILED, host="node-2", task="t", action="gpuprov_packages", result=refused))
    assert tally.outcome(ended=True, cancelled=False, tail="").removed == ("site-monitor",)
