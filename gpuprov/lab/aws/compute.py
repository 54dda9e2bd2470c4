"""The life of instances: moto remembers them, a worker for each moves its machine and tells moto how far it is.

Each instance's doings are one after the other, in the order of the calls; the calls themselves return at once, as EC2's
do. Whoever changes moto's memory holds the account's lock.
"""

import queue
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gpuprov.lab.aws.images import Layers
from gpuprov.lab.aws.machine import Launch, Machine

CODES = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}
"""EC2's instance states and their codes (API reference, InstanceState)."""
CONSOLE_BYTES = 64 * 1024
"""How much of a console EC2 keeps (GetConsoleOutput)."""
_LOOK_SECONDS = 0.5
_POLL = 0.05
_LAUNCH_FAILED = "Server.InternalError: Internal error on launch"
_START_FAILED = "Server.InternalError: Internal error on start"


class Health(StrEnum):
    """What a status check says of a running instance."""

    INITIALIZING = "initializing"
    """Its system is not up yet."""
    OK = "ok"
    """Its system admits logins."""


@dataclass(slots=True)
class Record:
    """What the lab knows of an instance beside moto."""

    instance: Any
    machine: Machine
    layers: Layers
    launch: Callable[[], Launch]
    """What it is started with, by what moto knows now."""
    forget: Callable[[], object]
    """Has moto write it down as terminated, with its interface and volumes gone."""
    health: Health = Health.INITIALIZING
    boot: int | None = None
    posted: bytes = b""
    """The console as EC2 posts it some time after each change; `Latest` asks past it."""
    ended: bool = False
    doings: "queue.Queue[Callable[[], None]]" = field(default_factory=queue.Queue)

    def console(self, *, latest: bool) -> bytes:
        """Return the console's last 64 KiB.

        Args:
            latest: as it is now; else as it was posted.
        """
        return self.machine.console()[-CONSOLE_BYTES:] if latest and not self.ended else self.posted


