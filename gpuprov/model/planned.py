"""A plan beside the snapshots it was made from."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpuprov.model.change import Plan
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.snapshot import NotObserved, Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """A plan, the snapshots it was made from, and the hosts of which there is none."""

    plan: Plan
    snapshots: Mapping[str, Snapshot]
    not_observed: Mapping[str, NotObserved]
    told: tuple[Diagnostic, ...] = ()
    """What is to be told of hosts that the plan changes, before the question."""
