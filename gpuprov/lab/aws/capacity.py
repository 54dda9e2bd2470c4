"""Capacity that the lab's account has reserved, and its quotas: moto 5.2.5 has neither (tried 2026-11-30).

A reservation is asked for at `ENDPOINT/gpuprov-lab/reservations` (POST a JSON object, GET the list, DELETE one).
Followed: EC2 API Reference, DescribeCapacityReservations, CapacityReservation, RunInstances and "Error codes"; Service
Quotas API Reference, GetServiceQuota; AWS Resource Groups API Reference, ListGroupResources (read 2026-11-30).
"""

import json
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any
from xml.sax.saxutils import escape

from gpuprov.lab.aws.errors import error_body, refusal
from gpuprov.lab.aws.faults import ask
from gpuprov.lab.aws.request import ApiRequest

PATH = "/gpuprov-lab/reservations"
BLOCK = "capacity-block"
_ACTIVE = "active"
_GENEROUS = 100_000
"""vCPUs of each quota while no fault `service-quota` says less."""
_GROUPS_PATH = "/list-group-resources"
_SPOT = "spot"

Answer = tuple[int, list[tuple[str, str]], bytes]


@dataclass(frozen=True, kw_only=True, slots=True)
class LabReservation:
    """One capacity reservation, or capacity block."""

    type: str
    """The instance type."""
    zone: str
    total: int = 1
    kind: str = "default"
    """default | capacity-block."""
    state: str = _ACTIVE
    begins: str = "2026-11-01T11:30:00.000Z"
    ends: str = ""
    """UTC time, ISO; empty for one without an end."""
    group: str = ""
    """Name of the resource group that it belongs to."""
    id: str = ""
    """Given by the server."""


@dataclass(slots=True)
class CapacityBook:
    """What is reserved; safe for the threads of the server.

    Args:
        account: the account's number.
        region: the region.
        used: how many instances are in a reservation now.
    """

    account: str
    region: str
    used: Callable[[str], int]
    _held: dict[str, LabReservation] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, stored: Any) -> str:
        """Reserve what a person asked for, and return its id.

        Raises:
            ValueError: no object, an unknown key, or a value of a wrong type.
        """
        made = reservation_of(stored)
        made = replace(made, id=f"cr-{secrets.token_hex(9)[:17]}")
        with self._lock:
            self._held[made.id] = made
        return made.id

    def remove(self, id_: str) -> bool:
        """Let a reservation end; whether there was one. Who is in it runs on, as EC2 says."""
        with self._lock:
            return self._held.pop(id_, None) is not None

    def listing(self) -> dict[str, Any]:
        """All of them as plain JSON."""
        with self._lock:
            return {"reservations": [asdict(one) | {"used": self.used(one.id)} for one in self._held.values()]}

    def refuse(self, id_: str, *, type_: str, zone: str, market: str, count: int) -> None:
        """Refuse instances that target a reservation which cannot hold them.

        Raises:
            Exception: EC2's error.
        """
        with self._lock:
            found = self._held.get(id_)
        if found is None:
            raise refusal(
                "InvalidCapacityReservationId.NotFound", f"The capacity reservation ID '{id_}' does not exist"
            )
        if found.state != _ACTIVE:
            raise refusal(
                "InvalidCapacityReservationState.PendingActivation", f"The reservation {id_} is {found.state}."
            )
        if (found.kind == BLOCK) != (market == BLOCK):
            raise refusal(
                "InvalidParameterCombination", f"{id_} is of the type {found.kind}: the market does not fit it."
            )
        if (found.type, found.zone) != (type_, zone):
            raise refusal(
                "InvalidParameterValue",
                f"The reservation {id_} is for {found.type} in {found.zone}, not for {type_} in {zone}.",
            )
        if self.used(id_) + count > found.total:
            raise refusal(
                "ReservationCapacityExceeded",
                f"The targeted Capacity Reservation {id_} does not have enough available instance capacity to fulfill"
                " your request.",
            )

    def answer(self, call: ApiRequest, path: str, body: bytes, *, quota: int | None) -> Answer | None:
        """Answer a call that moto cannot; None leaves it to moto.

        Args:
            call: the call.
            path: its path.
            body: its body.
            quota: what the fault `service-quota` says.
        """
        if (call.service, call.action) == ("ec2", "DescribeCapacityReservations"):
            return self._described(call.parameters)
        if (call.service, call.action) == ("servicequotas", "GetServiceQuota"):
            return _quota(json.loads(body), quota)
        if call.service == "resource-groups" and path == _GROUPS_PATH:
            return self._listed(json.loads(body))
        return None

    def _described(self, parameters: Mapping[str, str]) -> Answer:
        wanted = [value for key, value in parameters.items() if key.startswith("CapacityReservationId.")]
        with self._lock:
            held = dict(self._held)
        missing = [id_ for id_ in wanted if id_ not in held]
        if missing:
            text = f"The capacity reservation ID '{missing[0]}' does not exist"
            return 400, _XML, error_body("ec2", "InvalidCapacityReservationId.NotFound", text).encode()
        rows = "".join(self._row(held[id_]) for id_ in (wanted or held))
        return (
            200,
            _XML,
            (
                '<?xml version="1.0" encoding="UTF-8"?>\n'
                '<DescribeCapacityReservationsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
                f"<requestId>gpuprov-lab</requestId><capacityReservationSet>{rows}</capacityReservationSet>"
                "</DescribeCapacityReservationsResponse>"
            ).encode(),
        )

    def _row(self, one: LabReservation) -> str:
        free = max(0, one.total - self.used(one.id)) if one.state == _ACTIVE else 0
        shown = {
            "capacityReservationId": one.id,
            "capacityReservationArn": self._arn(one),
            "ownerId": self.account,
            "instanceType": one.type,
            "instancePlatform": "Linux/UNIX",
            "availabilityZone": one.zone,
            "tenancy": "default",
            "totalInstanceCount": str(one.total),
            "availableInstanceCount": str(free),
            "state": one.state,
            "startDate": one.begins,
            **({"endDate": one.ends} if one.ends else {}),
            "endDateType": "limited" if one.ends else "unlimited",
            "instanceMatchCriteria": "targeted",
            "reservationType": one.kind,
        }
        return "<item>" + "".join(f"<{key}>{escape(text)}</{key}>" for key, text in shown.items()) + "</item>"

    def _listed(self, asked: Mapping[str, Any]) -> Answer:
        name = str(asked.get("Group") or asked.get("GroupName") or "").rpartition(":group/")[2]
        with self._lock:
            members = [one for one in self._held.values() if one.group == name]
        if not members:
            return _json({"Code": "NotFoundException", "Message": f"Cannot find group {name}"}, status=404)
        return _json({"Resources": [self._member(one) for one in members]})

    def _member(self, one: LabReservation) -> dict[str, Any]:
        kind = "AWS::EC2::CapacityReservation"
        return {"Identifier": {"ResourceArn": self._arn(one), "ResourceType": kind}}

    def _arn(self, one: LabReservation) -> str:
        return f"arn:aws:ec2:{self.region}:{self.account}:capacity-reservation/{one.id}"


