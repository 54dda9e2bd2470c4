"""What hosts keep of a run so that it can be taken back, or the run that they go back to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpuprov.converge.types import Keeping, RunDocuments
from gpuprov.model.address import split_address
from gpuprov.model.change import Action
from gpuprov.model.snapshot import Snapshot
from gpuprov.plan.rollback import kept_runs
from gpuprov.rollout.types import Target
from gpuprov.want.found import found_want
from gpuprov.want.owned import owned_of
from gpuprov.want.types import HostWant, Owned

_GOING = frozenset({Action.REMOVE, Action.TAKE_OVER})


@dataclass(frozen=True, kw_only=True, slots=True)
class Back:
    """The run that one host goes back to, with its own documents."""

    run: str
    documents: RunDocuments


@dataclass(frozen=True, kw_only=True, slots=True)
class Keep:
    """The rollback side of a run."""

    required: bool = True
    """Whether a host is left alone where a rollback would not be possible."""
    back: Mapping[str, Back] = field(default_factory=dict)
    """Host -> what it goes back to; empty for a step forward."""


def keeping_of(
    keep: Keep | None, targets: Sequence[Target], snapshots: Mapping[str, Snapshot], run: str
) -> dict[str, Keeping]:
    """What each host keeps; empty where the run keeps nothing.

    Args:
        keep: None for a run that keeps nothing: of an image, or a hand-back.
        targets: the hosts.
        snapshots: of before the run.
        run: its name.
    """
    if keep is None:
        return {}
    return {target.host.name: _keeping(keep, target, snapshots[target.host.name], run) for target in targets}


def _keeping(keep: Keep, target: Target, snapshot: Snapshot, run: str) -> Keeping:
    back = keep.back.get(target.host.name)
    return Keeping(
        run=run,
        want=target.want,
        found=_found(target, snapshot) if back is None else None,
        required=keep.required,
        restore=back.run if back is not None else "",
        documents=back.documents if back is not None else None,
    )


def _found(target: Target, snapshot: Snapshot) -> HostWant | None:
    """The host as it is, which only its first run has to keep."""
    if kept_runs(snapshot) != ():
        return None
    owned = owned_of(snapshot)
    going = {
        change.subject
        for change in target.plan.changes
        if change.action in _GOING and (split_address(change.address) or ("",))[0] == "package"
    }
    return found_want(target.want, snapshot, owned if isinstance(owned, Owned) else Owned(), going)
