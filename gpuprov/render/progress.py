"""Progress of long steps: a moving line on a terminal, one line per event elsewhere; always on stderr."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

from rich.status import Status

from gpuprov.model.progress import Progress
from gpuprov.render.terminal import Terminal

_QUIET_SECONDS: Final = 10.0
"""Without a terminal, a step that says nothing new is shown again after this many seconds."""


class ProgressView:
    """Shows progress until closed; may be called from several threads.

    Args:
        terminal: the consoles; only stderr is written.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._console = terminal.err
        # Re-entrant: the handler of Ctrl-C reports from whatever the main thread is doing.
        self._lock = threading.RLock()
        self._started = time.monotonic()
        self._begun: dict[tuple[str, str], float] = {}
        self._shown: dict[tuple[str, str], float] = {}
        self._status: Status | None = None

    def __enter__(self) -> Self:
        """Start the moving line, on a terminal."""
        if self._console.is_terminal:
            self._status = self._console.status("")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the moving line away."""
        if self._status is not None:
            self._status.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep the moving line off the screen while a question is asked."""
        if self._status is not None:
            self._status.stop()
        try:
            yield
        finally:
            if self._status is not None:
                self._status.start()

    def __call__(self, progress: Progress) -> None:
        """Show one event."""
        with self._lock:
            key = (progress.phase, progress.subject)
            now = time.monotonic()
            begun = self._begun.setdefault(key, now)
            line = _line(progress)
            if progress.finished:
                self._console.print(f"{line}  {now - begun:.1f} s")
                self._begun.pop(key, None)
                self._shown.pop(key, None)
            elif self._status is not None:
                self._status.update(f"{line}  ({now - self._started:.0f} s)")
            elif key not in self._shown or now - self._shown[key] >= _QUIET_SECONDS:
                self._shown[key] = now
                self._console.print(line)


def _line(progress: Progress) -> str:
    count = f" {progress.done}/{progress.total}" if progress.total else ""
    subject = f" {progress.subject}" if progress.subject else ""
    text = f": {progress.text}" if progress.text else ""
    return f"  {progress.phase}{count}{subject}{text}"
