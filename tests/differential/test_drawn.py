"""Drawn small archives: gpuprov's plan is apt's; where apt gives up and gpuprov's search does not, apt takes its.

`GPUPROV_TEST_ARCHIVES` draws more.
"""

import os
from collections import Counter
from pathlib import Path

import pytest
from differential import difference, our_answer, plan_of, their_plan
from drawn_archive import draw_archive
from private_apt import make_apt
from stanza_rows import index_of, publish

ARCHIVES = int(os.environ.get("GPUPROV_TEST_ARCHIVES", "40"))

pytestmark = [pytest.mark.network, pytest.mark.timeout(120 + ARCHIVES)]


def test_the_plan_is_apts_and_the_searchs_answer_is_one(tmp_path: Path) -> None:
    drawn = draw_archive(seed=1, count=ARCHIVES)
    rows = {"drawn": drawn.rows}
    index, apt = index_of(rows), make_apt(tmp_path / "apt", publish(rows, tmp_path / "sources"))
    seen: Counter[str] = Counter()
    wrong = {}
    for request in drawn.requests:
        answer = our_answer(index, request)
        plan = plan_of(answer)
        theirs, searched = their_plan(apt, request, answer)
        seen["searched" if searched else "planned" if plan else "refused"] += 1
        if text := difference(plan, theirs):
            wrong[request] = text
    assert wrong == {}
    assert all(seen[kind] > ARCHIVES // 10 for kind in ("planned", "refused", "searched")), seen
