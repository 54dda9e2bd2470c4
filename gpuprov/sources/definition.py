"""A package source as it is defined, before anything is fetched; and the same as the lock records it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuprov.lock.types import LockedSource
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.keys import armoured, fingerprints, read_keys
from gpuprov.sources.redact import without_credentials


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceDefinition:
    """One apt repository: one suite with its components, or one flat folder."""

    name: str
    """Name in the spec or catalog; suites of the OS archive are called `os/bookworm`, `os/bookworm-updates`."""
    url: str = field(repr=False)
    """Root of the repository: http, https or file; it may hold a user and password, which are never shown."""
    suite: str
    """Suite, or the path of a flat repository below the root, ending in `/`."""
    components: tuple[str, ...]
    """Empty for a flat repository."""
    keys: bytes = field(repr=False)
    """Public keys that may sign it, armoured or binary, one or several."""
    on_host: bool
    """Whether gpuprov writes this source on the hosts; False for the OS archive as the host has it."""
    priority: int | None = None
    """apt's pin priority; None takes what the repository's Release asks for (500, or 100 for backports)."""
    keyring: str = ""
    """Path on the hosts of the OS's own keyring; empty where gpuprov writes the key itself."""
    check_valid_until: bool = True
    """Whether an expired index is refused; False only where the machine's own apt is told so."""

    excepted_keys: frozenset[str] = frozenset()
    """Fingerprints, in capitals, of keys that the catalog knows to have weak self-signatures on this system."""

    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Proxy for each scheme, as the machine's apt has them; empty takes those of the environment."""

    @property
    def flat(self) -> bool:
        """Whether the repository has no suites and components."""
        return self.suite.endswith("/")


def locked(definition: SourceDefinition, selector: str = "") -> LockedSource:
    """The source as the lock records it: without credentials, with the fingerprints of its keys.

    Of the OS archive only name and suite are recorded: each machine reaches it through a mirror of its own, and a lock
    must be the same whoever makes it.

    Args:
        definition: the source.
        selector: what its Release calls it; needed where it has a priority of its own.

    Raises:
        GpuprovError: GP-SRC-006 when the keys cannot be read; GP-SRC-010 when hosts could not be told its priority.
    """
    if definition.priority is not None and not selector:
        raise GpuprovError(_nameless(definition.name))
    certs = read_keys(definition.keys, definition.name)
    if not definition.on_host:
        return LockedSource(
            name=definition.name, url="", suite=definition.suite, components=(), fingerprints=(), on_host=False
        )
    return LockedSource(
        name=definition.name,
        url=without_credentials(definition.url),
        suite=definition.suite,
        components=definition.components,
        fingerprints=fingerprints(certs),
        on_host=True,
        key_text=armoured(certs),
        keyring=definition.keyring,
        priority=definition.priority,
        selector=selector if definition.priority is not None else "",
    )


def _nameless(source: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-010",
        address=f"sources.{source}.priority",
        summary=f"source {source} cannot have a priority: its Release names neither Origin, Label, Suite nor Codename",
        detail="apt on a host could not tell its packages from those of another source.",
        hint="Take the priority away, or have the repository's Release say what it is.",
    )
