"""What a site holds in the cloud, by the spec's own names, as people and programs ask for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputHost:
    """A host that was made."""

    name: str
    pool: str
    instance: str
    """Instance id."""
    type: str
    image: str
    zone: str
    private_address: str
    public_address: str
    """Empty where it has none."""
    address: str
    """The one that gpuprov reaches it by."""
    user: str
    known_hosts: str
    """File that holds the host's verified key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """What was made, or the part of it that was asked for."""

    hosts: tuple[OutputHost, ...] = ()
    buckets: Mapping[str, str] = field(default_factory=dict)
    """Storage name -> bucket name."""
    volumes: Mapping[str, str] = field(default_factory=dict)
    """`STORAGE/HOST` -> volume id."""
