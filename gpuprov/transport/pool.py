"""The same work for many hosts at once, in order, and stopped by Ctrl-C."""

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_on_all(items: Sequence[Item], work: Callable[[Item], Result], *, limit: int) -> list[Result]:
    """Do the work for every item, at most `limit` at a time; results come in the items' order.

    Args:
        items: hosts, connections or anything else.
        work: returns its result, an expected failure included; an exception stops the whole.
        limit: threads, at least 1.

    Raises:
        KeyboardInterrupt: at once; no further item is begun, and running ones do not keep the process alive.
        Exception: the first item's, in the items' order, after those that were running have ended.
    """
    jobs: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in range(len(items)):
        jobs.put(index)
    finished: queue.SimpleQueue[None] = queue.SimpleQueue()
    results: dict[int, Result] = {}
    failures: dict[int, BaseException] = {}
    stop = threading.Event()

    def worker() -> None:
        while not stop.is_set():
            try:
                index = jobs.get_nowait()
            except queue.Empty:
                break
            try:
                results[index] = work(items[index])
            except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
                failures[index] = error
                stop.set()
        finished.put(None)

    count = max(1, min(limit, len(items)))
    for number in range(count):
        threading.Thread(target=worker, name=f"gpuprov-pool-{number}", daemon=True).start()
    try:
        for _ in range(count):
            finished.get()
    except BaseException:
        stop.set()
        raise
    if failures:
        raise failures[min(failures)]
    return [results[index] for index in range(len(items))]