_XML = [("Content-Type", "text/xml")]


def reservation_of(stored: Any) -> LabReservation:
    """Read a reservation that a person sent.

    Raises:
        ValueError: no object, an unknown key, or a value of a wrong type.
    """
    if not isinstance(stored, dict):
        raise ValueError("a reservation is a JSON object")  # noqa: TRY004 (bad input, whatever its type)
    known = [item.name for item in fields(LabReservation) if item.name != "id"]
    unknown = sorted(set(stored) - set(known))
    if unknown or not {"type", "zone"} <= set(stored):
        raise ValueError(f"a reservation needs type and zone, and may have {', '.join(known)}; given: {sorted(stored)}")
    for name, value in stored.items():
        if isinstance(value, bool) or not isinstance(value, int if name == "total" else str):
            raise ValueError(f"{name}: {value!r} is of a wrong type")  # noqa: TRY004 (bad input, whatever its type)
    return LabReservation(**stored)


def lifecycle_of(market: str) -> str | None:
    """What EC2 shows as an instance's lifecycle for a market type; None for on demand."""
    return market if market in {_SPOT, BLOCK} else None


def reserve(endpoint: str, **what: Any) -> str:
    """Have the lab's account reserve capacity; returns the reservation's id.

    Args:
        endpoint: AWS_ENDPOINT_URL of the lab.
        what: the fields of a `LabReservation`.
    """
    return str(ask(endpoint, PATH, method="POST", body=what)["id"])


def in_reservation(instances: Iterable[Any], id_: str) -> int:
    """How many of moto's instances hold a place in a reservation: one that is stopped or gone does not."""
    return sum(
        1
        for one in instances
        if getattr(one, "capacity_reservation_id", None) == id_ and one.state in {"pending", "running"}
    )


def _quota(asked: Mapping[str, Any], limit: int | None) -> Answer:
    code = str(asked.get("QuotaCode"))
    value = float(_GENEROUS if limit is None else limit)
    shown = {"ServiceCode": asked.get("ServiceCode"), "QuotaCode": code, "Value": value, "Unit": "None"}
    return _json({"Quota": shown})


def _json(value: Any, *, status: int = 200) -> Answer:
    kind = "application/x-amz-json-1.1" if status == 200 else "application/json"  # noqa: PLR2004 (HTTP: done)
    headers = [("Content-Type", kind)]
    if status != 200:  # noqa: PLR2004 (HTTP: done)
        headers.append(("x-amzn-ErrorType", value["Code"]))
    return status, headers, json.dumps(value).encode()
