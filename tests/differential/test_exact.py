"""The exact test: for a request, gpuprov chooses the packages and versions that apt 2.x chooses, and no other.

`GPUPROV_TEST_SETS` draws more requests; `tests/benchmarks/differential.py` draws 200 and prints a table.
"""

import os

import pytest
from differential import Archive, difference, drawn, our_answer, plan_of, their_plan

SETS = int(os.environ.get("GPUPROV_TEST_SETS", "8"))
NAMED = (
    ("docker.io", "nvidia-driver", "nvidia-cuda-toolkit", "prometheus"),
    ("nvidia-cuda-toolkit", "prometheus", "nvidia-driver", "docker.io"),
    ("postfix", "exim4"),
    ("exim4", "mailutils", "cron"),
)
"""The set of the issue, in two orders; two that exclude each other; a choice among many providers."""

pytestmark = [pytest.mark.network, pytest.mark.timeout(240 + 10 * SETS)]


def test_for_random_and_named_requests_the_plan_is_apts(archive: Archive) -> None:
    requests = [*NAMED, *drawn(archive.names, seed=5, count=SETS)]
    answers = {request: our_answer(archive.index, request) for request in requests}
    found = {
        request: text
        for request, answer in answers.items()
        if (text := difference(plan_of(answer), their_plan(archive.apt, request, answer)[0]))
    }
    assert found == {}
    # The draw is worth something: most requests have a plan, of far more than themselves.
    whole = [answer.chosen for answer in answers.values() if answer is not None]
    assert len(whole) > len(requests) * 0.8
    assert sum(map(len, whole)) > 20 * len(whole)
