"""From requests to exact packages: the walk first, a search when it fails, reasons when nothing fits."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gpuprov.lock.candidates import Candidates, from_source, heads_of
from gpuprov.lock.clauses import build
from gpuprov.lock.equal import Head, check_sets, lie_diagnostic, member_of, two_origins
from gpuprov.lock.index import Index, Stanza
from gpuprov.lock.pool_input import EqualSet, Request
from gpuprov.lock.search import Impossible, search
from gpuprov.lock.walk import Walked, walk
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.version import Constraint, sort_key, upstream

_SHOWN: Final = 8
"""So many versions are listed in a message before it is cut."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """The whole closure of the requests, sorted by name."""

    chosen: tuple[Stanza, ...]
    heads: tuple[Head, ...] = ()
    """The version and source of each set of which a package was requested."""
    searched: bool = False
    """Whether the walk alone did not find it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """What to resolve."""

    index: Index
    requests: tuple[Request, ...]
    equal: tuple[EqualSet, ...] = ()
    prefer: Mapping[str, str] = field(default_factory=dict)
    """Versions of an earlier lock, by package."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """Requested names, each once, in order."""
        return tuple(dict.fromkeys(request.name for request in self.requests))


def resolve(problem: Problem) -> Resolution | tuple[Diagnostic, ...]:
    """Choose exact packages as apt would on an empty system; or say why there is no such choice."""
    candidates = _candidates(problem)
    wrong = [
        (request, found) for request in problem.requests if (found := _check_request(problem, candidates, request))
    ]
    if wrong:
        return _told_once(wrong)
    heads = heads_of(candidates, problem.equal)
    first = _candidates(problem, heads=heads)
    walked = walk(first, problem.wanted)
    if isinstance(walked, Walked):
        return _checked(problem, walked, heads, searched=False)
    return _search(problem, heads)


def _told_once(wrong: Sequence[tuple[Request, Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Tell one field's fault once: it may ask for one package twice, or for several."""
    different = {(found.code, found.summary): (request, found) for request, found in reversed(wrong)}
    groups: dict[tuple[str, str, str], list[tuple[Request, Diagnostic]]] = {}
    for request, found in reversed(different.values()):
        groups.setdefault((found.code, found.address, found.hint), []).append((request, found))
    told = []
    for (_, first), *others in groups.values():
        also = f"; the same for {', '.join(request.name for request, _ in others)}" if others else ""
        lines = dict.fromkeys(line for d in (first, *(d for _, d in others)) for line in d.detail.splitlines())
        told.append(replace(first, summary=first.summary + also, detail="\n".join(lines)))
    return tuple(told)


def _candidates(
    problem: Problem, heads: Sequence[Head] = (), only: Mapping[str, Stanza | None] | None = None
) -> Candidates:
    return Candidates(
        index=problem.index, requests=problem.requests, prefer=problem.prefer, heads=tuple(heads), only=only
    )


def _search(problem: Problem, heads: Sequence[Head]) -> Resolution | tuple[Diagnostic, ...]:
    unfiltered = Candidates(index=problem.index, requests=(), prefer=problem.prefer)
    clauses = build(unfiltered, problem.requests, problem.equal)
    answer = search(clauses, problem.wanted)
    if isinstance(answer, Impossible):
        return _impossible(problem, answer, heads)
    decided: dict[str, Stanza | None] = dict(answer.chosen)
    heads = heads_of(_candidates(problem, only=decided), problem.equal)
    # The walk again, for apt's choice among alternatives; the second time with nothing but the search's own answer.
    alone = {**dict.fromkeys(clauses.variables), **decided}
    stuck = ""
    for only in (decided, alone):
        found = walk(_candidates(problem, heads=heads, only=only), problem.wanted)
        if isinstance(found, Walked):
            return _checked(problem, found, heads, searched=True)
        stuck = found.reason
    raise AssertionError(f"the search's answer does not hold: {stuck}")


def _checked(
    problem: Problem, found: Walked, heads: Sequence[Head], *, searched: bool
) -> Resolution | tuple[Diagnostic, ...]:
    wrong = check_sets(found.chosen, heads, _address(problem, heads))
    return tuple(wrong) if wrong else Resolution(chosen=found.chosen, heads=tuple(heads), searched=searched)


def _address(problem: Problem, heads: Sequence[Head]) -> str:
    for head in heads:
        for request in problem.requests:
            if request.name == head.name:
                return request.address
    return ""


