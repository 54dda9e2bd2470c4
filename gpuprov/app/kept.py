"""What hosts keep of their runs, read from them: any controller can bring a host back, whoever changed it."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuprov.app.keeping import Back
from gpuprov.converge.types import RunDocuments
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.fact import Unknown
from gpuprov.model.host import Host
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.plan.rollback import KeptRun, chosen_run, kept_runs
from gpuprov.transport.pool import run_on_all
from gpuprov.transport.protocol import Transport
from gpuprov.transport.ssh import connect
from gpuprov.want.access import with_access_of
from gpuprov.want.host import host_want
from gpuprov.want.read import read_want
from gpuprov.want.types import HostWant

_FOLDER: Final = "/var/lib/gpuprov/runs"
_SECONDS: Final = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """Where one host goes back to."""

    host: Host
    """With the pool that its want names."""
    want: HostWant
    back: Back
    spec: str
    """The spec of the newest run there: how its hosts are to be changed now."""


def read_kept(
    hosts: Sequence[Host], seen: Mapping[str, Snapshot | NotObserved], to: str | None, *, forks: int
) -> tuple[tuple[Kept, ...], dict[str, NotObserved]]:
    """Read from each host the run that it goes back to.

    Args:
        hosts: which.
        seen: a look at them.
        to: name of a run; None takes the last complete one before the newest.
        forks: hosts at the same time.

    Returns:
        What was read, and the hosts that have nothing to go back to or could not be asked, each with the reason.
    """

    def read(host: Host) -> Kept | NotObserved:
        found = seen[host.name]
        if isinstance(found, NotObserved):
            return found
        runs = kept_runs(found)
        if isinstance(runs, Unknown):
            return NotObserved(host=host.name, code="GP-BACK-003", reason=f"its runs cannot be seen: {runs.reason}")
        run = chosen_run(runs, to)
        if run is None:
            return _nothing(host, runs, to)
        try:
            return _read(host, run, runs[-1])
        except GpuprovError as error:
            told = error.diagnostics[0]
            return NotObserved(host=host.name, code=told.code, reason=told.summary, detail=told.detail, hint=told.hint)

    results = run_on_all(hosts, read, limit=forks)
    kept = tuple(result for result in results if isinstance(result, Kept))
    return kept, {result.host: result for result in results if isinstance(result, NotObserved)}


def _nothing(host: Host, runs: tuple[KeptRun, ...], to: str | None) -> NotObserved:
    lines = [
        f"{run.run}{'' if run.done else ' (not complete)'}{' (left by a rollback)' if run.left else ''}" for run in runs
    ]
    what = f"no run `{to}`" if to is not None else "no run before its newest one"
    return NotObserved(
        host=host.name,
        code="GP-BACK-002",
        reason=f"the host keeps {what}",
        detail="\n".join(["it keeps:", *lines]) if runs else "it keeps none: gpuprov never changed it",
        hint="name one of its runs with --to; `gpuprov destroy` hands a host back" if runs else "",
    )


def _read(host: Host, run: KeptRun, newest: KeptRun) -> Kept:
    transport = connect(host.connection)
    try:
        text = _file(transport, run, "want.json")
        documents = RunDocuments(spec=_file(transport, run, "spec.yaml"), lock=_file(transport, run, "lock.json"))
        spec, now = _file(transport, newest, "spec.yaml"), _file(transport, newest, "want.json")
    finally:
        transport.close()
    want = read_want(text, host.name)
    if want.digest != run.want:
        raise GpuprovError(_broken(host.name, f"the want of run {run.run} is not the one that its record names"))
    pool = with_access_of(want.pool, read_want(now, host.name).pool)
    if pool is not want.pool or want.host != host.name:  # another controller may call it by another name
        want = host_want(pool, host.name)
    return Kept(
        host=replace(host, pool=want.pool.pool),
        want=want,
        back=Back(run=run.run, documents=documents),
        spec=spec,
    )


def _file(transport: Transport, run: KeptRun, name: str) -> str:
    """The text of a kept document; empty for one that the run did not have."""
    path = f"{_FOLDER}/{run.run}/{name}"
    outcome = transport.run(f"cat {shlex.quote(path)}", timeout=_SECONDS, root=True)
    if outcome.status == 0:
        return outcome.stdout.decode("utf-8", "replace")
    said = outcome.stderr.decode(errors="replace").strip()
    if "No such file" in said and name != "want.json":
        return ""
    raise GpuprovError(_broken(transport.host, f"{path} cannot be read: {said}"))


def _broken(host: str, summary: str) -> Diagnostic:
    return Diagnostic(code="GP-BACK-003", address=host, summary=summary, hint="go back to another run with --to")
