"""`--limit`: which hosts of an inventory a command is about."""

import difflib
import fnmatch
import re
from collections.abc import Mapping, Sequence

from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def apply_limit(hosts: Sequence[str], groups: Mapping[str, frozenset[str]], limit: str | None) -> tuple[str, ...]:
    """The hosts that a limit leaves, in the inventory's order.

    Args:
        hosts: all names.
        groups: group -> names.
        limit: names of hosts and groups between `,` or `:`, with `*` and `?`; `!name` takes away, `&name` keeps only
            what is also there. None leaves all.

    Raises:
        GpuprovError: GP-INV-004 for a name that is no host and no group.
    """
    if limit is None or not limit.strip():
        return tuple(hosts)
    terms = [t.strip() for t in re.split(r"[,:]", limit) if t.strip()]
    plain = [t for t in terms if t[0] not in "!&"]
    chosen = set().union(*(_names(t, hosts, groups) for t in plain)) if plain else set(hosts)
    for term in terms:
        if term.startswith("&"):
            chosen &= _names(term[1:], hosts, groups)
    for term in terms:
        if term.startswith("!"):
            chosen -= _names(term[1:], hosts, groups)
    return tuple(name for name in hosts if name in chosen)


def _names(term: str, hosts: Sequence[str], groups: Mapping[str, frozenset[str]]) -> set[str]:
    if term in groups:
        return set(groups[term])
    if term in hosts:
        return {term}
    found = {name for name in hosts if fnmatch.fnmatchcase(name, term)}
    for group, members in groups.items():
        if fnmatch.fnmatchcase(group, term):
            found |= members
    if not found:
        raise GpuprovError(unknown_name(term, [*hosts, *groups]))
    return found


def unknown_name(name: str, known: Sequence[str]) -> Diagnostic:
    """GP-INV-004 with the names that look alike."""
    alike = difflib.get_close_matches(name, known, n=3)
    return Diagnostic(
        code="GP-INV-004",
        address=name,
        summary=f"the inventory has no host or group {name!r}",
        hint=f"did you mean {' or '.join(alike)}?" if alike else "see them with: ansible-inventory --graph -i FILE",
    )
