"""Packages that must have one version and one origin: the driver's set, the container toolkit's four."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gpuprov.lock.index import Stanza
from gpuprov.lock.pool_input import EqualSet
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.version import driver_branch, upstream

_RULE_SOURCE: Final = "NVIDIA Driver Installation Guide, version locking; seen 2026-11-30"
_BRANCH_IN_NAME: Final = re.compile(r"(?:nvidia|cuda-drivers|libnv|nvlink)[a-z0-9-]*?-([3-9][0-9]{2})(?=$|-)")
_DRIVER_FORM: Final = re.compile(r"[3-9][0-9]{2}\.[0-9]{2,3}(?:\.[0-9]{2})?")
_VENDOR_NAME: Final = re.compile(r"nvidia|cuda-drivers|libnv|nvlink|libcuda")


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """The version and origin that a set has, decided by one of its packages."""

    equal: EqualSet
    name: str
    upstream: str
    source: str


def member_of(name: str, equal: EqualSet) -> bool:
    """Whether a package is listed in a set."""
    return name in equal.names


def branch_in_name(name: str) -> int | None:
    """The driver branch that a package's name claims: 495 of `nvidia-driver-495`; None when it claims none."""
    found = _BRANCH_IN_NAME.search(name)
    return int(found[1]) if found else None


def lying_branch(name: str, version: str) -> tuple[int, int] | None:
    """The two branches, of name and of version, when they differ (report case A06)."""
    claimed = branch_in_name(name)
    if claimed is None or _DRIVER_FORM.fullmatch(upstream(version)) is None:
        return None
    actual = driver_branch(version)
    return None if claimed == actual else (claimed, actual)


def lie_diagnostic(stanza: Stanza, address: str) -> Diagnostic | None:
    """GP-LOCK-006 for a package whose name and version disagree about the branch."""
    lie = lying_branch(stanza.name, stanza.version)
    if lie is None:
        return None
    claimed, actual = lie
    return Diagnostic(
        code="GP-LOCK-006",
        address=address or stanza.name,
        summary=f"{stanza.name} is named after branch {claimed}, its version {stanza.version} is of branch {actual}",
        detail=f"Source {stanza.row.source} offers it. An archive turns the packages of a dead branch into "
        "transitional ones that install the next branch.",
        hint=f"Ask for branch {actual} if you want it, or for a branch that {stanza.row.source} still offers.",
    )


def check_sets(chosen: Sequence[Stanza], heads: Iterable[Head], address: str) -> list[Diagnostic]:
    """What is wrong with the sets in a finished choice: mixed versions, mixed origins, names that lie."""
    found = [lie for stanza in chosen if (lie := lie_diagnostic(stanza, address))]
    for head in heads:
        counted = [s for s in chosen if s.name not in head.equal.apart]
        members = [s for s in counted if member_of(s.name, head.equal) or (head.equal.driver and _like_driver(s, head))]
        found += _check_set(members, head, address)
    return found


def _like_driver(stanza: Stanza, head: Head) -> bool:
    """Whether a package that no list names is a driver package by its name and the form of its version."""
    part = upstream(stanza.version)
    if part == head.upstream:
        return True
    if _VENDOR_NAME.search(stanza.name) is None or _DRIVER_FORM.fullmatch(part) is None:
        return False
    return _DRIVER_FORM.fullmatch(head.upstream) is not None and driver_branch(part) == driver_branch(head.upstream)


def _check_set(members: list[Stanza], head: Head, address: str) -> list[Diagnostic]:
    listing = "\n".join(f"{s.name} {s.version} from {s.row.source}" for s in members)
    if any(upstream(s.version) != head.upstream for s in members):
        odd = next(s for s in members if upstream(s.version) != head.upstream)
        return [
            Diagnostic(
                code="GP-RULE-007",
                address=address or odd.name,
                summary=f"{odd.name} would be {upstream(odd.version)}, the {head.equal.label} set is {head.upstream}",
                detail=listing,
                hint=f"Choose a version that every package of the set is offered in; {head.name} decides it.",
                source=_RULE_SOURCE,
            )
        ]
    if len({s.row.source for s in members}) > 1:
        return [two_origins(head, listing, address)]
    return []


def two_origins(head: Head, listing: str, address: str) -> Diagnostic:
    """GP-LOCK-007: one set, several sources; the listing names the source of every package."""
    return Diagnostic(
        code="GP-LOCK-007",
        address=address or head.name,
        summary=f"the {head.equal.label} set {head.upstream} would come from several sources",
        detail=listing,
        hint="Name one source for the driver (stack.driver.source) that offers the whole set.",
        source=_RULE_SOURCE,
    )
