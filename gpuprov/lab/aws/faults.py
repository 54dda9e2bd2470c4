"""Faults that a person can ask the lab's AWS for: their kinds, the server's book of them, and how to ask.

A fault is asked for at `ENDPOINT/gpuprov-lab/faults` (POST a JSON object, GET the list, DELETE one or all).
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any
from urllib.request import Request, urlopen

from gpuprov.lab.aws.request import ApiRequest

PATH = "/gpuprov-lab/faults"
IMAGES_PATH = "/gpuprov-lab/images"
KINDS = {
    "capacity": "RunInstances and StartInstances: InsufficientInstanceCapacity; `zone` and `type` narrow it",
    "quota": "RunInstances: VcpuLimitExceeded, when the account's vCPUs would be more than `limit`",
    "service-quota": "GetServiceQuota: every quota of EC2 is `limit`",
    "denied": "an action: UnauthorizedOperation or AccessDenied; `action` says which",
    "throttled": "an action: RequestLimitExceeded, or what the service says instead; `action` says which",
    "expired": "every call: the session's token has expired",
    "invalid-key": "every call: the access key is not known",
    "status-check": "an instance (`instance`: id or Name tag, default all) fails its status checks",
    "slow": "an action is done, and its answer comes `seconds` later",
    "cut": "an action is done, and the connection is cut instead of an answer",
    "boot-off": "new instances have no node: they exist in the API only",
}
"""The kinds of faults, and what each shows."""
_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One fault that was asked for."""

    kind: str
    """One of `KINDS`."""
    action: str = "*"
    """Which calls: "ec2:RunInstances", "RunInstances", "s3:*"."""
    zone: str = ""
    """An availability zone; empty for all."""
    type: str = ""
    """An instance type; empty for all."""
    instance: str = ""
    """An instance's id or Name tag; empty for all."""
    seconds: float = 0.0
    """How long a slow answer takes."""
    limit: int = 0
    """How many vCPUs the account may have."""
    times: int | None = None
    """How often it strikes before it is gone; None for ever."""
    onwards: bool = False
    """Whether it strikes every call, whatever its action, from the first on that it has struck."""
    id: int = 0
    """Given by the server."""


def fault_of(stored: Any) -> Fault:
    """Read a fault that a person sent.

    Raises:
        ValueError: no object, an unknown kind or key, or a value of a wrong type.
    """
    if not isinstance(stored, dict):
        raise ValueError("a fault is a JSON object")  # noqa: TRY004 (bad input, whatever its type)
    known = {item.name: item for item in fields(Fault) if item.name != "id"}
    unknown = sorted(set(stored) - set(known))
    if unknown:
        raise ValueError(f"unknown keys {', '.join(unknown)}; known: {', '.join(known)}")
    if stored.get("kind") not in KINDS:
        raise ValueError(f"unknown kind {stored.get('kind')!r}; known: {', '.join(KINDS)}")
    types = {"seconds": (int, float), "limit": (int,), "times": (int,), "onwards": (bool,)}
    for name, value in stored.items():
        if not isinstance(value, types.get(name, (str,))) or (isinstance(value, bool) and name != "onwards"):
            raise ValueError(f"{name}: {value!r} is of a wrong type")
    return Fault(**stored)