class Compute:
    """The instances of the account.

    Args:
        lock: the account's lock, reentrant.
        booted: called (with the lock) when an instance runs another boot: its device files are to be made again.
        moved: called (with the lock) when an instance is about to be switched on, or is off or gone.
        released: called (with the lock) before an instance's disk goes: its volumes are to be let go.
        say: writes a line to the server's log.
    """

    def __init__(
        self,
        lock: threading.RLock,
        *,
        booted: Callable[[Record], None],
        moved: Callable[[Record], None],
        released: Callable[[Record], None],
        say: Callable[[str], None],
    ) -> None:
        self.lock = lock
        self.records: dict[str, Record] = {}
        self._booted = booted
        self._moved = moved
        self._released = released
        self._say = say

    def linked(self) -> tuple[Any, ...]:
        """Return moto's instances that have a link: all but the terminated ones."""
        return tuple(record.instance for record in self.records.values() if not record.ended)

    def launch(self, record: Record) -> None:
        """Take a new instance in, and have its machine made and started."""
        set_state(record.instance, "pending")
        self.records[record.instance.id] = record
        record.doings.put(lambda: self._launch(record))
        threading.Thread(target=self._work, args=(record,), name=record.instance.id, daemon=True).start()

    def start(self, record: Record) -> None:
        """Have a stopped instance started."""
        set_state(record.instance, "pending")
        record.doings.put(lambda: self._start(record))

    def stop(self, record: Record, finish: Callable[[], None]) -> None:
        """Have an instance stopped; `finish` (with the lock) tells moto."""
        set_state(record.instance, "stopping")
        record.doings.put(lambda: self._stop(record, finish))

    def reboot(self, record: Record) -> None:
        """Have an instance boot again; its status checks begin anew."""
        record.health = Health.INITIALIZING if record.machine.watched else Health.OK
        record.doings.put(record.machine.reboot)

    def terminate(self, record: Record) -> None:
        """Have an instance ended and its disk removed."""
        set_state(record.instance, "shutting-down")
        record.doings.put(lambda: self._terminate(record))

    def quiet(self, record: Record, doing: Callable[[], None], *, off: bool) -> None:
        """Do something with an instance's disk.

        Args:
            record: the instance.
            doing: called in the instance's own turn.
            off: shut the system down before, and start it again afterwards, as CreateImage does.
        """
        record.doings.put(lambda: self._quiet(record, doing, off=off))

    def settle(self, instance_id: str, *, seconds: float) -> None:
        """Wait until all that was asked of an instance is done (for tests)."""
        deadline = time.monotonic() + seconds
        while self.records[instance_id].doings.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(_POLL)

    def _work(self, record: Record) -> None:
        """The life of an instance's worker."""
        while not record.ended:
            try:
                doing = record.doings.get(timeout=_LOOK_SECONDS if record.machine.watched else None)
            except queue.Empty:
                self._guarded(record, lambda: self._look(record))
                continue
            self._guarded(record, doing)
            record.doings.task_done()

    def _guarded(self, record: Record, doing: Callable[[], None]) -> None:
        """Do it; what goes wrong is in the log, and the worker goes on to live."""
        try:
            doing()
        except Exception:  # noqa: BLE001 (a thread's last resort; the whole trace is in the log)
            self._say(f"{record.instance.id}: {traceback.format_exc()}")

    def _launch(self, record: Record) -> None:
        """Make and start a machine; when that fails, the instance ends as EC2's do."""
        try:
            with self.lock:
                launch = record.launch()
            record.machine.make(launch)
            self._power_up(record)
        except Exception:
            record.machine.cut()
            self._end(record)
            with self.lock:
                record.instance.state_reason.code = "Server.InternalError"
                record.instance.state_reason.message = _LAUNCH_FAILED
                record.instance._reason = _LAUNCH_FAILED  # noqa: SLF001 (moto has no other way)
            raise

    def _start(self, record: Record) -> None:
        """Start a stopped machine with the metadata and public address of now; one that does not start is stopped."""
        try:
            with self.lock:
                launch = record.launch()
            record.machine.describe(launch)
            self._power_up(record)
        except Exception:
            record.machine.cut()
            with self.lock:
                record.instance.state_reason.code = "Server.InternalError"
                record.instance.state_reason.message = _START_FAILED
                set_state(record.instance, "stopped")
            raise

    def _power_up(self, record: Record) -> None:
        """Switch on and tell moto."""
        record.health = Health.INITIALIZING if record.machine.watched else Health.OK
        with self.lock:
            self._moved(record)
        record.machine.start()
        with self.lock:
            self._see_boot(record)
            set_state(record.instance, "running")

    def _stop(self, record: Record, finish: Callable[[], None]) -> None:
        """Shut down and tell moto."""
        record.machine.stop()
        record.posted = record.machine.console()[-CONSOLE_BYTES:]
        self._finish_stop(record, finish)

    def _finish_stop(self, record: Record, finish: Callable[[], None]) -> None:
        """Tell moto of a machine that is off, and take its public address."""
        with self.lock:
            record.boot = None
            finish()
            launch = record.launch()
        record.machine.describe(launch)
        with self.lock:
            self._moved(record)

    def _terminate(self, record: Record) -> None:
        """End and remove, then tell moto."""
        record.posted = record.machine.console()[-CONSOLE_BYTES:]
        record.machine.cut()
        self._end(record)

    def _end(self, record: Record) -> None:
        """Remove what an instance had on the machine; it is off."""
        with self.lock:
            self._released(record)
        record.machine.remove()
        with self.lock:
            record.ended = True
            set_state(record.instance, "shutting-down")
            record.forget()
            self._moved(record)

    def _quiet(self, record: Record, doing: Callable[[], None], *, off: bool) -> None:
        """Do something with a disk whose system is off, or was told to write everything."""
        was_on = record.machine.powered()
        if was_on and off:
            record.machine.stop()
        elif was_on:
            record.machine.run(["sync"])
        try:
            doing()
        finally:
            if was_on and off:
                record.health = Health.INITIALIZING
                record.machine.start()
                with self.lock:
                    self._see_boot(record)

    def _look(self, record: Record) -> None:
        """See what an instance did by itself: boot again, come up, switch itself off."""
        if record.instance.state != "running":
            return
        boot = record.machine.boot()
        if boot is None and not record.machine.powered():
            self._went_off(record)
            return
        if boot is not None and boot != record.boot:
            record.health = Health.INITIALIZING
            with self.lock:
                self._see_boot(record)
        if record.health is Health.INITIALIZING and record.machine.ready():
            record.health = Health.OK
            record.posted = record.machine.console()[-CONSOLE_BYTES:]

    def _went_off(self, record: Record) -> None:
        """An instance that switched itself off is stopped, or terminated where its owner said so."""
        self._say(f"{record.instance.id}: it has switched itself off")
        with self.lock:
            if record.instance.instance_initiated_shutdown_behavior == "terminate":
                record.instance.terminate()
            else:
                record.instance.stop()

    def _see_boot(self, record: Record) -> None:
        """Note the present boot; the lock is held."""
        record.boot = record.machine.boot()
        self._booted(record)


def set_state(instance: Any, name: str) -> None:
    """Give an instance of moto a state, whole at once."""
    state = type(instance._state)(name, CODES[name])  # noqa: SLF001 (moto has no other way)
    instance._state = state  # noqa: SLF001
