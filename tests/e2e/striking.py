"""Ends a command of gpuprov, or its engine, while AWS's answer to one action is awaited."""

import os
import signal
import subprocess
import time
from collections.abc import Callable

from gpuprov.cloud.state_lock import read_lock
from gpuprov.cloud.types import StackPlace

IN_THE_MIDDLE = frozenset({"gone", "killed", "stopped", "stopped twice"})
"""Kinds of faults that are no answer of AWS: a person or the kernel ends a process while an answer is awaited."""
LIMIT = 600.0
"""Seconds after which a command hangs."""
PRESSES = 0.5
"""Seconds between two presses of Ctrl-C."""


def strike(
    process: "subprocess.Popen[str]", kind: str, *, waiting: Callable[[], bool], engine: Callable[[], int | None]
) -> None:
    """Strike a command that waits for the answer of an action: AWS has done it, and nobody knows yet.

    Args:
        process: the command, in a group of its own.
        kind: `gone` (kill -9 of all of gpuprov), `killed` (of the engine alone), `stopped`, `stopped twice` (Ctrl-C).
        waiting: whether the answer is awaited now.
        engine: finds the process of the engine at work.
    """
    until = time.monotonic() + LIMIT
    while not waiting():
        assert process.poll() is None, f"the action was never asked for: {process.communicate()}"
        assert time.monotonic() < until, "the action was never asked for"
        time.sleep(0.02)
    if kind == "gone":
        os.killpg(process.pid, signal.SIGKILL)
    elif kind == "killed":
        found = engine()
        assert found is not None, "no engine is at work"
        os.kill(found, signal.SIGKILL)
    else:
        os.killpg(process.pid, signal.SIGINT)
        if kind == "stopped twice":
            time.sleep(PRESSES)
            os.killpg(process.pid, signal.SIGINT)


def engine_at(place: StackPlace) -> int | None:
    """The process of the engine that holds a stack; None when none does."""
    holder = read_lock(place)
    return holder.pid if holder is not None and holder.alive else None
