"""One run of the engine for a stack: events to progress, faults to diagnostics, a mark until it has ended well."""

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from pulumi.automation import Stack
from pulumi.automation.errors import CommandError
from pulumi.automation.events import EngineEvent

from gpuprov.cloud.command import EngineCommand
from gpuprov.cloud.copies import back_up
from gpuprov.cloud.engine import Engine
from gpuprov.cloud.errors import translate
from gpuprov.cloud.events import CANCELLED, EventReader
from gpuprov.cloud.mark import clear_mark, is_marked, set_mark
from gpuprov.cloud.moved import record_backend, refuse_moved
from gpuprov.cloud.readiness import interrupted
from gpuprov.cloud.state_names import is_kept
from gpuprov.cloud.types import StackPlace
from gpuprov.cloud.workspace import EngineStack, Program, open_workspace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report

Work = Callable[[Stack, Callable[[EngineEvent], None]], object]
"""What is asked of the SDK's stack, with where its events go."""


class Runner:
    """Runs the engine for one stack.

    Args:
        place: which stack.
        engine: which engine.
    """

    def __init__(self, place: StackPlace, engine: Engine) -> None:
        self._place = place
        self._engine = engine
        self.hold = hold_file(place)

    def run(
        self,
        work: Work,
        reader: EventReader,
        report: Report,
        *,
        program: Program | None = None,
        cancel: threading.Event | None = None,
        changes: bool = False,
    ) -> tuple[Diagnostic, ...]:
        """Run the engine once; returns what went wrong, and nothing when nothing did.

        Args:
            work: the run.
            reader: takes its events.
            report: where progress goes.
            program: what makes the resources.
            cancel: stops it after what is in flight.
            changes: whether it changes the account: a mark stays then until such a run ends well.
        """
        command = self._command()
        command.cancel = cancel

        def on_event(event: EngineEvent) -> None:
            progress = reader.take(event)
            if progress is not None:
                report(progress)

        stack = self._open(command, program)
        if not reader.planning:
            back_up(self._place)
        with self._marked(reader) if changes else contextlib.nullcontext():
            try:
                with warnings.catch_warnings():
                    # An engine that was killed cuts the stream of its events; its status says so already.
                    warnings.filterwarnings("ignore", message="Error in event stream")
                    work(stack, on_event)
            except CommandError as error:
                output = f"{command.last.stdout}\n{command.last.stderr}" if command.last else str(error)
                return _told(reader, output, command, cancel)
            finally:
                if program is not None:
                    program.close()
            reader.ended_well = True
        return ()

    def stack(self) -> Stack:
        """The SDK's stack, for what is no update."""
        return self._open(self._command(), None)

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """Inside, a failure of the engine leaves as ours."""
        try:
            yield
        except CommandError as error:
            raise GpuprovError(*translate((), str(error), log=self._place.folder / "log")) from error

    def _open(self, command: EngineCommand, program: Program | None) -> Stack:
        refuse_moved(self._place)
        record_backend(self._place)
        workspace = open_workspace(self._place, command, program)
        with self.translated():
            if is_kept(self._place):
                return EngineStack.select(self._place.name, workspace)
            return EngineStack.create(self._place.name, workspace)

    def _command(self) -> EngineCommand:
        return EngineCommand(self._engine, log=self._place.folder / "log", hold=self.hold)

    @contextlib.contextmanager
    def _marked(self, reader: EventReader) -> Iterator[None]:
        """The mark stays when gpuprov is killed inside, and when the run does not end well."""
        before = is_marked(self._place)
        set_mark(self._place, ())
        try:
            yield
        finally:
            if reader.ended_well or (not reader.begun and not before):
                clear_mark(self._place)
            else:
                set_mark(self._place, reader.failed)


def hold_file(place: StackPlace) -> Path:
    """The file that is locked as long as an engine of this machine that writes is at work on a stack."""
    return place.folder / f"{place.name}.engine"


def _told(
    reader: EventReader, output: str, command: EngineCommand, cancel: threading.Event | None
) -> tuple[Diagnostic, ...]:
    # An engine that was asked to stop before it had begun says nothing at all.
    early = cancel is not None and cancel.is_set() and not reader.begun
    # The stream of events may end before this last one; it is the last line too.
    said = {line.strip() for line in output.splitlines()} & {f"error: {word}" for word in CANCELLED}
    if not (reader.cancelled or early or said):
        return translate(reader.complaints, output, log=command.log)
    reader.cancelled = True
    return (interrupted(), *(translate(reader.complaints, "") if reader.complaints else ()))
