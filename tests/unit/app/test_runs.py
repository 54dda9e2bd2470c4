"""What journals tell of runs: how they ended, what was done with each host."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpuprov.app.resume import host_words
from gpuprov.app.runs import past_run, past_runs
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.past_run import RunEnd
from gpuprov.store.journal import open_journal
from gpuprov.store.lock import hold_site
from gpuprov.store.site import runs_folder

RUN = {"step": "run", "command": "up", "user": "ana", "machine": "desk", "pid": 1}
BEGUN = [
    {"event": "begin", **RUN, "target": "onprem", "limit": None},
    {"event": "begin", "step": "rollout", "hosts": ["a", "b", "c"]},
    {"event": "begin", "step": "batch", "number": 1, "of": 3, "hosts": ["a"]},
    {"event": "begin", "step": "converge", "hosts": ["a"]},
]
REBOOTED = [
    *BEGUN,
    {"event": "end", "step": "converge", "hosts": {"a": "ok"}},
    {"event": "begin", "step": "reboot", "host": "a"},
]
FIRST_DONE = [
    *REBOOTED,
    {"event": "end", "step": "reboot", "host": "a"},
    {"event": "begin", "step": "proof", "host": "a"},
    {"event": "end", "step": "proof", "host": "a", "proven": True},
    {"event": "end", "step": "host", "host": "a", "state": "changed"},
    {"event": "end", "step": "batch", "number": 1},
    {"event": "begin", "step": "batch", "number": 2, "of": 3, "hosts": ["b"]},
    {"event": "begin", "step": "converge", "hosts": ["b"]},
]


def ended(status: int | None = None, **more: Any) -> dict[str, Any]:
    told = {} if status is None else {"status": status}
    return {"event": "end", "step": "run", "ok": True, **told, **more}


CASES: dict[str, tuple[Sequence[dict[str, Any]], RunEnd, dict[str, str]]] = {
    "killed in the play": (BEGUN, RunEnd.KILLED, {"a": "the run ended within the play", "b": "not begun"}),
    "killed in the reboot": (REBOOTED, RunEnd.KILLED, {"a": "the run ended within its reboot"}),
    "killed between steps": (REBOOTED[:-1], RunEnd.KILLED, {"a": "the run ended after the play"}),
    "killed with the second host": (
        FIRST_DONE,
        RunEnd.KILLED,
        {"a": "changed and proven", "b": "the run ended within the play", "c": "not begun"},
    ),
    "stopped at once": (
        [*BEGUN, ended(ok=False, error="KeyboardInterrupt")],
        RunEnd.INTERRUPTED,
        {"a": "the run ended within the play"},
    ),
    "interrupted after a step": ([*BEGUN[:1], ended(8)], RunEnd.INTERRUPTED, {}),
    "a failed host": (
        [
            *REBOOTED[:-1],
            {"event": "end", "step": "host", "host": "a", "state": "failed"},
            {"event": "end", "step": "rollout", "hosts": {"a": "failed", "b": "not started", "c": "satisfied"}},
            ended(4),
        ],
        RunEnd.FAILED,
        {"a": "failed after the play", "b": "not begun", "c": "as wanted already"},
    ),
    "refused before anything": (
        [*BEGUN[:2], {"event": "end", "step": "rollout", "hosts": {"a": "failed"}}, ended(5)],
        RunEnd.FAILED,
        {"a": "failed before anything was changed on it"},
    ),
    "done": ([*BEGUN[:1], ended(0)], RunEnd.DONE, {}),
    "done, with a difference left": ([*BEGUN[:1], ended(7)], RunEnd.DONE, {}),
    "of a release that told no status": (
        [*BEGUN[:2], {"event": "end", "step": "rollout", "hosts": {"a": "failed"}}, ended()],
        RunEnd.FAILED,
        {"a": "failed before anything was changed on it"},
    ),
    "an error": ([*BEGUN[:1], ended(ok=False, error="no space")], RunEnd.FAILED, {}),
    "an empty journal": ([], RunEnd.KILLED, {}),
}


def keep(spec: Path, name: str, entries: Sequence[dict[str, Any]]) -> None:
    folder = runs_folder(spec.parent / ".gpuprov") / name
    folder.mkdir(parents=True)
    lines = [json.dumps({"at": f"2026-11-30T10:00:{n:02}.500000Z", **entry}) for n, entry in enumerate(entries)]
    (folder / "journal.jsonl").write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("case", CASES)
def test_a_run_is_told_by_its_journal(tmp_path: Path, case: str) -> None:
    entries, end, words = CASES[case]
    spec = tmp_path / "gpuprov.yaml"
    keep(spec, "r", entries)
    (run,) = past_runs(spec)
    assert run.end is end
    assert {h.host: host_words(h) for h in run.hosts if h.host in words} == words


def test_steps_have_their_times_and_parallel_ones_are_told_apart(tmp_path: Path) -> None:
    reboots = [{"event": event, "step": "reboot", "host": host} for event, host in (
        ("begin", "a"), ("begin", "b"), ("end", "b"), ("end", "a"), ("begin", "c"),
    )]  # fmt: skip
    keep(tmp_path / "gpuprov.yaml", "r", [*BEGUN[:1], *reboots])
    (run,) = past_runs(tmp_path / "gpuprov.yaml")
    assert [(step.hosts, step.seconds, bool(step.ended)) for step in run.steps] == [
        (("a",), 3.0, True),
        (("b",), 1.0, True),
        (("c",), 0.0, False),
    ]
    assert (run.by, run.asked["target"]) == ("ana on desk", "onprem")


def test_a_run_that_goes_on_is_running_and_not_killed(tmp_path: Path) -> None:
    spec, site = tmp_path / "gpuprov.yaml", tmp_path / ".gpuprov"
    with hold_site(site, ["gpuprov", "up"]), open_journal(site, "up"):
        assert [run.end for run in past_runs(spec)] == [RunEnd.RUNNING]
    assert [run.end for run in past_runs(spec)] == [RunEnd.DONE]


def test_a_run_is_found_by_a_part_of_its_name(tmp_path: Path) -> None:
    spec = tmp_path / "gpuprov.yaml"
    with pytest.raises(GpuprovError, match="no run yet"):
        past_run(spec, None)
    for name in ("20261130T100000Z-aaaaaa", "20261130T110000Z-bbbbbb"):
        keep(spec, name, [*BEGUN[:1], ended(0)])
    keep(spec, "20261130T120000Z-cccccc", [{**BEGUN[0], "resumes": "20261130T110000Z-bbbbbb"}, ended(0)])
    assert past_run(spec, None).resumes == "20261130T110000Z-bbbbbb"
    assert past_run(spec, "bbbbbb").resumed_by == "20261130T120000Z-cccccc"
    assert past_run(spec, "20261130T10").name.endswith("aaaaaa")
    for name, told in (("20261130", "several runs"), ("dddddd", "no run dddddd")):
        with pytest.raises(GpuprovError, match=told) as caught:
            past_run(spec, name)
        assert caught.value.diagnostics[0].code == "GP-RUN-008"
