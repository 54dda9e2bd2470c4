"""Each rule of the walk is needed: without it the exact test fails, on a request that is looked for and put to apt.

A request is found on which the walk and the walk without the rule differ, among drawn requests of the real archive or,
for what these never reach, among the small cases; apt must side with the walk.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest
from differential import Archive, drawn
from private_apt import Plan, PrivateApt
from small_choices import small_choices

from gpuprov.lock import walk as walking
from gpuprov.lock.candidates import Candidates
from gpuprov.lock.index import Group, Index, Relation, Stanza
from gpuprov.model.version import sort_key

DRAWS = 20
SMALL = small_choices()

pytestmark = [pytest.mark.network, pytest.mark.timeout(300)]

Walk = walking._Walk
Change = Callable[[Stanza], Stanza]


@dataclass(kw_only=True, slots=True)
class Changed:
    """An Index of which every stanza is changed, and then perhaps only some are left."""

    index: Index
    change: Change = lambda stanza: stanza
    choose: Callable[[Sequence[Stanza]], Sequence[Stanza]] = lambda stanzas: stanzas
    memo: dict[str, Sequence[Stanza]] = field(default_factory=dict)

    def stanzas(self, name: str) -> Sequence[Stanza]:
        if name not in self.memo:
            self.memo[name] = self.choose([self.change(stanza) for stanza in self.index.stanzas(name)])
        return self.memo[name]

    def providers(self, name: str) -> Sequence[str]:
        return self.index.providers(name)

    def mention(self, name: str) -> int:
        return self.index.mention(name)

    def names(self) -> Sequence[str]:
        return self.index.names()


def _backwards(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    return tuple(group[::-1] for group in groups)


def _oldest(stanzas: Sequence[Stanza]) -> Sequence[Stanza]:
    return sorted(stanzas, key=lambda stanza: sort_key(stanza.version))[:1]


class Everything(Walk):
    """What nothing asks for stays."""

    def keep(self, wanted: Sequence[str]) -> dict[str, Stanza]:
        return dict(self.chosen)


class Unsatisfied(Walk):
    """What something chosen already satisfies is asked for again."""

    def _satisfied(self, group: Group, chosen: dict[str, Stanza]) -> bool:
        return chosen is not self.chosen and Walk._satisfied(self, group, chosen)


class Unprotected(Walk):
    """The only answer to a requested package's dependency is as good as any other."""

    def _answer(self, name: str, group: Group) -> Iterator[str]:  # type: ignore[override]
        return Walk._answer(self, "", group)


class Stubborn(Walk):
    """Only the first alternative is tried."""

    def _answer(self, name: str, group: Group) -> Iterator[str]:  # type: ignore[override]
        return Walk._answer(self, name, group[:1])


class Peaceful(Walk):
    """A requested package does not take the candidates of what it conflicts with."""

    def _settle_conflicts(self, stanza: Stanza) -> bool:
        return True


def _without(part: int) -> type[Walk]:
    """A walk that does not look at one part of the rank."""

    class Unranked(Walk):
        def _rank(self, stanza: Stanza, relation: Relation) -> tuple[int, ...]:
            rank = Walk._rank(self, stanza, relation)
            return (*rank[:part], *rank[part + 1 :])

    return Unranked


class Earliest(Walk):
    """Of equals the one that is mentioned first."""

    def _rank(self, stanza: Stanza, relation: Relation) -> tuple[int, ...]:
        rank = Walk._rank(self, stanza, relation)
        return (*rank[:-1], -rank[-1])


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutation:
    """A way to choose that lacks one rule."""

    walk: type[Walk] = Walk
    change: Change = lambda stanza: stanza
    choose: Callable[[Sequence[Stanza]], Sequence[Stanza]] = lambda stanzas: stanzas
    backwards: bool = False
    """Whether the request is read from its end."""

    def plan(self, index: Index, names: Sequence[str]) -> Plan | None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(walking, "_Walk", self.walk)
            candidates = Candidates(index=index, requests=())
            found = walking.walk(candidates, names[::-1] if self.backwards else names)
        return {s.name: s.version for s in found.chosen} if isinstance(found, walking.Walked) else None


MUTATIONS = {
    "the last alternative first": Mutation(
        change=lambda s: replace(s, depends=_backwards(s.depends), pre_depends=_backwards(s.pre_depends))
    ),
    "dependencies from the last to the first": Mutation(change=lambda s: replace(s, depends=s.depends[::-1])),
    "Pre-Depends after Depends": Mutation(change=lambda s: replace(s, depends=s.pre_depends, pre_depends=s.depends)),
    "Recommends keep nothing": Mutation(change=lambda s: replace(s, recommends=())),
    "Suggests keep nothing": Mutation(change=lambda s: replace(s, suggests=())),
    "the version before the pin's priority": Mutation(change=lambda s: replace(s, pin=500)),
    "the oldest version": Mutation(choose=_oldest),
    "the request from its end": Mutation(backwards=True),
    "leftovers stay": Mutation(walk=Everything),
    "what is there already is asked for again": Mutation(walk=Unsatisfied),
    "a single answer is not protected": Mutation(walk=Unprotected),
    "only the first alternative": Mutation(walk=Stubborn),
    "a requested package yields in a conflict": Mutation(walk=Peaceful),
    "the real name is not preferred": Mutation(walk=_without(0)),
    "Essential is not preferred": Mutation(walk=_without(1)),
    "Important is not preferred": Mutation(walk=_without(2)),
    "Priority does not count": Mutation(walk=_without(3)),
    "ties by name": Mutation(walk=_without(4)),
    "ties by the earlier mention": Mutation(walk=Earliest),
}


@pytest.fixture(scope="module")
def small_apt(tmp_path_factory: pytest.TempPathFactory) -> PrivateApt:
    """An apt whose sources hold the small cases."""
    return SMALL.apt(tmp_path_factory.mktemp("choices"))


@pytest.fixture(scope="module")
def real(archive: Archive) -> list[tuple[tuple[str, ...], Plan]]:
    """Drawn requests of the real archive that have a plan, with it."""
    plans = [(request, Mutation().plan(archive.index, request)) for request in drawn(archive.names, 3, DRAWS)]
    return [(request, plan) for request, plan in plans if plan is not None]


@pytest.mark.parametrize("name", MUTATIONS)
def test_without_a_rule_the_exact_test_fails(
    name: str, archive: Archive, real: list[tuple[tuple[str, ...], Plan]], small_apt: PrivateApt
) -> None:
    mutation = MUTATIONS[name]
    index = Changed(index=archive.index, change=mutation.change, choose=mutation.choose)
    for request, plan in real:
        if mutation.plan(index, request) != plan:
            assert archive.apt.plan(request) == plan, request
            return
    small = SMALL.index()
    index = Changed(index=small, change=mutation.change, choose=mutation.choose)
    for prefix in SMALL.cases:
        request, plan = SMALL.request(prefix), Mutation().plan(small, SMALL.request(prefix))
        if mutation.plan(index, request) != plan:
            assert small_apt.simulate("install", *request) == plan, request
            return
    pytest.fail("no request tells the walk from the walk without this rule")
