"""One trial: a stack in an account of its own, a fault at one action, then one recovery and one run; what is there."""

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cloud_builders import STORAGE, cloud_document, cloud_pool, cloud_spec
from lab_account import IMAGE, REGION, TYPE, Cloud

from gpuprov.cloud import lookup
from gpuprov.cloud.decide.document import data_document
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.new_groups import finish_taken_over
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import Document, StackPlace
from gpuprov.lab.aws.faults import Fault
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import ignore_progress
from tests.e2e.matrix_cloud.struck import LISTED, SLOW, ended, fault_of, find_account, in_flight, start_other
from tests.e2e.striking import IN_THE_MIDDLE, engine_at, strike


@dataclass(kw_only=True)
class Outcome:
    """What is in the account after a trial, beside what belongs there."""

    told: list[str]
    """Codes of the run that was struck."""
    orphans: list[str]
    """In the account and not expected there, or not known to the state."""
    missing: list[str]
    """Expected, or known to the state, and not in the account; what held data among them."""


@dataclass(kw_only=True)
class Trial:
    """A stack of one host with a volume and a bucket, in the lab's account on paper."""

    folder: Path
    cloud: Cloud
    port: int
    """The plugin's."""
    before: frozenset[str] = field(default_factory=frozenset)
    _clients: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look at the account before anything is made."""
        self.before = self.listing()
        spec = cloud_spec(cloud_pool(hosts=("train-a",), instance=TYPE), storage=STORAGE)
        self.asked = cloud_document(spec, zones={TYPE: (f"{REGION}a",)}, images={"train": IMAGE})
        self.nothing: Document = data_document(self.asked, delete=("datasets", "scratch"))

    @property
    def place(self) -> StackPlace:
        """Where the stack's files are."""
        environment = {"PULUMI_DEBUG_PROVIDERS": f"aws:{self.port}", "AWS_REGION": REGION}
        return StackPlace(name="train", folder=self.folder / "stack", environment=environment, region=REGION)

    def stack(self) -> CloudStack:
        """The stack, as another run of gpuprov would open it."""
        return CloudStack(self.place, find_engine(os.environ), patience=60, grace=SLOW + 1)

    def listing(self) -> frozenset[str]:
        """Everything in the account, asked past gpuprov."""
        return find_account(self.cloud.endpoint).listing()

    def counts(self) -> Counter[str]:
        """How many of each kind the account holds beside what was there before."""
        return Counter(line.partition(" ")[0] for line in self.listing() - self.before)

    def struck(self, fault: dict[str, Any], action: str, document: Document) -> list[str]:
        """Run an update that a fault strikes at an action; the codes that it is told, or how its process ended."""
        kind = fault["kind"]
        if kind in {"gone", "stopped twice"}:
            return self._elsewhere(kind, action, document)
        if kind in IN_THE_MIDDLE:
            return [one.code for one in self._in_the_middle(kind, action, document)]
        self.cloud.account.book.add(fault_of(kind, action, fault))
        told = _update(self.stack(), document)
        self.cloud.account.book.remove(None)
        return [one.code for one in told]

    def go_on(self, document: Document) -> tuple[Diagnostic, ...]:
        """One recovery and one run, as the next `up` does them."""
        stack = self.stack()
        stack.recover(self._find, ignore_progress, document=document, taken_over=self._taken_over)
        stack.preview(document, report=ignore_progress)
        return stack.apply(document, report=ignore_progress).diagnostics

    def outcome(self, expected: Counter[str], told: list[str]) -> Outcome:
        """Compare the account with what belongs there and with the state."""
        there, counts, state = self.listing() - self.before, self.counts(), self.stack().state()
        known = {f"{LISTED[row.type]} {row.id}" for row in state.resources.values() if row.type in LISTED}
        assert state.pending == ()
        return Outcome(
            told=told,
            orphans=sorted((counts - expected).elements()),
            missing=sorted([*(expected - counts).elements(), *(known - there)]),
        )

    def _find(self, token: str, key: str) -> str | None:
        return lookup.find(self._client, token, key)

    def _taken_over(self, token: str, identity: str) -> None:
        finish_taken_over(self._client, token, identity)

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self.cloud.client(service)
        return self._clients[service]

    def _in_the_middle(self, kind: str, action: str, document: Document) -> tuple[Diagnostic, ...]:
        """Strike while the answer of an action is awaited: AWS has done it, and nobody knows yet."""
        book, cancel = self.cloud.account.book, threading.Event()
        book.add(Fault(kind="slow", action=action, seconds=SLOW, times=1))
        told: list[Diagnostic] = []
        stack = self.stack()
        run = threading.Thread(target=lambda: told.extend(_update(stack, document, cancel)))
        run.start()
        _wait(lambda: bool(book.listing()["in_progress"]) or not run.is_alive())
        if kind == "stopped":
            cancel.set()
        elif (engine := engine_at(self.place)) is not None:
            os.kill(engine, signal.SIGKILL)
        run.join()
        book.remove(None)
        _wait(lambda: not book.listing()["in_progress"])
        return tuple(told)

    def _elsewhere(self, kind: str, action: str, document: Document) -> list[str]:
        """Strike another process of gpuprov: this one is needed yet."""
        place, book = self.place, self.cloud.account.book
        order = {"name": place.name, "folder": str(place.folder), "region": place.region, "document": document}
        path = self.folder / "order.json"
        path.write_text(json.dumps({**order, "environment": dict(place.environment)}), encoding="utf-8")
        book.add(Fault(kind="slow", action=action, seconds=SLOW, times=1))
        process = start_other("elsewhere", str(path))
        strike(process, kind, waiting=lambda: in_flight(self.cloud, action), engine=lambda: None)
        done = ended(process)
        at_work = bool(book.listing()["in_progress"])
        book.remove(None)
        assert at_work, f"gpuprov stayed until the action had ended: {done}"
        return [f"status {done.status}"]


def _update(stack: CloudStack, document: Document, cancel: threading.Event | None = None) -> tuple[Diagnostic, ...]:
    try:
        return stack.apply(document, report=ignore_progress, cancel=cancel).diagnostics
    except GpuprovError as error:
        return error.diagnostics


def _wait(for_this: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not for_this():
        assert time.monotonic() < until, "the action was never asked for"
        time.sleep(0.05)
