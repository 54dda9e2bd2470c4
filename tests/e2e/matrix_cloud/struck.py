"""Whole commands of gpuprov as processes of their own, struck while the answer to one action is awaited."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab_account import REGION, Cloud
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.cloud.state import read_state
from gpuprov.cloud.types import StackPlace
from gpuprov.lab.aws.faults import Fault
from tests.e2e.account import Account, storage_names
from tests.e2e.matrix_cloud.paper import write_site
from tests.e2e.striking import IN_THE_MIDDLE, LIMIT, engine_at, strike

ROOT = Path(__file__).parents[3]
SLOW = 3.0
"""Seconds that an answer is held back while somebody is killed or asked to stop."""
LISTED = {
    "aws:ec2/vpc:Vpc": "Vpcs",
    "aws:ec2/subnet:Subnet": "Subnets",
    "aws:ec2/internetGateway:InternetGateway": "InternetGateways",
    "aws:ec2/routeTable:RouteTable": "RouteTables",
    "aws:ec2/securityGroup:SecurityGroup": "SecurityGroups",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "SecurityGroupRules",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "SecurityGroupRules",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "VpcEndpoints",
    "aws:ec2/instance:Instance": "instance",
    "aws:ebs/volume:Volume": "Volumes",
    "aws:s3/bucket:Bucket": "bucket",
    "aws:iam/role:Role": "role",
    "aws:iam/instanceProfile:InstanceProfile": "profile",
}
"""Type -> its word in a listing of the account."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a command ended."""

    status: int
    told: tuple[tuple[str, str, str], ...]
    """Code, severity and sentence of each diagnostic."""
    text: str
    """All that it printed, for a failed assertion."""

    @property
    def summed(self) -> list[str]:
        """The codes of its errors, or its status where it tells none."""
        return sorted(self.errors) or [f"status {self.status}"]

    @property
    def errors(self) -> set[str]:
        """The codes of its errors."""
        return {code for code, severity, _ in self.told if severity == "error"}


@functools.lru_cache(maxsize=1)
def find_account(endpoint: str) -> Account:
    """The lab's account, asked past gpuprov."""
    return Account(account_environment(endpoint))


def account_environment(endpoint: str) -> dict[str, str]:
    """What makes the lab's account that of a process."""
    return {
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": endpoint,
    }


def start_other(module: str, *words: str, **environment: str) -> "subprocess.Popen[str]":
    """Start another gpuprov, in a group of its own."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "builders")])
    return subprocess.Popen(
        (sys.executable, "-m", f"tests.e2e.matrix_cloud.{module}", *words),
        cwd=ROOT,
        env={**os.environ, **environment, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: "subprocess.Popen[str]") -> Ended:
    """Wait for a command's end; one that hangs is killed, and the test fails."""
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    last = out.strip().splitlines()[-1:]
    rows = json.loads(last[0]) if last and last[0].startswith("[") else []
    told = tuple(
        (code, severity, f"{address}: {summary} {detail}") for code, address, severity, summary, detail in rows
    )
    return Ended(status=process.returncode, told=told, text=f"{out}\n{err}")


def fault_of(kind: str, action: str, fault: dict[str, Any]) -> Fault:
    """The lab's fault of a row of the cases."""
    return Fault(kind=kind, action=action, times=fault.get("times"), onwards=fault.get("onwards", False))


def in_flight(cloud: Cloud, action: str) -> bool:
    """Whether the slow answer of an action is awaited."""
    waiting = cloud.account.book.listing()["in_progress"]
    return any(f"{call['service']}:{call['action']}" == action for call in waiting)


