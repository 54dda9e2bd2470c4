"""One trial: a stack in an account of its own, a fault at one action, then one recovery and one run; what is there."""

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
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.state_lock import read_lock
from gpuprov.cloud.types import Document, StackPlace
from gpuprov.lab.aws.faults import Fault
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import ignore_progress
from tests.e2e.account import Account

_LISTED = {
    "aws:ec2/vpc:Vpc": "Vpcs",
    "aws:ec2/subnet:Subnet": "Subnets",
    "aws:ec2/internetGateway:InternetGateway": "InternetGateways",
    "aws:ec2/routeTable:RouteTable": "RouteTables",
    "aws:ec2/securityGroup:SecurityGroup": "SecurityGroups",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "SecurityGroupRules",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "SecurityGroupRules",
    "aws:ec2/instance:Instance": "instance",
    "aws:ebs/volume:Volume": "Volumes",
    "aws:s3/bucket:Bucket": "bucket",
    "aws:iam/role:Role": "role",
    "aws:iam/instanceProfile:InstanceProfile": "profile",
}
"""Type -> its word in a listing of the account."""
_SLOW = 3.0
"""Seconds that an answer is held back while the engine is killed or asked to stop."""


@dataclass(kw_only=True)
class Outcome:
    """What is in the account after a trial, beside what belongs there."""

    told: list[str]
    """Codes of the run that was struck."""
    orphans: list[str]
    """In the account and not expected there, or not known to the state."""
    missing: list[str]
    """Expected, or known to the state, and not in the account; what held data among them."""
    seconds: float


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
        return CloudStack(self.place, find_engine(os.environ), patience=60, grace=_SLOW + 1)

    def listing(self) -> frozenset[str]:
        """Everything in the account, asked past gpuprov."""
        return Account(
            {
                "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
                "AWS_SECRET_ACCESS_KEY": "none",
                "AWS_REGION": REGION,
                "AWS_ENDPOINT_URL": self.cloud.endpoint,
            }
        ).listing()

    def counts(self) -> Counter[str]:
        """How many of each kind the account holds beside what was there before."""
        return Counter(line.partition(" ")[0] for line in self.listing() - self.before)

    def struck(self, kind: str, action: str, document: Document) -> tuple[Diagnostic, ...]:
        """Run an update that a fault strikes at an action; what it is told."""
        if kind in {"killed", "stopped"}:
            return self._in_the_middle(kind, action, document)
        self.cloud.account.book.add(Fault(kind=kind, action=action, times=1))
        told = _update(self.stack(), document)
        self.cloud.account.book.remove(None)
        return told

    def go_on(self, document: Document) -> tuple[Diagnostic, ...]:
        """One recovery and one run, as the next `up` does them."""
        stack = self.stack()
        stack.recover(self._find, ignore_progress, document=document)
        stack.preview(document, report=ignore_progress)
        return stack.apply(document, report=ignore_progress).diagnostics

    def outcome(self, expected: Counter[str], told: tuple[Diagnostic, ...], began: float) -> Outcome:
        """Compare the account with what belongs there and with the state."""
        there, counts, state = self.listing() - self.before, self.counts(), self.stack().state()
        known = {f"{_LISTED[row.type]} {row.id}" for row in state.resources.values() if row.type in _LISTED}
        assert state.pending == ()
        return Outcome(
            told=[one.code for one in told],
            orphans=sorted((counts - expected).elements()),
            missing=sorted([*(expected - counts).elements(), *(known - there)]),
            seconds=time.monotonic() - began,
        )

    def _find(self, token: str, key: str) -> str | None:
        return lookup.find(self._client, token, key)

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self.cloud.client(service)
        return self._clients[service]

    def _in_the_middle(self, kind: str, action: str, document: Document) -> tuple[Diagnostic, ...]:
        """Strike while the answer of an action is awaited: AWS has done it, and nobody knows yet."""
        book, cancel = self.cloud.account.book, threading.Event()
        book.add(Fault(kind="slow", action=action, seconds=_SLOW, times=1))
        told: list[Diagnostic] = []
        stack = self.stack()
        run = threading.Thread(target=lambda: told.extend(_update(stack, document, cancel)))
        run.start()
        _wait(lambda: bool(book.listing()["in_progress"]) or not run.is_alive())
        if kind == "stopped":
            cancel.set()
        elif (holder := read_lock(self.place)) is not None:
            os.kill(holder.pid, signal.SIGKILL)
        run.join()
        book.remove(None)
        _wait(lambda: not book.listing()["in_progress"])
        return tuple(told)


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
