"""The search: a SAT solver chooses versions where the walk could not, or says by what few reasons none fit together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol, Self

from gpuprov.lock.clauses import Clauses, Reason
from gpuprov.lock.index import Stanza
from gpuprov.model.version import sort_key

_FEW: Final = 2
"""Up to so many versions are listed; more become a range."""


@dataclass(frozen=True, slots=True)
class Found:
    """Versions that fit together, by package."""

    chosen: dict[str, Stanza]


@dataclass(frozen=True, slots=True)
class Impossible:
    """A minimal set of reasons that no choice can satisfy, as lines in the order of their chain."""

    reasons: tuple[Reason, ...]
    lines: tuple[str, ...]


class _Solver(Protocol):
    """What is used of python-sat's solver, which has no types."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def add_clause(self, clause: list[int]) -> None: ...
    def solve(self, assumptions: list[int]) -> bool: ...
    def get_model(self) -> list[int]: ...
    def get_core(self) -> list[int] | None: ...


def _solver() -> _Solver:
    # Imported only when the walk failed: most locks need no search.
    from pysat.solvers import Solver  # noqa: PLC0415

    solver: _Solver = Solver(name="glucose4")
    return solver


def search(clauses: Clauses, wanted: Sequence[str]) -> Found | Impossible:
    """Choose versions: the best for each wanted name in order, then the best for everything else they bring."""
    with _solver() as solver:
        for clause in clauses.hard:
            solver.add_clause(clause)
        selectors: dict[int, Reason] = {}
        for reason, group in clauses.groups.items():
            selector = clauses.new()
            selectors[selector] = reason
            for clause in group:
                solver.add_clause([-selector, *clause])
        fixed = list(selectors)
        if not solver.solve(fixed):
            return _explain(clauses, _minimal(solver, selectors))
        return Found(_improve(solver, clauses, wanted, fixed))


def _improve(solver: _Solver, clauses: Clauses, wanted: Sequence[str], fixed: list[int]) -> dict[str, Stanza]:
    """Take the best version of one package after the other, in the order in which they are needed."""
    model = set(solver.get_model())
    decided: set[str] = set()
    reached = _reached(clauses, wanted, model)
    while (name := next((n for n in reached if n not in decided), None)) is not None:
        decided.add(name)
        for _, variable in clauses.variables[name]:
            if variable in model:
                fixed.append(variable)
                break
            if solver.solve([*fixed, variable]):
                fixed.append(variable)
                model = set(solver.get_model())
                reached = _reached(clauses, wanted, model)
                break
    return reached


def _reached(clauses: Clauses, wanted: Sequence[str], model: set[int]) -> dict[str, Stanza]:
    """What the wanted packages need in a model, in the order of the needs; a model also holds what nobody asked for."""
    reached: dict[str, Stanza] = {}
    todo = list(dict.fromkeys(wanted))
    for name in todo:  # grows while it is read
        stanza = next((s for s, variable in clauses.variables.get(name, ()) if variable in model), None)
        if stanza is None or name in reached:
            continue
        reached[name] = stanza
        for relation in (r for group in stanza.needs for r in group):
            todo += [relation.name, *clauses.candidates.index.providers(relation.name)]
    return reached


def _minimal(solver: _Solver, selectors: dict[int, Reason]) -> list[Reason]:
    """Drop reasons one by one while the rest still cannot be satisfied; a fixed order keeps the message the same."""
    core = sorted(solver.get_core() or selectors)
    for selector in tuple(core):
        without = [s for s in core if s != selector]
        if not solver.solve(without):
            remaining = set(solver.get_core() or without)
            core = [s for s in without if s in remaining]
    return [selectors[s] for s in core]


def _explain(clauses: Clauses, reasons: Sequence[Reason]) -> Impossible:
    ordered = _chain(reasons)
    return Impossible(tuple(ordered), tuple(_line(clauses, reason) for reason in ordered))


def _chain(reasons: Iterable[Reason]) -> list[Reason]:
    """Order reasons so that each follows what leads to it: requests first, then what they need."""
    left = sorted(reasons, key=lambda r: (r.kind != "wanted", r.kind == "conflicts", r.name, r.text))
    ordered = [r for r in left if r.kind == "wanted"]
    left = [r for r in left if r.kind != "wanted"]
    reached = {target for reason in ordered for target in reason.targets}
    while left:
        following = next((r for r in left if r.name in reached), left[0])
        left.remove(following)
        ordered.append(following)
        reached.update(following.targets)
    return ordered


def _line(clauses: Clauses, reason: Reason) -> str:
    if reason.kind == "wanted":
        return f"{reason.name} asks for {reason.text}: {_versions(reason.targets[0], clauses.versions.get(reason, []))}"
    who = _versions(reason.name, clauses.versions.get(reason, []))
    if reason.kind == "equal":
        return f"{who}: {reason.text}"
    return f"{who} {'needs' if reason.kind == 'needs' else 'conflicts with'} {reason.text}{_offer(clauses, reason)}"


def _offer(clauses: Clauses, reason: Reason) -> str:
    """What there is of a single needed package, so that the reader sees why it does not do."""
    if reason.kind != "needs" or len(reason.targets) != 1:
        return ""
    name = reason.targets[0]
    offered = [stanza.version for stanza, _ in clauses.variables.get(name, ())]
    return f"; offered is {_versions(name, offered)}" if offered else "; no source offers it"


def _versions(name: str, versions: Sequence[str]) -> str:
    ordered = sorted(set(versions), key=sort_key)
    if not ordered:
        return name
    if len(ordered) <= _FEW:
        return f"{name} {' and '.join(ordered)}"
    return f"{name} {ordered[0]} .. {ordered[-1]} ({len(ordered)} versions)"
