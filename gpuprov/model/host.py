"""Hosts: a name, a pool, and how to reach it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Become:
    """How to become root on a host."""

    enabled: bool = True
    method: str = "sudo"
    user: str = "root"
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """How to reach one host; both transport and converge honour every field."""

    host: str
    """The inventory's name of the host; it is the name in every report."""
    address: str
    """Host name, address, or an alias of the ssh client configuration."""
    kind: str = "ssh"
    """`ssh`, or `local` for this machine itself (`ansible_connection=local`)."""
    port: int = 22
    """22 stands for "not given": the ssh client configuration may then name another."""
    user: str | None = None
    key_file: str | None = None
    password: str | None = field(default=None, repr=False)
    known_hosts: tuple[str, ...] = ()
    """Files to check the host's key against; empty means the user's and the system's own."""
    jump: tuple["Connection", ...] = ()
    """Hosts to go through, in order."""
    ssh_config: str | None = None
    """Path of an ssh client configuration; None means the user's own."""
    use_agent: bool = True
    identities_only: bool = False
    """Try only the keys that are named, in a file or by the ssh configuration (IdentitiesOnly)."""
    connect_timeout: float = 10.0
    """Seconds."""
    become: Become = field(default_factory=Become)
    python: str | None = None
    """ansible_python_interpreter, for converge only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """A host of a pool."""

    name: str
    pool: str
    target: str
    """`onprem` or `cloud`."""
    connection: Connection
    groups: tuple[str, ...] = ()
    variables: Mapping[str, object] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)
    """Storage that was made in the cloud -> where this host finds it: path of a device, or SERVER:EXPORT."""
