"""Going back: the runs that a host keeps, which of them a rollback means, and whether one would be possible."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gpuprov.model.change import Change, HostPlan, Rollback
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.snapshot import Snapshot
from gpuprov.plan.packages import TRANSACTION
from gpuprov.want.owned import ARCHIVES

RUNS: Final = "gpuprov.runs"


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptRun:
    """A run as its host keeps it."""

    run: str
    number: int
    want: str
    """Digest of the host's want."""
    done: bool
    """Whether it came to its end there."""
    left: bool
    """Whether a rollback went back behind it."""


def kept_runs(snapshot: Snapshot) -> tuple[KeptRun, ...] | Unknown:
    """The runs that a host keeps, the oldest first; Unknown where nobody could look."""
    seen = snapshot.observe(RUNS)
    if isinstance(seen, Unknown):
        return seen
    if isinstance(seen, Absent) or not isinstance(seen.value, list):
        return ()
    owned = snapshot.observe("gpuprov.owned")
    complete = owned.value.get("want") if isinstance(owned, Known) and isinstance(owned.value, dict) else None
    return tuple(_run(row, complete) for row in seen.value if isinstance(row, dict))


def _run(row: Mapping[str, Any], complete: object) -> KeptRun:
    want = str(row["want"])
    return KeptRun(
        run=str(row["run"]),
        number=int(row["number"]),
        want=want,
        done=bool(row["done"]) or want == complete,
        left=bool(row["left"]),
    )


def chosen_run(runs: tuple[KeptRun, ...], to: str | None) -> KeptRun | None:
    """The run that a rollback means; None when the host has none such.

    Without a name it is the last complete one before the newest. A host that was brought back already stays where it
    is: the same command once more must not go further back, nor forward again.

    Args:
        runs: those of the host, the oldest first.
        to: name of a run.
    """
    if to is not None:
        return next((run for run in runs if run.run == to), None)
    earlier = runs if runs and runs[-1].left else runs[:-1]
    return next((run for run in reversed(earlier) if run.done and not run.left), None)


def rollback_of(changes: Iterable[Change], snapshot: Snapshot) -> Rollback | None:
    """Say which of the packages that a plan moves or removes the host keeps; None where it moves none that is there."""
    old = [(change.subject, change.before) for change in changes if change.action in TRANSACTION and change.before]
    if not old:
        return None
    seen = snapshot.observe(ARCHIVES)
    kept = seen.value if isinstance(seen, Known) and isinstance(seen.value, dict) else {}
    versions, size = kept.get("packages", {}), kept.get("bytes", 0)
    there = {(name, v) for name, found in _lists(versions).items() for v in found}
    return Rollback(
        kept=tuple(f"{name} {version}" for name, version in old if (name, version) in there),
        unseen=tuple(f"{name} {version}" for name, version in old if (name, version) not in there),
        size=size if isinstance(size, int) else 0,
    )


def _lists(value: object) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        return {}
    return {str(name): [str(v) for v in found] for name, found in value.items() if isinstance(found, list)}


def with_sight(plan: HostPlan, looked: Mapping[str, Any]) -> HostPlan:
    """A plan with what a look at the transaction on the host said of its old packages.

    Args:
        plan: the host's.
        looked: kept, fetch and lost packages, and the size of what is kept, as the module gives them; empty where it
            had nothing to say.
    """
    if not looked or plan.rollback is None:
        return plan
    names = {key: tuple(str(name) for name in looked.get(key, ())) for key in ("kept", "fetch", "lost")}
    # What is lost already is no package, and apt does not know of it.
    lost = (*plan.rollback.lost, *names["lost"])
    return replace(
        plan,
        rollback=Rollback(kept=names["kept"], fetched=names["fetch"], lost=lost, size=int(looked["bytes"])),
    )
