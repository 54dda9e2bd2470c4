"""The search alone: it agrees with the walk where the walk works, and its reasons are minimal."""

from collections.abc import Callable
from typing import Any

from gpuprov.lock.candidates import Candidates
from gpuprov.lock.clauses import build
from gpuprov.lock.index import MemoryIndex
from gpuprov.lock.pool_input import Request
from gpuprov.lock.search import Found, Impossible, search
from gpuprov.lock.walk import Stuck, Walked, walk

IndexOf = Callable[[Any], MemoryIndex]
MANY = [
    *({"is": f"driver {branch}.{n}"} for branch in (580, 590) for n in range(20)),
    *({"is": f"dcgm 4.{n}", "depends": f"driver (<< {585 if n > 5 else 600})"} for n in range(30)),
    {"is": "unrelated 1", "depends": "gone"},
]


def _requests(*written: str) -> tuple[Request, ...]:
    parts = [text.partition(" ") for text in written]
    return tuple(Request(name=p[0], constraint=p[2], source="", address=f"stack.{p[0]}") for p in parts)


def test_the_walk_is_stuck_where_the_search_finds_an_answer(index_of: IndexOf) -> None:
    index, requests = index_of({"os": MANY}), _requests("driver", "dcgm")
    assert isinstance(walk(Candidates(index=index, requests=requests), ["driver", "dcgm"]), Stuck)
    found = search(build(Candidates(index=index, requests=()), requests, ()), ["driver", "dcgm"])
    assert isinstance(found, Found)
    assert {name: s.version for name, s in found.chosen.items()} == {"driver": "590.19", "dcgm": "4.5"}


def test_the_search_agrees_with_a_walk_that_works(index_of: IndexOf) -> None:
    index, requests = index_of({"os": MANY}), _requests("dcgm")
    walked = walk(Candidates(index=index, requests=requests), ["dcgm"])
    found = search(build(Candidates(index=index, requests=()), requests, ()), ["dcgm"])
    assert isinstance(walked, Stuck)  # 4.29 needs a driver before 585, the candidate is 590
    assert isinstance(found, Found)
    assert {name: s.version for name, s in found.chosen.items()} == {"dcgm": "4.29", "driver": "580.19"}


def test_the_reasons_are_few_and_each_is_needed(index_of: IndexOf) -> None:
    requests = _requests("driver 590.*", "dcgm >=4.6")
    clauses = build(Candidates(index=index_of({"os": MANY}), requests=()), requests, ())
    answer = search(clauses, ["driver", "dcgm"])
    assert isinstance(answer, Impossible)
    assert answer.lines == (
        "stack.dcgm asks for dcgm >=4.6: dcgm 4.6 .. 4.29 (24 versions)",
        "stack.driver asks for driver 590.*: driver 590.0 .. 590.19 (20 versions)",
        "dcgm 4.6 .. 4.29 (24 versions) needs driver (<< 585); offered is driver 580.0 .. 590.19 (40 versions)",
    )


def test_a_long_chain_of_dependencies_is_walked(index_of: IndexOf) -> None:
    rows = [{"is": f"p{n} 1", "depends": f"p{n + 1}"} for n in range(3000)] + [{"is": "p3000 1"}]
    index = index_of({"os": rows})
    walked = walk(Candidates(index=index, requests=_requests("p0")), ["p0"])
    assert isinstance(walked, Walked)
    assert len(walked.chosen) == 3001