@dataclass(slots=True)
class FaultBook:
    """The faults that are asked for now; safe for the threads of the server."""

    _faults: dict[int, Fault] = field(default_factory=dict)
    _waiting: list[ApiRequest] = field(default_factory=list)
    _last: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> int:
        """Write a fault down and return its id."""
        with self._lock:
            self._last += 1
            self._faults[self._last] = replace(fault, id=self._last)
            return self._last

    def remove(self, fault_id: int | None) -> bool:
        """Strike one out, or all (None); whether there was one."""
        with self._lock:
            gone = [number for number in self._faults if fault_id in (None, number)]
            for number in gone:
                del self._faults[number]
            return bool(gone)

    def listing(self) -> dict[str, Any]:
        """Return the faults, and the calls whose slow answer is awaited, as plain JSON."""
        with self._lock:
            waiting = [{"service": call.service, "action": call.action} for call in self._waiting]
            return {"faults": [asdict(fault) for fault in self._faults.values()], "in_progress": waiting}

    def struck(self, kind: str, call: ApiRequest | None = None, **where: str) -> Fault | None:
        """Return the first fault of a kind that means this call and place, and count it.

        Args:
            kind: one of `KINDS`.
            call: the call; None when the kind does not depend on it.
            where: what the fault may be narrowed to: zone, type.
        """
        with self._lock:
            for fault in self._faults.values():
                narrowed = any(getattr(fault, name) not in ("", value) for name, value in where.items())
                if fault.kind != kind or narrowed or (call is not None and not call.matches(fault.action)):
                    continue
                self._count(fault)
                return fault
        return None

    def limit(self) -> Fault | None:
        """Return the quota, if one is asked for; it is counted only when it strikes."""
        return self._first("quota")

    def service_quota(self) -> int | None:
        """What Service Quotas says of every quota, if that is asked for."""
        found = self._first("service-quota")
        return None if found is None else found.limit

    def impaired(self, names: tuple[str, ...]) -> bool:
        """Whether an instance with one of these names (id, Name tag) fails its status checks."""
        with self._lock:
            return any(f.kind == "status-check" and f.instance in ("", *names) for f in self._faults.values())

    def boot_off(self) -> bool:
        """Whether new instances are to have no node."""
        return self._first("boot-off") is not None

    @contextmanager
    def waiting(self, call: ApiRequest) -> Iterator[None]:
        """Show a call as in progress."""
        with self._lock:
            self._waiting.append(call)
        try:
            yield
        finally:
            with self._lock:
                self._waiting.remove(call)

    def _first(self, kind: str) -> Fault | None:
        with self._lock:
            return next((fault for fault in self._faults.values() if fault.kind == kind), None)

    def _count(self, fault: Fault) -> None:
        if fault.onwards:
            fault = replace(fault, action="*", onwards=False)
            self._faults[fault.id] = fault
        if fault.times is None:
            return
        if fault.times <= 1:
            del self._faults[fault.id]
        else:
            self._faults[fault.id] = replace(fault, times=fault.times - 1)


def ask(endpoint: str, path: str, *, method: str = "GET", body: Any = None) -> Any:
    """Call the lab's own door beside AWS's.

    Args:
        endpoint: AWS_ENDPOINT_URL of the lab.
        path: `PATH` or `IMAGES_PATH`, with what follows.
        method: the HTTP method.
        body: plain JSON to send.

    Raises:
        OSError: the server does not answer, or refuses (urllib.error.HTTPError).
    """
    data = None if body is None else json.dumps(body).encode()
    request = Request(f"{endpoint.rstrip('/')}{path}", data=data, method=method)  # noqa: S310 (http on loopback)
    with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 (the same)
        return json.loads(answer.read() or b"null")


def add(endpoint: str, fault: Fault) -> int:
    """Ask for a fault; returns its id."""
    plain = {name: value for name, value in asdict(fault).items() if name != "id" and value is not None}
    return int(ask(endpoint, PATH, method="POST", body=plain)["id"])


def remove(endpoint: str, fault_id: int) -> None:
    """Take a fault back; nothing happens when it has struck its last time."""
    ask(endpoint, f"{PATH}/{fault_id}", method="DELETE")


def clear(endpoint: str) -> None:
    """Take all faults back."""
    ask(endpoint, PATH, method="DELETE")


@contextmanager
def fault(endpoint: str, **what: Any) -> Iterator[int]:
    """Have a fault while the block runs.

    Args:
        endpoint: AWS_ENDPOINT_URL of the lab.
        what: the fields of the `Fault`: kind="capacity", zone="us-east-1a".
    """
    number = add(endpoint, Fault(**what))
    try:
        yield number
    finally:
        remove(endpoint, number)


def slow(endpoint: str, *, action: str, seconds: float) -> Any:
    """Have the answers of an action come later while the block runs."""
    return fault(endpoint, kind="slow", action=action, seconds=seconds)


def in_progress(endpoint: str, *, action: str) -> bool:
    """Whether a call of this action is done and waits for its slow answer."""
    calls = ask(endpoint, PATH)["in_progress"]
    return any(ApiRequest(service=call["service"], action=call["action"]).matches(action) for call in calls)


def publish_image(endpoint: str) -> str:
    """Have the OS's publisher offer a newer base image; returns its id."""
    return str(ask(endpoint, IMAGES_PATH, method="POST", body={})["id"])
