import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab_account import PaperMachine

from gpuprov.lab.aws.compute import CODES, CONSOLE_BYTES, Compute, Health, Record, set_state
from gpuprov.lab.aws.images import Layers

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


class State:
    def __init__(self, name: str, code: int) -> None:
        self.name, self.code = name, code


class Instance(SimpleNamespace):
    """As much of moto's instance as the worker touches."""

    @property
    def state(self) -> str:
        return str(self._state.name)


class World:
    def __init__(self, folder: Path) -> None:
        self.seen: list[str] = []
        self.log: list[str] = []
        self.machine = PaperMachine(folder)
        self.instance = Instance(
            id="i-1",
            _state=State("pending", 0),
            state_reason=SimpleNamespace(code="", message=""),
            instance_initiated_shutdown_behavior="stop",
        )
        self.compute = Compute(
            threading.RLock(),
            booted=self.note("booted"),
            moved=self.note("moved"),
            released=self.note("released"),
            say=self.log.append,
        )
        launch: Any = object()
        self.record = Record(
            instance=self.instance,
            machine=self.machine,
            layers=Layers(disk=()),
            launch=lambda: launch,
            forget=lambda: set_state(self.instance, "terminated"),
        )

    def note(self, what: str) -> Callable[[Record], None]:
        return lambda _: self.seen.append(what)

    def settle(self) -> None:
        self.compute.settle("i-1", seconds=10)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "node")
    made.compute.launch(made.record)
    made.settle()
    return made


def test_doings_are_one_after_the_other_and_the_world_is_told_in_time(world: World) -> None:
    assert (world.instance.state, world.instance._state.code) == ("running", 16)
    assert world.seen == ["moved", "booted"]
    world.seen.clear()
    world.compute.stop(world.record, lambda: set_state(world.instance, "stopped"))
    world.compute.start(world.record)
    world.compute.terminate(world.record)
    world.settle()
    assert world.machine.told == ["make", "start", "stop", "describe", "describe", "start", "cut", "remove"]
    assert world.seen == ["moved", "moved", "booted", "released", "moved"]
    assert world.instance.state == "terminated"
    assert world.compute.linked() == ()


def test_an_instance_that_does_not_start_again_is_stopped_and_says_why(world: World) -> None:
    world.compute.stop(world.record, lambda: set_state(world.instance, "stopped"))
    world.settle()

    def start() -> None:
        raise OSError("no boot")

    world.machine.start = start  # type: ignore[method-assign]
    world.compute.start(world.record)
    world.settle()
    assert world.instance.state == "stopped"
    assert world.instance.state_reason.code == "Server.InternalError"
    assert "no boot" in world.log[-1]


def test_a_doing_that_fails_does_not_end_the_worker(world: World) -> None:
    def broken() -> None:
        raise OSError("disk full")

    world.compute.quiet(world.record, broken, off=True)
    world.settle()
    assert "disk full" in world.log[-1]
    assert world.machine.on
    world.compute.reboot(world.record)
    world.settle()
    assert world.machine.told[-1] == "reboot"


def test_a_reboot_begins_the_status_checks_anew(world: World) -> None:
    world.record.health = Health.OK
    world.machine.up = False
    world.compute.reboot(world.record)
    assert world.record.health is Health.INITIALIZING


def test_a_console_is_cut_to_what_ec2_keeps_and_outlives_its_instance(world: World) -> None:
    world.machine.shown = b"a" * CONSOLE_BYTES + b"end"
    assert world.record.console(latest=True)[-3:] == b"end"
    assert len(world.record.console(latest=True)) == CONSOLE_BYTES
    world.compute.terminate(world.record)
    world.settle()
    world.machine.shown = b""
    assert world.record.console(latest=True)[-3:] == b"end"


def test_the_codes_are_those_of_the_api() -> None:
    assert CODES == {
        "pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80,
    }  # fmt: skip
