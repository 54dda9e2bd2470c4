"""`up --resume`: go on with a run that was killed, interrupted or stopped by a failure; its hosts, and nothing else."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from gpuprov.app.ground import UpRequest
from gpuprov.app.runs import past_runs, untouched
from gpuprov.app.site import Site
from gpuprov.app.targets import CLOUD
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.past_run import PastHost, PastRun, RunEnd
from gpuprov.model.run import HostState
from gpuprov.store.files import read_text
from gpuprov.want.types import HostWant

COMMAND: Final = "up"
_ROLLOUTS: Final = frozenset({"up", "destroy", "rollback"})
"""Commands that change hosts; only the last of them can be gone on with."""
_OWN: Final = frozenset({"spec", "access", "target", "release", "plan", "resume"})
"""Fields of a request that are kept apart from its terms, or belong to one run alone."""
_WORDS: Final = {
    "converge": "the play",
    "reboot": "its reboot",
    "proof": "the proof",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Resumed:
    """A run that is gone on with."""

    run: PastRun
    request: UpRequest
    """What the run was asked for, with this run's own way to the hosts."""

    @property
    def told(self) -> Diagnostic:
        """What the run had done, host by host."""
        return Diagnostic(
            code="GP-RUN-009",
            address=self.run.name,
            summary=f"going on with the run of {self.run.began} by {self.run.by}, which {_how(self.run)}",
            detail="\n".join(f"{host.host}: {host_words(host)}" for host in self.run.hosts),
            severity=Severity.NOTE,
        )


def asked_for(request: UpRequest, target: str, resumed: Resumed | None) -> dict[str, Any]:
    """How a run was asked for, as plain values for its journal: a later run can be asked for the same."""
    access = request.access
    return {
        **({"resumes": resumed.run.name} if resumed else {}),
        "target": target,
        "inventory": str(Path(access.inventory).resolve()) if access.inventory else None,
        "limit": access.limit,
        "terms": {name: getattr(request, name) for name in _terms()},
    }


def _terms() -> dict[str, Any]:
    """What else a run can be asked for, such as `replace`: name -> default."""
    return {f.name: f.default for f in fields(UpRequest) if f.name not in _OWN and f.default is not MISSING}


def find_interrupted(site: Site, request: UpRequest) -> Resumed:
    """The run to go on with: the site's last, if it did not come to a good end; the site is held.

    Raises:
        GpuprovError: GP-RUN-004 for options that would ask for something else than that run did; GP-RUN-008 when there
            is none; GP-RUN-010 when spec or lock changed since.
    """
    _refuse_options(request)
    runs = [run for run in past_runs(site.path) if run.command in _ROLLOUTS]
    if not runs or runs[-1].command != COMMAND or runs[-1].end is RunEnd.DONE:
        raise GpuprovError(_nothing(site, runs))
    run = runs[-1]
    _refuse_moved(site, run)
    asked = run.asked
    limit, inventory = asked.get("limit"), asked.get("inventory")
    if asked.get("target") != CLOUD and run.hosts:
        # Hosts that came to the inventory since were in no plan of that run.
        limit = ",".join(host.host for host in run.hosts)
    access = replace(
        request.access,
        limit=str(limit) if limit else None,
        inventory=str(inventory) if inventory else None,
    )
    kept = asked.get("terms")
    terms: dict[str, Any] = {}
    for name, value in kept.items() if isinstance(kept, dict) else ():
        if name in _terms():
            terms[name] = tuple(value) if isinstance(value, list) else value
    target = str(asked["target"]) if "target" in asked else None
    return Resumed(run=run, request=replace(request, access=access, target=target, **terms))


def refuse_other_wants(run: PastRun, wants: Mapping[str, HostWant]) -> None:
    """Refuse to go on where a host is to become something else than the run was bringing it to.

    Spec and lock are as they were; own rows of a catalog, or another release of gpuprov, move a want too.

    Raises:
        GpuprovError: GP-RUN-010.
    """
    moved = [
        name
        for name, want in wants.items()
        if (kept := Path(run.folder) / "wants" / f"{name}.json").is_file() and f'"{want.digest}"' not in read_text(kept)
    ]
    if moved:
        raise GpuprovError(_changed(run, f"what {', '.join(moved)} must be has changed since"))


def host_words(host: PastHost) -> str:
    """What a run did with a host, in a few words."""
    where = _WORDS.get(host.step, host.step)
    if host.within:
        return f"the run ended within {where}"
    if host.state == HostState.CHANGED:
        return "changed and proven"
    if host.state == HostState.FAILED:
        return f"failed after {where}" if where else "failed before anything was changed on it"
    if untouched(host):
        return "as wanted already" if host.state == HostState.SATISFIED else "not begun"
    return f"the run ended after {where}"


def _how(run: PastRun) -> str:
    words = {
        RunEnd.KILLED: "was killed",
        RunEnd.INTERRUPTED: "was interrupted",
        RunEnd.RUNNING: "was killed",  # its process id is this process's by chance: the site is ours now
    }
    return words.get(run.end, f"ended with status {run.status}" if run.status is not None else "failed")


def _refuse_options(request: UpRequest) -> None:
    given = {
        "--target": request.target,
        "--limit": request.access.limit,
        "--inventory": request.access.inventory,
        "--plan": request.plan,
        **{f"--{name.replace('_', '-')}": getattr(request, name) for name in _terms()},
    }
    named = [name for name, value in given.items() if value]
    if named:
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                summary=f"--resume takes these from the run that it goes on with: {', '.join(named)}",
                hint="leave these away, or run `gpuprov up` without --resume: it makes a new plan",
            )
        )


def _nothing(site: Site, runs: list[PastRun]) -> Diagnostic:
    if runs and runs[-1].command != COMMAND:
        run = runs[-1]
        summary = f"the last run, {run.name}, was `{run.command}`; only a run of `up` can be gone on with"
        hint = f"run `gpuprov {run.command}` again: it looks at every host and goes on from what it finds"
    elif runs:
        summary = f"the last run, {runs[-1].name}, came to its end; there is nothing to go on with"
        hint = "`gpuprov up` makes a new plan; `gpuprov runs list` shows all runs"
    else:
        summary, hint = "no run of this site changed a host yet; there is nothing to go on with", "run `gpuprov up`"
    return Diagnostic(code="GP-RUN-008", address=str(site.state), summary=summary, hint=hint)


def _refuse_moved(site: Site, run: PastRun) -> None:
    kept = {"spec.yaml": site.path, "lock.json": site.lock_path}
    changed = [
        path.name
        for name, path in kept.items()
        if not (Path(run.folder) / name).is_file()
        or not path.is_file()
        or read_text(Path(run.folder) / name) != read_text(path)
    ]
    if changed:
        raise GpuprovError(_changed(run, f"{' and '.join(changed)} changed since"))


def _changed(run: PastRun, what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-RUN-010",
        address=run.name,
        summary=f"the run cannot be gone on with: {what}",
        detail=f"what it was made from is kept in {run.folder}",
        hint="run `gpuprov up` without --resume: it looks at every host and makes a new plan from what it finds",
    )
