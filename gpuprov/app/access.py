"""How the user wants hosts to be reached in this run."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """What the command line says about hosts, besides what spec and inventory say."""

    inventory: str | None = None
    """Path of an Ansible inventory; None takes the spec's."""
    limit: str | None = None
    """Hosts or groups, separated by commas; None takes all."""
    become_password: str | None = field(default=None, repr=False)
    """For hosts whose inventory gives none."""
    vault_password_file: str | None = None
    forks: int = 32
    """Hosts looked at at the same time."""
    probe_seconds: float = 60.0
    """Time limit of one host's probe."""
