"""The exact test: for a request, gpuprov chooses the packages and versions that apt 2.x chooses, and no other.

`GPUPROV_TEST_SETS` draws more requests; `tests/benchmarks/differential.py` draws 200 and prints a table.
"""

import os

import pytest
from differential import Archive, difference, drawn, our_plan

SETS = int(os.environ.get("GPUPROV_TEST_SETS", "12"))
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
    plans = [our_plan(archive.index, request) for request in requests]
    found = {
        request: text
        for request, plan in zip(requests, plans, strict=True)
        if (text := difference(plan, archive.apt.plan(request)))
    }
    assert found == {}
    # The draw is worth something: most requests have a plan, of far more than themselves.
    whole = [plan for plan in plans if plan is not None]
    assert len(whole) > len(requests) * 0.8
    assert sum(len(plan) for plan in whole) > 20 * len(whole)
