"""Ctrl-C during a run: the step that is running ends, nothing else begins."""

import signal
import threading
from types import FrameType

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.progress import Progress, Report


class cancelled_by_interrupt:  # noqa: N801 - reads as what it does: with cancelled_by_interrupt(...) as cancel
    """While open, the first Ctrl-C asks the run to stop after the running step; the second stops it now."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._event = threading.Event()

    def __enter__(self) -> threading.Event:
        """Take the signal, where this is the main thread."""
        self._main = threading.current_thread() is threading.main_thread()
        if self._main:
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self._event

    def __exit__(self, *_: object) -> None:
        """Give the signal back."""
        if self._main:
            signal.signal(signal.SIGINT, self._before)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self._event.is_set():
            raise KeyboardInterrupt
        self._event.set()
        text = (
            "stopping after the step that is running; once more to stop now (a package transaction on a host and an"
            " update of the cloud account go on)"
        )
        self._report(Progress(phase="interrupt", text=text, finished=True))


def interrupted(command: str) -> Diagnostic:
    """What a run that was interrupted says about itself.

    Args:
        command: what was run, such as `up`.
    """
    again = f"run `gpuprov {command}` again"
    if command == "up":
        again = "`gpuprov up --resume` goes on with this run's hosts"
    return Diagnostic(
        code="GP-RUN-003",
        summary="interrupted; the step that was running has ended, nothing else was begun",
        hint=f"{again}: it looks at every host first; `gpuprov runs show` tells what was done",
    )
