"""What stands in the cloud for a spec, with its age and what it has cost, as `status` shows it."""

from dataclasses import dataclass

from gpuprov.model.cost import Spent


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudHost:
    """One instance of the stack."""

    name: str
    pool: str
    instance: str
    """Instance id."""
    type: str
    bought: str
    """on-demand, spot, capacity-block, reservation."""
    image: str
    """AMI id that it was started from."""
    zone: str
    state: str
    """EC2's word, such as running or stopped; `unknown` for one that EC2 does not know."""
    seconds: float | None
    """How long it has run since its last start; None when it does not run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudView:
    """The instances of a stack."""

    hosts: tuple[CloudHost, ...]
    spent: Spent
