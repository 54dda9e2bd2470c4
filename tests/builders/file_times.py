"""Where a long run's time went: seconds by file, and how long each worker was at work."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

SHOWN: Final = 40
"""Files, the longest first."""


def show_times(reports: Iterable[Any], section: Callable[[str], object], line: Callable[[str], object]) -> None:
    """Print the sums of all reports: fixtures count for the file whose test they were made for."""
    files: Counter[str] = Counter()
    workers: Counter[str] = Counter()
    for report in reports:
        files[report.nodeid.partition("::")[0]] += report.duration
        workers[getattr(report, "worker_id", "one")] += report.duration
    section("seconds by file")
    for file, seconds in files.most_common(SHOWN):
        line(f"{seconds:8.1f}  {file}")
    line("; ".join(f"{worker}: {seconds:.0f} s" for worker, seconds in sorted(workers.items())))
