"""The closure of requests as clauses, in groups that a person can follow; no solver in here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gpuprov.lock.candidates import Candidates, from_source
from gpuprov.lock.equal import member_of
from gpuprov.lock.index import Group, Relation, Stanza
from gpuprov.lock.pool_input import EqualSet, Request
from gpuprov.model.version import Constraint, upstream


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why a group of clauses is there: one sentence over all versions that share it."""

    kind: str
    """`wanted`, `needs`, `conflicts` or `equal`."""
    name: str
    """The package that asks."""
    text: str
    """What is asked for: `nv-driver (<< 585)`."""
    targets: tuple[str, ...] = ()
    """Names that the reason leads to."""


@dataclass(kw_only=True, slots=True)
class Clauses:
    """Variables for every version in the closure, and clauses grouped by reason."""

    candidates: Candidates
    variables: dict[str, list[tuple[Stanza, int]]] = field(default_factory=dict)
    """For each package its versions, best first, with their variables."""
    hard: list[list[int]] = field(default_factory=list)
    """At most one version of a package."""
    groups: dict[Reason, list[list[int]]] = field(default_factory=dict)
    versions: dict[Reason, list[str]] = field(default_factory=dict)
    """Versions of the asking package that share a reason."""
    last: int = 0

    def new(self) -> int:
        """A fresh variable."""
        self.last += 1
        return self.last

    def add(self, reason: Reason, clause: list[int], version: str = "") -> None:
        """Add a clause under a reason."""
        self.groups.setdefault(reason, []).append(clause)
        if version:
            known = self.versions.setdefault(reason, [])
            if version not in known:
                known.append(version)


def build(candidates: Candidates, requests: Sequence[Request], equal: Sequence[EqualSet]) -> Clauses:
    """Write down everything that a choice for the requests must satisfy.

    Args:
        candidates: without the requests' own constraints: those become clauses, so that a reason can name them.
        requests: what is asked for.
        equal: sets of one version.
    """
    clauses = Clauses(candidates=candidates)
    wanted = list(dict.fromkeys(request.name for request in requests))
    _closure(clauses, wanted)
    for name, versions in clauses.variables.items():
        _at_most_one(clauses, [variable for _, variable in versions])
        for stanza, variable in versions:
            for group in stanza.needs:
                _needs(clauses, name, stanza, variable, group)
            for relation in stanza.conflicts:
                _conflicts(clauses, stanza, variable, relation)
    for request in requests:
        _wanted(clauses, request)
    for each in equal:
        _equal(clauses, each, wanted)
    return clauses


def _wanted(clauses: Clauses, request: Request) -> None:
    text = f"{request.name} {request.constraint}".strip() + (f" from {request.source}" if request.source else "")
    reason = Reason(kind="wanted", name=request.address or "the request", text=text, targets=(request.name,))
    constraint = Constraint.parse(request.constraint)
    allowed = []
    for stanza, variable in clauses.variables.get(request.name, ()):
        if from_source(stanza.row, request.source) and constraint.allows(stanza.version):
            allowed.append(variable)
            clauses.versions.setdefault(reason, []).append(stanza.version)
        else:
            clauses.add(reason, [-variable])
    clauses.add(reason, allowed)


def _closure(clauses: Clauses, wanted: Sequence[str]) -> None:
    todo = list(wanted)
    for name in todo:  # grows while it is read
        if name in clauses.variables:
            continue
        found = clauses.candidates.of(name)
        clauses.variables[name] = [(stanza, clauses.new()) for stanza in found]
        for relation in dict.fromkeys(r for stanza in found for group in stanza.needs for r in group):
            todo += [relation.name, *clauses.candidates.index.providers(relation.name)]


def _answers(clauses: Clauses, relation: Relation) -> list[tuple[Stanza, int]]:
    names = (relation.name, *clauses.candidates.index.providers(relation.name))
    return [
        (stanza, variable)
        for name in names
        for stanza, variable in clauses.variables.get(name, ())
        if stanza.satisfies(relation)
    ]


def _at_most_one(clauses: Clauses, variables: list[int]) -> None:
    """Sequential encoding: about three clauses a version, where pairs would take the square."""
    if not variables:
        return
    before = variables[0]
    for variable in variables[1:]:
        seen = clauses.new()
        clauses.hard += [[-before, -variable], [-before, seen], [-variable, seen]]
        before = seen


def _needs(clauses: Clauses, name: str, stanza: Stanza, variable: int, group: Group) -> None:
    answers = [(other, v) for relation in group for other, v in _answers(clauses, relation)]
    if any(v == variable for _, v in answers):
        return  # it provides what it needs
    targets = tuple(dict.fromkeys([relation.name for relation in group] + [other.name for other, _ in answers]))
    reason = Reason(kind="needs", name=name, text=_group_text(group, stanza), targets=targets)
    clauses.add(reason, [-variable, *(v for _, v in answers)], stanza.version)


def _group_text(group: Group, stanza: Stanza) -> str:
    """A dependency as text; a bound that is the package's own version reads the same for all its versions."""
    own = {stanza.version, upstream(stanza.version)}
    return " | ".join(
        f"{r.name} ({r.relation} the same version)" if r.relation and r.version in own else str(r) for r in group
    )


def _conflicts(clauses: Clauses, stanza: Stanza, variable: int, relation: Relation) -> None:
    for other, v in _answers(clauses, relation):
        if other.name != stanza.name:
            text = str(relation) if other.name == relation.name else f"{relation}, which {other.name} provides"
            reason = Reason(kind="conflicts", name=stanza.name, text=text, targets=(other.name,))
            clauses.add(reason, [-variable, -v], stanza.version)


def _equal(clauses: Clauses, each: EqualSet, wanted: Iterable[str]) -> None:
    """One upstream version and one source for all packages of a set that are chosen."""
    heads = [name for name in wanted if member_of(name, each)]
    if not heads:
        return
    listed = [name for name in clauses.variables if member_of(name, each)]
    offered = [_key(stanza) for name in listed for stanza, _ in clauses.variables[name]]
    of_head = {_key(stanza) for stanza, _ in clauses.variables.get(heads[0], ())}
    decided = {key: clauses.new() for key in dict.fromkeys(offered)}
    _at_most_one(clauses, list(decided.values()))
    text = f"the {each.label} set has one version from one source, that of {heads[0]}"
    for name, versions in clauses.variables.items():
        keys = {_key(stanza) for stanza, _ in versions}
        floating = each.driver and not member_of(name, each) and bool(keys & of_head)
        if name not in listed and not floating:
            continue
        reason = Reason(kind="equal", name=name, text=text, targets=(heads[0],))
        for stanza, variable in versions:
            if not floating:
                clauses.add(reason, [-variable, decided[_key(stanza)]], stanza.version)
                continue
            for other in sorted(keys & of_head):
                if other != _key(stanza):
                    clauses.add(reason, [-variable, -decided[other]], stanza.version)


def _key(stanza: Stanza) -> tuple[str, str]:
    return upstream(stanza.version), stanza.row.source
