"""Troubles that strike no single action: another account, a state that is held, broken or lost, an AWS that refuses.

`up` and `preview` meet most of them in test_bad_cloud.py, for their words and their status; here it is the other
commands. All of them have one account, which is as it was after each.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from broken_state import cut_state, locked_by_another

from gpuprov.lab.aws.faults import Fault
from tests.e2e.matrix_cloud.struck import Site, note

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "matrix_cloud" / "troubles.yaml").read_text())

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def standing(new_site: Callable[[ExitStack], Site]) -> Iterator[Site]:
    """A site that is up; no trouble here may change its account."""
    with ExitStack() as ending:
        site = new_site(ending)
        done = site.run("up")
        assert done.status == 0, done
        yield site


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: f"{case['trouble']}: {case['verb']}")
def test_a_trouble_is_told_and_nothing_is_changed(case: dict[str, Any], standing: Site) -> None:
    began, before = time.monotonic(), standing.listing()
    with TROUBLES[case["trouble"]](standing):
        done = standing.run(case["verb"])
    after = standing.listing()
    note(f"`{case['verb']}`: {case['trouble']}", done.summed, sorted(after - before), sorted(before - after), began)
    assert done.errors == {case["code"]}, done
    assert after == before


def test_after_all_that_the_next_run_has_nothing_to_do(standing: Site) -> None:
    before = standing.listing()
    done = standing.run("up")
    assert (done.status, done.errors, standing.strangers()) == (0, set(), []), done
    assert standing.listing() == before


@contextlib.contextmanager
def another_account(site: Site) -> Iterator[None]:
    """A spec that was written for another account than the caller's."""
    text = site.path.read_text(encoding="utf-8")
    site.edit(site.cloud.account.cloud.account, "999988887777")
    yield
    site.path.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def lost_state(site: Site) -> Iterator[None]:
    """A folder without the state, as a second checkout has it."""
    folder = site.path.parent / ".gpuprov"
    folder.rename(site.path.parent / "aside")
    yield
    if folder.exists():
        folder.rename(site.path.parent / f"left-{time.time_ns()}")
    (site.path.parent / "aside").rename(folder)


@contextlib.contextmanager
def fault(site: Site, **what: Any) -> Iterator[None]:
    """A fault of every call."""
    number = site.cloud.account.book.add(Fault(**what))
    yield
    site.cloud.account.book.remove(number)


TROUBLES: dict[str, Callable[[Site], contextlib.AbstractContextManager[None]]] = {
    "another account": another_account,
    "state held elsewhere": lambda site: locked_by_another(site.path.parent),
    "broken state": lambda site: cut_state(site.path.parent),
    "lost state": lost_state,
    "credentials expired": lambda site: fault(site, kind="expired"),
    "everything throttled": lambda site: fault(site, kind="throttled", action="ec2:*"),
    "nothing may be looked at": lambda site: fault(site, kind="denied", action="ec2:Describe*"),
}