def _check_request(problem: Problem, candidates: Candidates, request: Request) -> Diagnostic | None:
    """Say what is wrong with one request before anything is chosen."""
    offered = problem.index.stanzas(request.name)
    if not offered:
        return _not_offered(problem, request)
    there = [s for s in offered if from_source(s.row, request.source)]
    if not there:
        return Diagnostic(
            code="GP-LOCK-001",
            address=request.address,
            summary=f"source {request.source} does not offer {request.name}",
            detail="Offered is:\n" + _listing(offered),
            hint="Name a source that offers it, or leave the source open.",
        )
    allowed = [s for s in there if Constraint.parse(request.constraint).allows(s.version)]
    if not allowed:
        lie = next((found for s in _newest_first(there) if (found := lie_diagnostic(s, request.address))), None)
        return lie or _no_version(request, there)
    if not candidates.of(request.name):
        asked = " and ".join(r.constraint or "any" for r in problem.requests if r.name == request.name)
        return Diagnostic(
            code="GP-LOCK-002",
            address=request.address,
            summary=f"{request.name} is asked for as {asked}, and no version is all of these",
            detail="Offered is:\n" + _listing(offered),
        )
    best = candidates.best(request.name)
    return lie_diagnostic(best, request.address) if best else None


def _not_offered(problem: Problem, request: Request) -> Diagnostic:
    providers = problem.index.providers(request.name)
    if providers:
        hint = f"No package has this name; it is provided by {', '.join(providers)}: ask for one of these."
    else:
        near = difflib.get_close_matches(request.name, problem.index.names(), n=3, cutoff=0.8)
        hint = f"Did you mean {' or '.join(near)}?" if near else "Add the source that offers it, or correct the name."
    return Diagnostic(
        code="GP-LOCK-001",
        address=request.address,
        summary=f"no source offers the package {request.name}",
        detail=f"{request.address} asks for {request.name} {request.constraint or '(any version)'}.",
        hint=hint,
    )


def _no_version(request: Request, there: Sequence[Stanza]) -> Diagnostic:
    return Diagnostic(
        code="GP-LOCK-002",
        address=request.address,
        summary=f"no version of {request.name} satisfies {request.constraint}",
        detail="Offered is:\n" + _listing(there),
        hint="Change the constraint, or add a source that offers such a version.",
    )


def _newest_first(stanzas: Sequence[Stanza]) -> list[Stanza]:
    return sorted(stanzas, key=lambda s: sort_key(s.version), reverse=True)


def _listing(stanzas: Sequence[Stanza]) -> str:
    ordered = _newest_first(stanzas)
    lines = [f"{s.name} {s.version} from {s.row.source}" for s in ordered[:_SHOWN]]
    more = len(ordered) - len(lines)
    return "\n".join([*lines, f"and {more} older"] if more > 0 else lines)


def _impossible(problem: Problem, answer: Impossible, heads: Sequence[Head]) -> tuple[Diagnostic, ...]:
    origin = _second_origin(problem, answer, heads)
    if origin is not None:
        return (origin,)
    asking = [r.name for r in answer.reasons if r.kind == "wanted"]
    names = [r.targets[0] for r in answer.reasons if r.kind == "wanted"]
    return (
        Diagnostic(
            code="GP-LOCK-003",
            address=asking[0] if asking else "",
            summary=_summary(names),
            detail="\n".join(answer.lines),
            hint="Loosen one of the requests named in the chain, or add a source that offers a fitting version.",
        ),
    )


def _summary(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    if len(unique) == 1:
        return f"{unique[0]} cannot be installed: something it needs is not to be had"
    return f"{', '.join(unique[:-1])} and {unique[-1]} cannot be installed together" if unique else "nothing fits"


def _second_origin(problem: Problem, answer: Impossible, heads: Sequence[Head]) -> Diagnostic | None:
    """GP-LOCK-007 when a member of a set would fit, but only from another source than the rest."""
    for reason in answer.reasons:
        for head in heads:
            members = [name for name in (reason.name, *reason.targets) if member_of(name, head.equal)]
            for name in members:
                offered = [s for s in problem.index.stanzas(name) if upstream(s.version) == head.upstream]
                if offered and all(s.row.source != head.source for s in offered):
                    listing = f"{head.name} {head.upstream} from {head.source}\n{_listing(offered)}"
                    detail = "\n".join([listing, *answer.lines])
                    return two_origins(head, detail, _address(problem, heads))
    return None
