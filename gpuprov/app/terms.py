"""What the user agrees to beforehand for hosts that would else be refused."""

from dataclasses import dataclass

from gpuprov.spec.types import Spec


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What may be done to hosts beside the plain plan."""

    take_over: bool = False
    """Packages of another origin go, where the stack takes their place."""
    disturb: bool = False
    """Who uses the GPUs now may be ended."""
    no_rollback: bool = False
    """Hosts whose old packages no source has are changed too: there is no way back to these."""
    drained: frozenset[str] = frozenset()
    """Pools whose hosts are rid of their work first."""


def terms_of(spec: Spec, *, take_over: bool, disturb: bool, no_rollback: bool) -> Terms:
    """The terms of a run: the command line's, and the spec's drains."""
    drained = frozenset(name for name, pool in spec.pools.items() if pool.rollout.drain is not None)
    return Terms(take_over=take_over, disturb=disturb, no_rollback=no_rollback, drained=drained)
