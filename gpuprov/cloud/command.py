"""Runs the engine so that nobody cuts it in two: in a session of its own, with its output in files.

What a kill leaves was measured on 2026-11-30 (engine 3.274.1): with pipes, the engine dies with gpuprov in the middle
of a create; with files and a session of its own it ends what it has begun, writes its state and lets its lock go. One
SIGINT asks it to stop after what is in flight; a second one would leave an orphan, so there is never a second.
"""

import contextlib
import fcntl
import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pulumi.automation import CommandResult, OnOutput, PulumiCommand
from pulumi.automation.errors import create_command_error
from semver import VersionInfo

from gpuprov.cloud.engine import Engine

_POLL: Final = 0.05
_WRITING: Final = frozenset({"up", "destroy", "refresh", "import"})
_LOGGED: Final = frozenset({"up", "destroy", "refresh", "preview"})
"""Runs whose output is kept; the other ones print state or names, which the state itself holds better."""
_KEPT: Final = 40
"""Logs of so many engine runs are kept for each stack."""


class EngineCommand(PulumiCommand):
    """The SDK's way to the engine, with a run that survives gpuprov's own end.

    Args:
        engine: which engine.
        log: folder for the engine's output, one pair of files a run.
        hold: a file that is locked for as long as the engine or its plugin lives and writes (see `is_held`).
    """

    def __init__(self, engine: Engine, *, log: Path, hold: Path) -> None:
        # Not the parent's: it would ask the engine for its version once more.
        self.command = str(engine.path)
        self.version = VersionInfo.parse(engine.version)
        self.log = log
        self.hold = hold
        self.cancel: threading.Event | None = None
        """Set by others to ask the running engine to stop after what is in flight."""
        self.last: CommandResult | None = None
        """How the last run ended: the SDK's errors keep its text alone."""

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
    ) -> CommandResult:
        """Run the engine to its end, also when gpuprov is interrupted meanwhile.

        Raises:
            CommandError: the engine's status was not 0; `last` holds the status.
            KeyboardInterrupt: after the engine has ended, or at once when it is pressed twice (the engine goes on until
                what is in flight has ended); a set `cancel` counts as the first time.
        """
        base = self._new_log(args)
        words = args if "--non-interactive" in args else ["--non-interactive", *args]
        environment = {**os.environ, **additional_env, "PULUMI_AUTOMATION_API": "true"}
        folder = str(Path(self.command).parent)
        environment["PATH"] = os.pathsep.join([folder, environment.get("PATH", os.defpath)])
        with _open_log(base, "out") as out, _open_log(base, "err") as err, self._held(args) as hold:
            process = subprocess.Popen(
                (self.command, *words),
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                pass_fds=hold,
            )
            self._wait(process, (_Tail(base, "out", on_output), _Tail(base, "err", on_error)))
        result = CommandResult(stdout=_read(base, "out"), stderr=_read(base, "err"), code=process.returncode)
        self.last = result
        if not _LOGGED & set(args[:1]):
            _log(base, "out").unlink()
            _log(base, "err").unlink()
        if result.code:
            raise create_command_error(result)
        return result

    def _wait(self, process: "subprocess.Popen[bytes]", tails: "tuple[_Tail, ...]") -> None:
        asked, interrupted = False, False
        while True:
            try:
                ended = process.poll() is not None
                for tail in tails:
                    tail.read()
                if ended:
                    break
                if not asked and (interrupted or self._cancelled):
                    asked = True
                    # To the engine alone: its plugin must end the call that it has begun.
                    process.send_signal(signal.SIGINT)
                time.sleep(_POLL)
            except KeyboardInterrupt:
                if interrupted or self._cancelled:
                    if not asked:
                        process.send_signal(signal.SIGINT)
                    raise
                interrupted = True
        if interrupted:
            raise KeyboardInterrupt

    @property
    def _cancelled(self) -> bool:
        return self.cancel is not None and self.cancel.is_set()

    @contextlib.contextmanager
    def _held(self, args: list[str]) -> Iterator[tuple[int, ...]]:
        """A locked file for the engine to inherit: the kernel lets it go with the last process that has it."""
        if not _WRITING & set(args[:2]):
            yield ()
            return
        descriptor = os.open(self.hold, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield (descriptor,)
        finally:
            os.close(descriptor)

    def _new_log(self, args: list[str]) -> Path:
        self.log.mkdir(parents=True, mode=0o700, exist_ok=True)
        stack = self.hold.stem
        for old in sorted(self.log.glob(f"{stack}.*.out"))[:-_KEPT]:
            old.unlink(missing_ok=True)
            old.with_suffix(".err").unlink(missing_ok=True)
        now = time.time_ns()
        when = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1_000_000_000)) + f".{now % 1_000_000_000:09d}"
        word = "-".join(word for word in args[:2] if word.isalpha())
        return self.log / f"{stack}.{when}.{word}"


def is_held(hold: Path) -> bool:
    """Whether an engine that writes, or its plugin, is still alive, whoever started it on this machine."""
    try:
        descriptor = os.open(hold, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


class _Tail:
    """Hands on what is written to a log, line by line."""

    def __init__(self, base: Path, kind: str, callback: OnOutput | None) -> None:
        self._callback = callback
        self._file = _log(base, kind)
        self._place = 0

    def read(self) -> None:
        if self._callback is None:
            return
        with self._file.open("rb") as file:
            file.seek(self._place)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        self._place += whole
        for line in data[:whole].decode("utf-8", "replace").splitlines():
            self._callback(line.rstrip())


def _log(base: Path, kind: str) -> Path:
    return base.with_name(f"{base.name}.{kind}")


def _open_log(base: Path, kind: str) -> io.FileIO:
    descriptor = os.open(_log(base, kind), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    return io.FileIO(descriptor, "wb")


def _read(base: Path, kind: str) -> str:
    return "\n".join(line.rstrip() for line in _log(base, kind).read_text("utf-8", "replace").splitlines())
