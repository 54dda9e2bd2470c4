"""Runs of before, for people and for programs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rich.text import Text

from gpuprov.model.past_run import PastHost, PastRun, PastStep, RunEnd
from gpuprov.render.terminal import Terminal

_STYLES: Final[Mapping[RunEnd, str]] = {
    RunEnd.RUNNING: "change",
    RunEnd.DONE: "good",
    RunEnd.FAILED: "error",
    RunEnd.INTERRUPTED: "warning",
    RunEnd.KILLED: "error",
}
_LONGEST: Final = 60
"""Of host names in one line."""


def show_runs(runs: Sequence[PastRun], terminal: Terminal) -> None:
    """Print one line a run, the last one last."""
    for run in runs:
        terminal.out.print(
            Text.assemble(
                (run.name, "name"),
                f"  {run.command:11} ",
                (f"{run.end!s:11}", _STYLES[run.end]),
                f" {_counted(run)}{_target(run)}",
                (f"  by {run.by}", "quiet"),
                (_relation(run), "quiet"),
            )
        )
    if not runs:
        terminal.out.print("no run yet")


def show_past_run(run: PastRun, terminal: Terminal, words: Callable[[PastHost], str]) -> None:
    """Print a run: how it ended, what it did with each host, its steps with their times.

    Args:
        run: the run.
        terminal: where.
        words: says what a run did with a host.
    """
    out = terminal.out
    out.print(Text.assemble((run.name, "name"), f"  gpuprov {run.command}{_target(run)} by {run.by}"))
    status = f", status {run.status}" if run.status is not None else ""
    error = f": {run.error}" if run.error else ""
    ended = f"; ended {_moment(run.ended)}" if run.ended else ""
    out.print(
        Text.assemble(f"began {_moment(run.began)}{ended}; ", (f"{run.end}{status}", _STYLES[run.end]), f"{error}")
    )
    if _relation(run):
        out.print(_relation(run).strip())
    for host in run.hosts:
        out.print(Text.assemble("  ", (host.host, "name"), f": {words(host)}"))
    for step in run.steps:
        out.print(_step_line(step))
    out.print(f"log, plan, spec, lock and wants: {run.folder}")


def runs_body(runs: Sequence[PastRun]) -> dict[str, object]:
    """Runs as JSON, without their steps."""
    return {"runs": [_head(run) for run in runs]}


def past_run_body(run: PastRun) -> dict[str, object]:
    """A run as JSON."""
    return {
        **_head(run),
        "asked": dict(run.asked),
        "steps": [
            {
                "step": step.step,
                "hosts": list(step.hosts),
                "began": step.began,
                "ended": step.ended or None,
                "seconds": step.seconds if step.ended else None,
                "told": {key: value for key, value in step.told.items() if key != "hosts"},
            }
            for step in run.steps
        ],
    }


def _head(run: PastRun) -> dict[str, object]:
    return {
        "run": run.name,
        "folder": run.folder,
        "command": run.command,
        "by": run.by,
        "began": run.began,
        "ended": run.ended or None,
        "end": str(run.end),
        "status": run.status,
        "error": run.error,
        "resumes": run.resumes or None,
        "resumed_by": run.resumed_by or None,
        "hosts": [
            {"host": h.host, "state": h.state or None, "step": h.step or None, "within": h.within} for h in run.hosts
        ],
    }


def _counted(run: PastRun) -> str:
    counts: dict[str, int] = {}
    for host in run.hosts:
        word = host.state or ("begun" if host.step else "not begun")
        counts[word] = counts.get(word, 0) + 1
    return ", ".join(f"{count} {word}" for word, count in counts.items()) or "no host"


def _target(run: PastRun) -> str:
    target, limit = run.asked.get("target"), run.asked.get("limit")
    return "".join([f" --target {target}" if target else "", f" -l {limit}" if limit else ""])


def _relation(run: PastRun) -> str:
    parts = [f"  goes on with {run.resumes}"] if run.resumes else []
    return "".join([*parts, f"  gone on with by {run.resumed_by}"] if run.resumed_by else parts)


def _step_line(step: PastStep) -> Text:
    names = ", ".join(step.hosts)
    shown = names if len(names) <= _LONGEST else f"{len(step.hosts)} hosts"
    took = f"{step.seconds:.1f} s" if step.ended else "no end"
    style = "" if step.ended and step.told.get("ok", True) is True else "warning"
    error = step.told.get("error")
    number = f" {step.told['number']} of {step.told['of']}" if {"number", "of"} <= step.told.keys() else ""
    return Text.assemble(
        (f"  {_moment(step.began)[11:]}", "quiet"), (f"  {step.step}{number}", style), f" {shown}".rstrip(),
        (f"  {took}", "quiet"), f": {error}" if error else "",
    )  # fmt: skip


def _moment(text: str) -> str:
    """A moment without fractions of a second."""
    return f"{text[:19]}Z" if text else "?"