@dataclass(kw_only=True)
class Site:
    """A spec's folder and an account; each command is a process of its own."""

    folder: Path
    cloud: Cloud
    port: int
    """The plugin's."""
    path: Path = field(init=False)
    before: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Write the spec, and look at the account before anything is made."""
        self.path = write_site(self.folder / "site")
        self.before = self.listing()

    def listing(self) -> frozenset[str]:
        """Everything in the account."""
        return find_account(self.cloud.endpoint).listing()

    def there(self) -> frozenset[str]:
        """Everything in the account beside what was there before."""
        return self.listing() - self.before

    def counts(self) -> Counter[str]:
        """How many of each kind that is."""
        return Counter(line.partition(" ")[0] for line in self.there())

    def client(self, service: str) -> Any:
        """A client of the account."""
        return self.cloud.client(service)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start a command: a verb and its names."""
        environment = {
            **account_environment(self.cloud.endpoint),
            "PULUMI_DEBUG_PROVIDERS": f"aws:{self.port}",
        }
        return start_other("paper", words[0], str(self.path), *words[1:], **environment)

    def run(self, *words: str) -> Ended:
        """Run a command to its end."""
        return ended(self.start(*words))

    def struck(self, fault: dict[str, Any], action: str, *words: str) -> Ended:
        """Run a command that a fault strikes at an action."""
        book, kind = self.cloud.account.book, fault["kind"]
        if kind not in IN_THE_MIDDLE:
            book.add(fault_of(kind, action, fault))
            done = self.run(*words)
        else:
            book.add(Fault(kind="slow", action=action, seconds=SLOW, times=1))
            process = self.start(*words)
            strike(process, kind, waiting=lambda: in_flight(self.cloud, action), engine=self._engine)
            done = ended(process)
        book.remove(None)
        return done

    def wait_for_the_engine(self) -> None:
        """Until what was in flight has ended: it goes on when gpuprov is killed, or is asked to stop twice."""
        until = time.monotonic() + LIMIT
        while self._engine() is not None:
            assert time.monotonic() < until, "the engine does not end"
            time.sleep(0.1)

    def strangers(self) -> list[str]:
        """What the state knows and the account has not; nothing may be pending."""
        state = read_state(self._place("train"))
        assert state.pending == ()
        known = {f"{LISTED[row.type]} {row.id}" for row in state.resources.values() if row.type in LISTED}
        return sorted(known - self.listing())

    def put(self, bucket: str, key: str, data: bytes) -> None:
        """Put an object into a bucket, past its policy: moto knows no condition, and refuses what comes without TLS."""
        get_backend("s3")[DEFAULT_ACCOUNT_ID]["aws"].put_object(bucket, key, data)

    def get(self, bucket: str, key: str) -> bytes:
        """An object of a bucket, by the same way."""
        found: bytes = get_backend("s3")[DEFAULT_ACCOUNT_ID]["aws"].get_object(bucket, key).value
        return found

    def held(self) -> list[str]:
        """Names of the storages that the state holds."""
        return storage_names(read_state(self._place("train")).resources)

    def edit(self, old: str, new: str) -> None:
        """Change the spec."""
        text = self.path.read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in\n{text}"
        self.path.write_text(text.replace(old, new), encoding="utf-8")

    def _engine(self) -> int | None:
        return engine_at(self._place("train")) or engine_at(self._place("train-image-train"))

    def _place(self, name: str) -> StackPlace:
        return StackPlace(name=name, folder=self.path.parent / ".gpuprov" / "cloud", environment={}, region=REGION)


def note(name: str, told: Iterable[str], left: Sequence[str], lost: Sequence[str], began: float) -> None:
    """Add a row to the table, where one is asked for.

    Args:
        name: what was tried.
        told: the codes of the command that was struck, or how its process ended.
        left: what is in the account and should not be.
        lost: what should be there and is not.
        began: when the trial began, by the clock that only rises.
    """
    path = os.environ.get("MATRIX_CLOUD_TABLE")
    if path:
        cells = (name, ", ".join(told), len(left), len(lost), f"{time.monotonic() - began:.1f}")
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"| {' | '.join(map(str, cells))} |\n")
