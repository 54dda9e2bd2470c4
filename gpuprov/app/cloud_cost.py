"""What the hosts of a stack cost: before a run and after it, and so far."""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, cast

from gpuprov.cloud.decide.market import bought_of
from gpuprov.cloud.decide.paid import paid_in_document, paid_in_state
from gpuprov.cloud.state import INSTANCE, StackState, StateResource
from gpuprov.cloud.types import Document, InstanceHealth, InstanceState
from gpuprov.cost.around import with_around
from gpuprov.cost.fleet import ON_DEMAND, fleet_cost, spent
from gpuprov.model.cloud_view import CloudHost, CloudView
from gpuprov.model.cost import CostChange
from gpuprov.spec.types import Spec

_RUNNING: Final = frozenset({InstanceState.PENDING, InstanceState.RUNNING})
"""States in which an instance is paid for (EC2 User Guide, instance lifecycle; read 2026-11-30)."""
_HOUR: Final = 3600.0


def cost_change(state: StackState, document: Document, health: Mapping[str, InstanceHealth], spec: Spec) -> CostChange:
    """The hourly cost of the hosts that run and of what stands around them, and what that will be.

    Args:
        state: what stands.
        document: what is wanted; its hosts run afterwards, but for those that stand stopped.
        health: of what stands; one that EC2 does not tell of is taken to run.
        spec: whose catalog's prices.
    """
    region = str(document.get("region") or "")
    standing = dict(_standing(state))
    stopped = {name for name, row in standing.items() if _is_off(health.get(row.id))}
    before = [_bought(row) for name, row in standing.items() if name not in stopped]
    wanted = cast("list[dict[str, Any]]", document.get("instances") or [])
    # A host that stays keeps the type and the price that it was bought at.
    after = [
        _bought(standing[row["name"]])
        if row["name"] in standing and _bought(standing[row["name"]])[0] == row["type"]
        else (str(row["type"]), str((row.get("market") or {}).get("kind") or ON_DEMAND))
        for row in wanted
        if row["name"] not in stopped
    ]
    addressed = {host.name for host in state.made.hosts if host.public_address and host.name not in stopped}
    standing_parts = paid_in_state({a: row.inputs for a, row in state.resources.items()}, addressed=addressed)
    wanted_parts = paid_in_document(document, off=stopped)
    return CostChange(
        before=with_around(fleet_cost(before, region, spec.catalog), standing_parts, region, spec.catalog),
        after=with_around(fleet_cost(after, region, spec.catalog), wanted_parts, region, spec.catalog),
    )


def cloud_view(state: StackState, health: Mapping[str, InstanceHealth], spec: Spec, region: str) -> CloudView:
    """The instances of a stack with their ages, and what they have cost since each was started last.

    EC2 keeps no earlier start, so nothing is told of what was before.

    Args:
        state: of the stack.
        health: what EC2 says of its instances.
        spec: whose catalog's prices.
        region: of the stack.
    """
    now = time.time()
    rows = dict(_standing(state))
    hosts = tuple(
        CloudHost(
            name=host.name,
            pool=host.pool,
            instance=host.instance_id,
            type=host.type,
            bought=_bought(rows[host.name])[1],
            image=host.image,
            zone=host.zone,
            state=str(found.state) if found else "unknown",
            seconds=now - datetime.fromisoformat(found.launched).timestamp()
            if found and found.launched and not _is_off(found)
            else None,
        )
        for host in state.made.hosts
        for found in [health.get(host.instance_id)]
    )
    running = [(host.type, host.bought, host.seconds / _HOUR) for host in hosts if host.seconds is not None]
    return CloudView(hosts=hosts, spent=spent(running, region, spec.catalog))


def _standing(state: StackState) -> Iterator[tuple[str, StateResource]]:
    for address, row in state.resources.items():
        if row.type == INSTANCE:
            yield address.partition(".")[2], row


def _bought(row: StateResource) -> tuple[str, str]:
    return str(row.inputs.get("instanceType") or row.outputs.get("instanceType") or ""), bought_of(row.inputs).kind


def _is_off(found: InstanceHealth | None) -> bool:
    return found is not None and found.state not in _RUNNING
