"""Several things at once: results in order, and every failure told."""

import threading

import pytest

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress
from gpuprov.sources.at_once import at_once, one_at_a_time


@pytest.mark.parametrize("number", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_items(number: int) -> None:
    assert at_once(lambda item: item * 2, list(range(number))) == [2 * item for item in range(number)]


def test_the_failures_of_all_are_told_in_their_order() -> None:
    def work(item: int) -> int:
        if item % 2:
            raise GpuprovError(Diagnostic(code="GP-SRC-001", summary=str(item)))
        return item

    with pytest.raises(GpuprovError) as caught:
        at_once(work, range(6))
    assert [d.summary for d in caught.value.diagnostics] == ["1", "3", "5"]


def test_a_fault_is_not_hidden_behind_a_refusal() -> None:
    def work(item: int) -> int:
        if item:
            raise GpuprovError(Diagnostic(code="GP-SRC-001", summary="refused"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        at_once(work, range(2))


def test_one_thread_at_a_time_reports() -> None:
    inside = threading.Lock()
    seen: list[str] = []

    def report(progress: Progress) -> None:
        assert inside.acquire(blocking=False), "two threads report at once"
        seen.append(progress.subject)
        inside.release()

    tell = one_at_a_time(report)
    at_once(lambda item: [tell(Progress(phase="fetch", subject=str(item))) for _ in range(200)], range(8))
    assert len(seen) == 1600
