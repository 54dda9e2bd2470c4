"""Several things fetched at once: a lock waits for the slowest source, not for all of them one after the other."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report

T = TypeVar("T")
R = TypeVar("R")

_THREADS: Final = 8


def at_once(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Do the same for every item, some at a time; the results come in the order of the items.

    Args:
        work: called in several threads.
        items: one call for each.

    Raises:
        GpuprovError: the diagnostics of all items that failed, in the order of the items.
    """
    if len(items) < 2:  # noqa: PLR2004 - one alone needs no thread
        return [work(item) for item in items]
    results: dict[int, R] = {}
    failures: dict[int, BaseException] = {}
    todo = deque(range(len(items)))

    def run() -> None:
        while todo:
            try:
                position = todo.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[position] = work(items[position])
            except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that waits
                failures[position] = error

    # Daemons: after Ctrl-C the process ends without waiting for a slow server.
    threads = [threading.Thread(target=run, daemon=True) for _ in range(min(_THREADS, len(items)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _raise(failures)
    return [results[position] for position in range(len(items))]


def one_at_a_time(report: Report) -> Report:
    """A way to report progress from several threads to something that expects one."""
    lock = threading.RLock()  # re-entrant: a handler of Ctrl-C may report while its own thread does

    def locked(progress: Progress) -> None:
        with lock:
            report(progress)

    return locked


def _raise(failures: dict[int, BaseException]) -> None:
    told: list[Diagnostic] = []
    for _, error in sorted(failures.items()):
        if not isinstance(error, GpuprovError):
            raise error
        told += error.diagnostics
    if told:
        raise GpuprovError(*told)
