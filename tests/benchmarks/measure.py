"""Whole processes measured: wall and CPU seconds and peak memory, in paired rounds beside a yardstick."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

GPUPROV = str(Path(sys.executable).with_name("gpuprov"))


@dataclass(frozen=True, kw_only=True)
class Command:
    """One thing to measure."""

    argv: Sequence[str]
    folder: Path
    before: Callable[[], object] = lambda: None
    """Unmeasured, before each run: what makes it cold, for one."""
    more: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What one process took."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds, user and system, with its children."""
    peak: float
    """MB (10^6 bytes) of resident memory."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A bound on a command's ratio to the yardstick, or on its memory."""

    label: str
    ratio: float = 0.0
    """At most so many times the yardstick; 0 for no bound."""
    peak: float = 0.0
    """At most so many MB; 0 for no bound."""


def once(command: Command) -> Sample:
    """Run a command to its end.

    Raises:
        SystemExit: the command failed; a failing command's time says nothing.
    """
    command.before()
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        started = subprocess.Popen(
            command.argv, cwd=command.folder, env=os.environ | command.more, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(started.pid, 0)
        wall = time.perf_counter() - began
        started.returncode = os.waitstatus_to_exitcode(status)
        if started.returncode:
            output.seek(0)
            sys.exit(f"{' '.join(command.argv)}: status {started.returncode}\n{output.read().decode()}")
    return Sample(wall=wall, cpu=usage.ru_utime + usage.ru_stime, peak=usage.ru_maxrss * 1024 / 1e6)


def rounds(commands: Mapping[str, Command], number: int) -> dict[str, list[Sample]]:
    """Run every command once unmeasured (bytecode, page cache), then so many times, in turn.

    In turn, so that a machine that gets busy slows all of them alike.
    """
    for command in commands.values():
        once(command)
    samples: dict[str, list[Sample]] = {label: [] for label in commands}
    for _ in range(number):
        for label, command in commands.items():
            samples[label].append(once(command))
    return samples


def report(samples: Mapping[str, Sequence[Sample]], yardstick: str, goals: Sequence[Goal]) -> bool:
    """Print the table; ratios are medians of the pairs' ratios, of CPU seconds. Gives whether all goals are met."""
    by_label = {goal.label: goal for goal in goals}
    width = max(map(len, samples))
    number = len(samples[yardstick])
    version, load = sys.version.split()[0], os.getloadavg()[0]
    print(f"{number} paired rounds, Python {version}, {os.cpu_count()} cores, load {load:.1f}")
    print(f"{'command':<{width}} {'wall':>8} {'CPU':>8} {'ratio':>7} {'of wall':>8} {'peak':>8}   goal")
    met = True
    for label, mine in samples.items():
        ratio = statistics.median(a.cpu / b.cpu for a, b in zip(mine, samples[yardstick], strict=True))
        of_wall = statistics.median(a.wall / b.wall for a, b in zip(mine, samples[yardstick], strict=True))
        peak = max(sample.peak for sample in mine)
        wall = statistics.median(sample.wall for sample in mine)
        cpu = statistics.median(sample.cpu for sample in mine)
        goal = by_label.get(label)
        text, reached = _judged(goal, ratio, peak) if goal else ("", True)
        met = met and reached
        row = f"{label:<{width}} {wall:6.3f} s {cpu:6.3f} s {ratio:6.2f}x {of_wall:7.2f}x {peak:5.0f} MB   {text}"
        print(row.rstrip())
    return met


def _judged(goal: Goal, ratio: float, peak: float) -> tuple[str, bool]:
    parts = []
    reached = True
    if goal.ratio:
        reached = ratio <= goal.ratio
        parts.append(f"<= {goal.ratio:g}x")
    if goal.peak:
        reached = reached and peak < goal.peak
        parts.append(f"< {goal.peak:g} MB")
    return f"{', '.join(parts)}: {'met' if reached else 'MISSED'}", reached
