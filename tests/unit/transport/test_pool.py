"""The same work for many hosts at once."""

import threading
import time

import pytest

from gpuprov.transport.pool import run_on_all


def test_results_come_in_order_whoever_is_first() -> None:
    assert run_on_all([3, 1, 2], lambda n: (time.sleep(n / 50), n)[1], limit=3) == [3, 1, 2]


def test_no_more_than_the_limit_at_once() -> None:
    running: set[int] = set()
    most = 0
    lock = threading.Lock()
    three = threading.Barrier(3, timeout=20)

    def work(item: int) -> None:
        nonlocal most
        with lock:
            running.add(item)
            most = max(most, len(running))
        three.wait()
        with lock:
            running.discard(item)

    run_on_all(range(12), work, limit=3)
    assert most == 3


def test_nothing_to_do_is_done() -> None:
    assert run_on_all([], lambda item: item, limit=4) == []


def test_an_exception_reaches_the_caller_and_stops_the_rest() -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        if item == 0:
            raise ValueError("first")
        time.sleep(0.05)

    with pytest.raises(ValueError, match="first"):
        run_on_all(range(50), work, limit=2)
    assert len(begun) < 10


def test_ctrl_c_ends_the_waiting_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    class Interrupted:
        def get(self) -> None:
            raise KeyboardInterrupt

        def put(self, _: object) -> None:
            return

    from gpuprov.transport import pool  # noqa: PLC0415 - its queues are replaced

    made = iter([pool.queue.SimpleQueue(), Interrupted()])
    monkeypatch.setattr(pool.queue, "SimpleQueue", lambda: next(made))
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_on_all(range(20), lambda item: (begun.append(item), time.sleep(0.3)), limit=2)
    assert time.monotonic() - start < 1
    time.sleep(0.5)
    assert len(begun) <= 2
