"""What the differential tests share: the machine's whole OS archive for gpuprov and for apt, and requests from it."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from private_apt import Plan, PrivateApt, entry_of, make_apt

from gpuprov.lock.index import Index
from gpuprov.lock.pool_input import Request
from gpuprov.lock.resolve import Problem, Resolution, resolve
from gpuprov.sources.definition import SourceDefinition
from gpuprov.sources.index import SourceIndex, open_index
from gpuprov.sources.os_source import os_sources
from gpuprov.store.cache import cache_folder

COMPONENTS = ("main", "contrib", "non-free", "non-free-firmware")


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """One archive, as gpuprov and as apt read it."""

    index: SourceIndex
    apt: PrivateApt
    names: tuple[str, ...]


def os_name() -> str:
    """The OS of this machine, such as `debian-12`."""
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return f"{fields['ID']}-{fields['VERSION_ID'].strip(chr(34))}"


@contextmanager
def open_archive(folder: Path) -> Iterator[Archive]:
    """Fetch the archive of this machine's OS, whole, both ways."""
    sources = os_sources(os_name(), components=COMPONENTS)
    apt = apt_for(sources, folder)
    cache = cache_folder() / "sources"
    with open_index(sources, arch="amd64", cache=cache, now=datetime.now(UTC)) as index:
        yield Archive(index=index, apt=apt, names=tuple(index.names()))


def apt_for(sources: Sequence[SourceDefinition], folder: Path) -> PrivateApt:
    """This machine's apt, in a root that has just these sources."""
    folder.mkdir(parents=True, exist_ok=True)
    return make_apt(folder, [entry_of(source, folder) for source in sources])


def our_answer(index: Index, names: Sequence[str]) -> Resolution | None:
    """What gpuprov would install; None when it refuses."""
    requests = tuple(Request(name=name, constraint="", source="", address=name) for name in names)
    answer = resolve(Problem(index=index, requests=requests))
    return answer if isinstance(answer, Resolution) else None


def plan_of(answer: Resolution | None) -> Plan | None:
    """An answer in apt's form."""
    return {s.name: s.version for s in answer.chosen} if answer is not None else None


def their_plan(apt: PrivateApt, names: Sequence[str], answer: Resolution | None) -> tuple[Plan | None, bool]:
    """What apt would install for the same names.

    Returns:
        The plan; and whether apt gave up where gpuprov's search did not: then the plan is what apt makes of our rows.
    """
    theirs = apt.plan(names)
    if theirs is None and answer is not None and answer.searched:
        return apt.plan(closed(plan_of(answer) or {})), True
    return theirs, False


def our_plan(index: Index, names: Sequence[str]) -> Plan | None:
    """What gpuprov would install, in apt's form; None when it refuses."""
    return plan_of(our_answer(index, names))


def drawn(names: Sequence[str], seed: int, count: int) -> Iterator[tuple[str, ...]]:
    """Requests of one to five packages each."""
    source = random.Random(seed)  # noqa: S311 - a test's draw
    for _ in range(count):
        yield tuple(source.sample(names, source.randint(1, 5)))


def closed(plan: Plan) -> tuple[str, ...]:
    """Every row of a plan as apt takes it by name and version."""
    return tuple(f"{name}={version}" for name, version in sorted(plan.items()))


def difference(ours: Plan | None, theirs: Plan | None) -> str:
    """What differs between two plans, in words; empty when nothing does."""
    if ours is None or theirs is None:
        return "" if ours is theirs else f"{'gpuprov' if ours is None else 'apt'} refuses"
    sides = (("gpuprov", ours.items() - theirs.items()), ("apt", theirs.items() - ours.items()))
    return "; ".join(f"only {who}: {', '.join(sorted(map('='.join, rows)))}" for who, rows in sides if rows)
