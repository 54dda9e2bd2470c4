"""What requests bring, and why some bring nothing: cases as data, and laws."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lock_cases import equal_of, request_of

from gpuprov.lock.index import MemoryIndex
from gpuprov.lock.resolve import Problem, Resolution, resolve

FOLDER = Path(__file__).parents[2] / "cases" / "lock"
CHOICES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "choices.yaml").read_text(encoding="utf-8"))
REFUSALS: list[dict[str, Any]] = yaml.safe_load((FOLDER / "refusals.yaml").read_text(encoding="utf-8"))
IndexOf = Callable[[Any], MemoryIndex]


def _problem(case: dict[str, Any], index: MemoryIndex) -> Problem:
    return Problem(
        index=index,
        requests=tuple(request_of(each) for each in case["requests"]),
        equal=tuple(equal_of(**each) for each in case.get("equal", [])),
        prefer=case.get("prefer", {}),
    )


@pytest.mark.parametrize("case", CHOICES, ids=lambda case: case["name"])
def test_requests_bring_what_apt_would_bring(case: dict[str, Any], index_of: IndexOf) -> None:
    answer = resolve(_problem(case, index_of(case["index"])))
    assert isinstance(answer, Resolution), answer
    assert [f"{s.name} {s.version}" for s in answer.chosen] == case["expect"]
    assert answer.searched is case.get("searched", False)
    sources = {s.name: s.row.source for s in answer.chosen}
    assert sources | case.get("sources", {}) == sources


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case["name"])
def test_a_refusal_names_its_reasons(case: dict[str, Any], index_of: IndexOf) -> None:
    answer = resolve(_problem(case, index_of(case["index"])))
    assert isinstance(answer, tuple), answer
    (found,) = answer
    assert found.code == case["code"]
    assert found.address == case.get("address", found.address) != ""
    text = f"{found.summary}\n{found.detail}\n{found.hint}"
    assert [part for part in case["says"] if part not in text] == [], text
    if "lines" in case:
        assert len(found.detail.splitlines()) == case["lines"]


def test_all_wrong_requests_are_told_at_once(index_of: IndexOf) -> None:
    index = index_of({"os": [{"is": "a 1"}]})
    answer = resolve(Problem(index=index, requests=(request_of("gone"), request_of("a 9.*"))))
    assert isinstance(answer, tuple)
    assert [d.code for d in answer] == ["GP-LOCK-001", "GP-LOCK-002"]


NAMES = "abcde"
RELATION = st.builds(
    lambda name, bound: f"{name} {bound}".strip(),
    st.sampled_from(NAMES),
    st.sampled_from(["", "", "(>= 2)", "(<< 2)", "(= 1)", "(= 3)"]),
)
GROUPS = st.lists(st.lists(RELATION, min_size=1, max_size=2).map(" | ".join), max_size=3).map(", ".join)
ROW = st.fixed_dictionaries(
    {
        "is": st.builds(lambda name, version: f"{name} {version}", st.sampled_from(NAMES), st.sampled_from("123")),
        "depends": GROUPS,
        "conflicts": st.one_of(st.just(""), st.just(""), RELATION),
        "provides": st.sampled_from(["", "", "", "d", "e (= 2)"]),
    }
)
INDEX = st.lists(ROW, min_size=3, max_size=14, unique_by=lambda row: row["is"])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=INDEX, wanted=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
def test_law_an_answer_is_whole_and_consistent_and_a_refusal_is_right(
    rows: list[dict[str, str]], wanted: list[str], index_of: IndexOf
) -> None:
    index = index_of({"os": rows})
    answer = resolve(Problem(index=index, requests=tuple(request_of(name) for name in wanted)))
    if isinstance(answer, Resolution):
        chosen = {s.name: s for s in answer.chosen}
        assert set(wanted) <= chosen.keys()
        for stanza in answer.chosen:
            for group in stanza.needs:
                assert any(other.satisfies(r) for r in group for other in answer.chosen), (stanza.name, group)
            for relation in stanza.conflicts:
                assert not [o for o in answer.chosen if o.name != stanza.name and o.satisfies(relation)]
    elif all(d.code == "GP-LOCK-003" for d in answer):
        assert not _possible(index, wanted), answer


def _possible(index: MemoryIndex, wanted: list[str]) -> bool:
    """Try everything: at most four versions (none among them) of five names."""

    def extend(names: list[str], chosen: list[Any]) -> bool:
        if not names:
            return all(
                any(o.satisfies(r) for r in group for o in chosen) for s in chosen for group in s.needs
            ) and not any(o.name != s.name and o.satisfies(r) for s in chosen for r in s.conflicts for o in chosen)
        options = [[stanza] for stanza in index.stanzas(names[0])]
        return any(extend(names[1:], chosen + o) for o in (options if names[0] in wanted else [[], *options]))

    return extend(list(NAMES), [])
