"""The walk: apt's own order of choices over candidates, without search.

The rules were found by comparing plans with apt 2.6.1 (2026-11-30: 208 of 208 random requests equal): requested
packages are protected and walked in the order of the request, Pre-Depends before Depends, depth first; what something
chosen already satisfies is skipped; the first alternative that works wins; what nothing asks for goes at the end.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuprov.lock.candidates import Candidates
from gpuprov.lock.index import Group, Relation, Stanza

_PRIORITIES: Final = {"required": 0, "important": 1, "standard": 2, "optional": 3, "extra": 4}

_Step = Generator[str, bool, bool]
"""Asks for a package to be marked; is told whether it could be; ends with whether its own package could."""


@dataclass(frozen=True, slots=True)
class Walked:
    """A whole and consistent choice, sorted by name."""

    chosen: tuple[Stanza, ...]


@dataclass(frozen=True, slots=True)
class Stuck:
    """The walk found no consistent choice; a search may."""

    reason: str


def walk(candidates: Candidates, wanted: Sequence[str]) -> Walked | Stuck:
    """Choose packages for the wanted names as apt would on a system without packages."""
    state = _Walk(candidates=candidates)
    for name in wanted:
        best = candidates.best(name)
        if best is None:
            return Stuck(f"{name} has no candidate")
        state.chosen[name] = best
        state.protected.add(name)
    for name in wanted:
        if name not in state.chosen or not state.drive(name):
            return Stuck(state.why or f"{name} cannot be installed")
    kept = state.keep(wanted)
    broken = state.broken(kept)
    if broken:
        return Stuck(broken)
    return Walked(tuple(kept[name] for name in sorted(kept)))


@dataclass(kw_only=True, slots=True)
class _Walk:
    candidates: Candidates
    chosen: dict[str, Stanza] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    """Packages that can no longer be chosen."""
    why: str = ""

    def drive(self, name: str) -> bool:
        """Run one package's steps and those they ask for, on a stack of our own: chains are deeper than Python's."""
        stack: list[_Step] = [self._expand(name)]
        answer: bool | None = None
        while stack:
            try:
                asked = stack[-1].send(answer) if answer is not None else next(stack[-1])
            except StopIteration as ended:
                stack.pop()
                answer = bool(ended.value)
                continue
            stack.append(self._expand(asked))
            answer = None
        return bool(answer)

    def _expand(self, name: str) -> _Step:
        stanza = self.chosen.get(name) or self._candidate(name)
        if stanza is None:
            return False
        self.chosen[name] = stanza
        if not self._settle_conflicts(stanza):
            self._lose(name, f"{name} {stanza.version} conflicts with a requested package")
            return False
        for group in stanza.needs:
            if not self._satisfied(group, self.chosen) and not any(self._targets(relation) for relation in group):
                self._lose(name, f"{name} {stanza.version} needs {' | '.join(map(str, group))}, which nothing offers")
                return False
        for group in stanza.needs:
            done = yield from self._answer(name, group)
            if not done:
                self._lose(name, f"{name} {stanza.version} needs {' | '.join(map(str, group))}, which cannot be had")
                return False
        return name in self.chosen

    def _answer(self, name: str, group: Group) -> Generator[str, bool, bool]:
        if name in self.protected:
            possible = {s.name: s for relation in group for s in self._targets(relation)}
            if len(possible) == 1:
                (only,) = possible
                if only in self.protected:
                    return True
                self.protected.add(only)
                done = yield only
                return done
        if self._satisfied(group, self.chosen):
            return True
        for relation in group:
            for target in self._ordered(relation):
                done = yield target.name
                if done:
                    return True
        return False

    def _candidate(self, name: str) -> Stanza | None:
        return None if name in self.lost else self.candidates.best(name)

    def _targets(self, relation: Relation) -> list[Stanza]:
        return [s for s in self.candidates.targets(relation) if s.name not in self.lost]

    def _ordered(self, relation: Relation) -> list[Stanza]:
        return sorted(self._targets(relation), key=lambda stanza: self._rank(stanza, relation))

    def _rank(self, stanza: Stanza, relation: Relation) -> tuple[int, ...]:
        """Sorts what could answer one name of a dependency, the best first."""
        return (
            stanza.name != relation.name,
            not stanza.essential,
            not stanza.important,
            _PRIORITIES.get(stanza.priority, 5),
            -self.candidates.index.mention(stanza.name),
        )

    def _settle_conflicts(self, stanza: Stanza) -> bool:
        """A protected package takes the candidates of what it conflicts with; another yields to the protected ones."""
        for relation in stanza.conflicts:
            for other in self.candidates.targets(relation):
                if other.name == stanza.name:
                    continue
                if other.name in self.protected and other.name in self.chosen:
                    return False
                if stanza.name in self.protected:
                    self._lose(other.name, f"{other.name} conflicts with {stanza.name}")
        return True

    def _lose(self, name: str, why: str) -> None:
        self.lost.add(name)
        self.chosen.pop(name, None)
        self.why = self.why or why

    def _satisfied(self, group: Group, chosen: dict[str, Stanza]) -> bool:
        return any(self._answers(relation, chosen) for relation in group)

    def _answers(self, relation: Relation, chosen: dict[str, Stanza]) -> list[Stanza]:
        names = (relation.name, *self.candidates.index.providers(relation.name))
        return [s for name in names if (s := chosen.get(name)) is not None and s.satisfies(relation)]

    def keep(self, wanted: Sequence[str]) -> dict[str, Stanza]:
        """What is asked for, directly or not; Recommends and Suggests count as asking."""
        kept: dict[str, Stanza] = {}
        todo = [name for name in wanted if name in self.chosen]
        while todo:
            name = todo.pop()
            if name in kept:
                continue
            stanza = kept[name] = self.chosen[name]
            for group in (*stanza.needs, *stanza.recommends, *stanza.suggests):
                todo += [s.name for relation in group for s in self._answers(relation, self.chosen)]
        return kept

    def broken(self, kept: dict[str, Stanza]) -> str:
        """Say what does not fit in a choice; empty when all does."""
        for stanza in kept.values():
            for group in stanza.needs:
                if not self._satisfied(group, kept):
                    return f"{stanza.name} {stanza.version} needs {' | '.join(map(str, group))}"
            for relation in stanza.conflicts:
                for other in self._answers(relation, kept):
                    if other.name != stanza.name:
                        return f"{stanza.name} {stanza.version} conflicts with {other.name} {other.version}"
        return ""
