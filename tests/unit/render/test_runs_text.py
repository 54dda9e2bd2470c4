"""Runs of before on screen and as JSON."""

import io
import json

from rich.console import Console

from gpuprov.model.past_run import PastHost, PastRun, PastStep, RunEnd
from gpuprov.render.runs_text import past_run_body, runs_body, show_past_run, show_runs
from gpuprov.render.terminal import Terminal

KILLED = PastRun(
    name="20261130T100000Z-aaaaaa", folder="/site/.gpuprov/runs/20261130T100000Z-aaaaaa", command="up", by="ana on pc",
    began="2026-11-30T10:00:00.123456Z", ended="", end=RunEnd.KILLED, status=None, error="",
    asked={"target": "onprem", "limit": "a,b"},
    hosts=(PastHost(host="a", state="changed", step="proof"), PastHost(host="b", step="converge", within=True),
           PastHost(host="c")),
    steps=(
        PastStep(step="batch", hosts=("a",), began="2026-11-30T10:00:01.0Z", ended="2026-11-30T10:01:01.5Z",
                 seconds=60.5, told={"number": 1, "of": 3, "ok": True}),
        PastStep(step="converge", hosts=("b",), began="2026-11-30T10:01:02.0Z"),
    ),
    resumed_by="20261130T110000Z-bbbbbb",
)  # fmt: skip
FAILED = PastRun(
    name="20261130T110000Z-bbbbbb", folder="/f", command="up", by="ana on pc", began="2026-11-30T11:00:00Z",
    ended="2026-11-30T11:10:00Z", end=RunEnd.FAILED, status=4, error="", asked={}, hosts=(),
    steps=(PastStep(step="rollout", hosts=tuple(f"node-{n:03}" for n in range(40)), began="2026-11-30T11:00:01Z",
                    ended="2026-11-30T11:00:02Z", seconds=1.0, told={"ok": False, "error": "no space"}),),
    resumes="20261130T100000Z-aaaaaa",
)  # fmt: skip


def shown(*runs: PastRun, whole: bool = False) -> list[str]:
    stream = io.StringIO()
    console = Console(file=stream, width=200, no_color=True, highlight=False, markup=False)
    terminal = Terminal(out=console, err=console)
    if whole:
        show_past_run(runs[0], terminal, lambda host: f"words for {host.host}")
    else:
        show_runs(runs, terminal)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_one_line_a_run() -> None:
    assert shown(KILLED, FAILED) == [
        (
            "20261130T100000Z-aaaaaa  up          killed      1 changed, 1 begun, 1 not begun --target onprem -l a,b"
            "  by ana on pc  gone on with by 20261130T110000Z-bbbbbb"
        ),
        "20261130T110000Z-bbbbbb  up          failed      no host  by ana on pc  goes on with 20261130T100000Z-aaaaaa",
    ]
    assert shown() == ["no run yet"]


def test_a_killed_run_shows_where_it_was() -> None:
    assert shown(KILLED, whole=True) == [
        "20261130T100000Z-aaaaaa  gpuprov up --target onprem -l a,b by ana on pc",
        "began 2026-11-30T10:00:00Z; killed",
        "gone on with by 20261130T110000Z-bbbbbb",
        "  a: words for a",
        "  b: words for b",
        "  c: words for c",
        "  10:00:01Z  batch 1 of 3 a  60.5 s",
        "  10:01:02Z  converge b  no end",
        "log, plan, spec, lock and wants: /site/.gpuprov/runs/20261130T100000Z-aaaaaa",
    ]


def test_a_failed_run_says_its_status_and_the_step_that_failed() -> None:
    lines = shown(FAILED, whole=True)
    assert lines[1] == "began 2026-11-30T11:00:00Z; ended 2026-11-30T11:10:00Z; failed, status 4"
    assert lines[3] == "  11:00:01Z  rollout 40 hosts  1.0 s: no space"


def test_a_program_gets_the_same() -> None:
    body = json.loads(json.dumps(past_run_body(KILLED)))
    assert (body["end"], body["ended"], body["status"], body["resumed_by"]) == ("killed", None, None, FAILED.name)
    assert body["hosts"][1] == {"host": "b", "state": None, "step": "converge", "within": True}
    assert [step["seconds"] for step in body["steps"]] == [60.5, None]
    heads = json.loads(json.dumps(runs_body([KILLED, FAILED])))["runs"]
    assert [head["run"] for head in heads] == [KILLED.name, FAILED.name]
    assert all("steps" not in head for head in heads)
