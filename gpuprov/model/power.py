"""Cloud hosts that are switched off and on, as values that app returns and render shows."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class PowerHost:
    """One host of the cloud, with the state of its instance."""

    name: str
    pool: str
    instance: str
    """The instance's id."""
    state: str
    """EC2's word: running, stopped and so on."""
    drained: str = ""
    """How work is taken off it before it stops, in words; empty where nothing does."""
    loses: bool = False
    """Whether it has local disks: what is on them does not outlive a stop."""
