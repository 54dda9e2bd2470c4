"""`runs`: the site's runs of before, from their journals."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.past_run import PastHost, PastRun, PastStep, RunEnd
from gpuprov.model.run import HostState
from gpuprov.model.status import ExitStatus
from gpuprov.store.journal import RUN_STEP, Entry, RunRecord, list_runs, read_run
from gpuprov.store.lock import read_owner
from gpuprov.store.site import site_folder

_WHO: Final = ("command", "pid", "user", "machine", "resumes")
_DONE: Final = frozenset({ExitStatus.DONE, ExitStatus.DIFFERENT, ExitStatus.INCOMPLETE})
_INTERRUPT: Final = "KeyboardInterrupt"
"""What a run that was stopped at once wrote as its error."""


def past_runs(spec: Path) -> tuple[PastRun, ...]:
    """All runs of a site, oldest first.

    Args:
        spec: the site's spec; it need not be there any more.

    Raises:
        GpuprovError: GP-DOC-001 when a journal cannot be read.
    """
    site = site_folder(spec)
    owner = read_owner(site)
    running = owner.pid if owner else 0
    # Names have no more than the second in which a run began.
    runs = sorted(
        (_past(read_run(site, name), running=running) for name in list_runs(site)),
        key=lambda run: (_second(run), run.began),
    )
    resumed = {run.resumes: run.name for run in runs if run.resumes}
    return tuple(replace(run, resumed_by=resumed.get(run.name, "")) for run in runs)


def past_run(spec: Path, name: str | None) -> PastRun:
    """One run of a site.

    Args:
        spec: the site's spec.
        name: its name, or the beginning or end of it; None takes the last.

    Raises:
        GpuprovError: GP-RUN-008 when there is none, or several begin or end so.
    """
    runs = past_runs(spec)
    if name is None:
        found = list(runs[-1:])
    else:
        found = [run for run in runs if run.name == name] or [
            run for run in runs if name and (run.name.startswith(name) or run.name.endswith(name))
        ]
    if len(found) == 1:
        return found[0]
    if not runs:
        summary, hint = "the site has no run yet", "runs of `up` and `destroy` that changed something are kept"
    elif found:
        summary, hint = f"several runs are called {name}", "give more of the name: " + ", ".join(r.name for r in found)
    else:
        summary, hint = f"the site has no run {name}", "`gpuprov runs list` shows what there is"
    raise GpuprovError(Diagnostic(code="GP-RUN-008", address=str(site_folder(spec)), summary=summary, hint=hint))


def _second(run: PastRun) -> str:
    """The second in which a run began, as its name begins, also where its journal is empty."""
    return run.name.partition("-")[0]


def _past(record: RunRecord, *, running: int) -> PastRun:
    first = record.entries[0] if record.entries else Entry(at="", event="begin", step=RUN_STEP, fields={})
    last = next((e for e in reversed(record.entries) if e.event == "end" and e.step == RUN_STEP), None)
    said = first.fields
    status = last.fields.get("status") if last else None
    steps = _steps(record.entries)
    hosts = _hosts(record, steps)
    return PastRun(
        name=record.name,
        folder=str(record.folder),
        command=str(said.get("command", "")),
        by=" on ".join(str(said[key]) for key in ("user", "machine") if key in said) or "somebody",
        began=first.at,
        ended=last.at if last else "",
        end=_end(last, hosts, running=running != 0 and said.get("pid") == running),
        status=status if isinstance(status, int) else None,
        error=str(last.fields.get("error", "")) if last else "",
        asked={key: value for key, value in said.items() if key not in _WHO},
        hosts=hosts,
        steps=steps,
        resumes=str(said.get("resumes", "")),
    )


def _end(last: Entry | None, hosts: Sequence[PastHost], *, running: bool) -> RunEnd:
    if last is None:
        return RunEnd.RUNNING if running else RunEnd.KILLED
    status = last.fields.get("status")
    if status == ExitStatus.INTERRUPTED or last.fields.get("error") == _INTERRUPT:
        return RunEnd.INTERRUPTED
    good = status in _DONE if status is not None else all(host.state != HostState.FAILED for host in hosts)
    good = good and last.fields.get("ok") is True
    return RunEnd.DONE if good else RunEnd.FAILED


def _steps(entries: Sequence[Entry]) -> tuple[PastStep, ...]:
    """The steps in the order in which they began, each with its end."""
    steps: list[PastStep] = []
    for entry in entries:
        if entry.step == RUN_STEP:
            continue
        hosts = _named(entry.fields)
        if entry.event == "begin":
            steps.append(PastStep(step=entry.step, hosts=hosts, began=entry.at, told=_plain(entry.fields)))
            continue
        index = next(
            (i for i, s in enumerate(steps) if s.step == entry.step and not s.ended and _same(s.hosts, hosts)), None
        )
        if entry.event == "end" and index is not None:
            told = {**steps[index].told, **_plain(entry.fields)}
            seconds = _seconds(steps[index].began, entry.at)
            steps[index] = replace(steps[index], ended=entry.at, seconds=seconds, told=told)
    return tuple(steps)


def _same(begun: tuple[str, ...], ended: tuple[str, ...]) -> bool:
    return not ended or not begun or set(begun) == set(ended)


def _named(fields: Mapping[str, object]) -> tuple[str, ...]:
    if isinstance(fields.get("host"), str):
        return (str(fields["host"]),)
    hosts = fields.get("hosts")
    return tuple(map(str, hosts)) if isinstance(hosts, list | dict) else ()


def _plain(fields: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in fields.items() if key != "host"}


def _seconds(began: str, ended: str) -> float:
    try:
        return round((datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds(), 1)
    except ValueError:
        return 0.0


def _hosts(record: RunRecord, steps: Sequence[PastStep]) -> tuple[PastHost, ...]:
    states: dict[str, str] = {}
    order: dict[str, None] = {}
    for entry in record.entries:
        if entry.step == RUN_STEP:
            order.update(dict.fromkeys(_named({"hosts": entry.fields.get("hosts")})))
        elif entry.step in {"host", "rollout"}:
            order.update(dict.fromkeys(_named(entry.fields)))
        if entry.step == "host" and entry.event == "end":
            states[str(entry.fields.get("host"))] = str(entry.fields.get("state", ""))
        ended = entry.fields.get("hosts")
        if entry.step == "rollout" and entry.event == "end" and isinstance(ended, dict):
            states |= {str(name): str(state) for name, state in ended.items()}
    return tuple(_host(name, states.get(name, ""), steps) for name in order)


def _host(name: str, state: str, steps: Sequence[PastStep]) -> PastHost:
    mine = [step for step in steps if name in step.hosts and step.step not in {"rollout", "batch"}]
    inner = next((step for step in reversed(mine) if not step.ended), mine[-1] if mine else None)
    return PastHost(
        host=name,
        state=state,
        step=inner.step if inner else "",
        within=inner is not None and not inner.ended,
    )


def untouched(host: PastHost) -> bool:
    """Whether a run had not begun with a host, or had nothing to do on it."""
    return host.state in {HostState.NOT_STARTED, HostState.SATISFIED} or not (host.state or host.step)
