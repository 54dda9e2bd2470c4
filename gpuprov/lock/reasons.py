"""Why a package moved from one lock to the next: what asks for it, forbids its old version, or let it go."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuprov.lock.candidates import from_source
from gpuprov.lock.equal import member_of
from gpuprov.lock.index import Group, Index, Stanza
from gpuprov.lock.kernel import KERNEL, kernel_names, kernel_requests
from gpuprov.lock.make import ALL
from gpuprov.lock.moves import PYTHON
from gpuprov.lock.pool_input import EqualSet, PoolInput, Request
from gpuprov.lock.types import Lock, LockedPool
from gpuprov.model.package import PackageRow
from gpuprov.model.version import Constraint, upstream


@dataclass(frozen=True, kw_only=True, slots=True)
class Reasons:
    """What the reasons are read from: both locks, what was asked, and what the sources offer."""

    before: Lock | None
    after: Lock
    upgrade: frozenset[str]
    """Names that were allowed to move; ALL for every one."""
    pools: Mapping[str, PoolInput]
    """What the new lock was made for, by pool."""
    indexes: Mapping[tuple[str, str], Index]
    memo: dict[str, "_Pool"] = field(default_factory=dict)

    def why(self, pool: str, name: str) -> str:
        """Say in a few words why a package of a pool came, went or moved; empty for a first lock."""
        if self.before is None:
            return ""
        old, new = self.before.pools.get(pool), self.after.pools.get(pool)
        if old is None or new is None:
            return "the pool is new" if old is None else "the pool is gone"
        if (old.os, old.arch) != (new.os, new.arch):
            return f"the pool has {new.os} on {new.arch} now"
        if name.startswith(PYTHON):
            return self._python(old, new, name)
        if pool not in self.memo:
            self.memo[pool] = _Pool.of(self, old, new)
        return self.memo[pool].why(name)

    def _python(self, old: LockedPool, new: LockedPool, name: str) -> str:
        plain = name.removeprefix(PYTHON)
        asked = [
            {r.name.partition("[")[0]: r for r in pool.frameworks.need.requests} if pool.frameworks else {}
            for pool in (old, new)
        ]
        was, now = (requests.get(plain) for requests in asked)
        if was != now:
            return f"stack.frameworks asks for {now.name}{now.specifier}" if now else "no longer asked for"
        before, after = (
            {p.name: p.version for p in pool.frameworks.packages} if pool.frameworks else {} for pool in (old, new)
        )
        if plain not in after:
            return "nothing needs it any more"
        if before.get(plain) == after[plain]:
            return "its index offers other files under it"
        return "--upgrade" if {ALL, plain} & self.upgrade else "follows the Python packages that are asked for"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pool:
    """One pool in both locks."""

    upgrade: frozenset[str]
    equal: tuple[EqualSet, ...]
    index: Index
    old: LockedPool
    new: LockedPool
    needs: tuple[tuple[Stanza, Group], ...]
    """Everything that the packages of the new lock need."""

    @classmethod
    def of(cls, reasons: Reasons, old: LockedPool, new: LockedPool) -> "_Pool":
        index = reasons.indexes[new.os, new.arch]
        stanzas = [stanza for row in new.packages if (stanza := _stanza(index, row)) is not None]
        return cls(
            upgrade=reasons.upgrade,
            equal=reasons.pools[new.pool].equal,
            index=index,
            old=old,
            new=new,
            needs=tuple((stanza, group) for stanza in stanzas for group in stanza.needs),
        )

    def why(self, name: str) -> str:
        was, now = (_row(pool, name) for pool in (self.old, self.new))
        asked = [request for request in _requests(self.new) if request.name == name]
        if now is None:
            return self._gone(name, asked_before=any(request.name == name for request in _requests(self.old)))
        if was is None:
            return self._came(now, asked)
        return (
            _forbidden(was, asked)
            or self._withdrawn(was)
            or self._released(name)
            or self._one_version(was, now)
            or self._needed(was)
            or "it fits what else moved"
        )

    def _gone(self, name: str, *, asked_before: bool) -> str:
        user = next((s for s, group in self.needs if group[0].name == name), None)
        if user is not None:
            return f"no longer pinned: {user.name} takes what the OS archive has"
        return "no longer asked for" if asked_before else "nothing needs it any more"

    def _came(self, now: PackageRow, asked: list[Request]) -> str:
        if asked:
            return f"{asked[0].address} asks for it"
        stanza = _stanza(self.index, now)
        users = [s for s, group in self.needs if stanza is not None and any(map(stanza.satisfies, group))]
        return f"needed by {users[0].name}" if users else "needed by packages of the OS archive"

    def _withdrawn(self, was: PackageRow) -> str:
        offered = [s.row for s in self.index.stanzas(was.name) if s.row.source == was.source]
        same = [row for row in offered if row.version == was.version]
        if not same:
            return f"{was.source} no longer offers {was.version}"
        return "" if any(row.sha256 == was.sha256 for row in same) else f"{was.source} offers another file under it"

    def _released(self, name: str) -> str:
        if {ALL, name} & self.upgrade:
            return "--upgrade"
        if KERNEL in self.upgrade and name in kernel_names(self.old.kernel):
            return f"--upgrade {KERNEL}"
        for each in self.equal:
            released = sorted(each.names & self.upgrade)
            if released and member_of(name, each):
                return f"--upgrade {released[0]}: the {each.label} set has one version"
        return ""

    def _one_version(self, was: PackageRow, now: PackageRow) -> str:
        for each in self.equal:
            floating = (
                each.driver and upstream(was.version) == self.old.driver and upstream(now.version) == self.new.driver
            )
            if member_of(was.name, each) or floating:
                return f"the {each.label} set has one version"
        return ""

    def _needed(self, was: PackageRow) -> str:
        """What is locked now and does not go with the old version."""
        old = _stanza(self.index, was)
        for stanza, group in self.needs:
            names = [relation for relation in group if relation.name == was.name]
            if names and old is not None and not any(map(old.satisfies, group)):
                return f"{stanza.name} {stanza.version} needs {names[0]}"
        return ""


def _requests(pool: LockedPool) -> tuple[Request, ...]:
    return (*pool.requests, *kernel_requests(pool.kernel, "stack.kernel"))


def _stanza(index: Index, row: PackageRow) -> Stanza | None:
    return next((s for s in index.stanzas(row.name) if s.row == row), None)


def _row(pool: LockedPool, name: str) -> PackageRow | None:
    return next((row for row in pool.packages if row.name == name), None)


def _forbidden(was: PackageRow, asked: list[Request]) -> str:
    for request in asked:
        if not Constraint.parse(request.constraint).allows(was.version):
            return f"{request.address} asks for {request.constraint}"
        if not from_source(was, request.source):
            return f"{request.address} asks for source {request.source}"
    return ""
