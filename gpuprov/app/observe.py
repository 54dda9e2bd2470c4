"""Look at hosts for a purpose: what their wants, and gpuprov's own records there, make worth looking at."""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.fact import Known
from gpuprov.model.host import Host
from gpuprov.model.progress import Progress, Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.probe.probe import ProbeRequest, probe_hosts
from gpuprov.want.asked import Asked, asked_by
from gpuprov.want.owned import owned_of
from gpuprov.want.types import Owned

_TRANSACTION_SECONDS: Final = 1800.0
"""How long `up` waits for a package transaction that an earlier run left going; a DKMS build takes minutes."""
_POLL_SECONDS: Final = 2.0


def observe(
    hosts: Sequence[Host],
    fleet: Fleet | None,
    access: Access,
    report: Report,
    *,
    known: Mapping[str, Snapshot] | None = None,
) -> dict[str, Snapshot | NotObserved]:
    """Probe hosts once, all in parallel.

    Args:
        hosts: which.
        fleet: gives the wants whose files and services are worth looking at; None for the stack's own.
        access: how many at a time, and for how long.
        report: where progress goes.
        known: what an earlier look of this run saw, by host: one look is enough where the host's record is the same.
    """
    if not hosts:
        return {}
    if fleet is None:
        return _look(hosts, [], access, report)
    asked = {host.name: _asked(host, (known or {}).get(host.name), fleet) for host in hosts}
    seen = _look(hosts, tuple(asked.values()), access, report)
    # The record of what gpuprov made on a host may name files that no want names any more: look at these too.
    again, more = [], []
    for host in hosts:
        with_record = _asked(host, seen[host.name], fleet)
        if not asked[host.name].covers(with_record):
            again.append(host)
            more.append(with_record)
    return seen | _look(again, [*asked.values(), *more], access, report) if again else seen


def _look(
    hosts: Sequence[Host], asked: Sequence[Asked], access: Access, report: Report
) -> dict[str, Snapshot | NotObserved]:
    request = ProbeRequest(
        paths=tuple(sorted({path for each in asked for path in each.paths})),
        services=tuple(sorted({service for each in asked for service in each.services})),
        devices=tuple(sorted({device for each in asked for device in each.devices})),
        rights=tuple(sorted({place for each in asked for place in each.rights})),
        shares=tuple(sorted({place for each in asked for place in each.shares})),
        settings=tuple(sorted({key for each in asked for key in each.settings})),
    )
    probed = probe_hosts(hosts, request, limit=access.forks, timeout=access.probe_seconds, report=report)
    return {host.name: found.result for host, found in zip(hosts, probed, strict=True)}


def _asked(host: Host, found: Snapshot | NotObserved | None, fleet: Fleet) -> Asked:
    """What the want makes worth looking at, and the host's record as far as it was seen."""
    owned = owned_of(found) if isinstance(found, Snapshot) else None
    return asked_by(fleet.wants[host.name], owned if isinstance(owned, Owned) else None)


def observe_settled(
    hosts: Sequence[Host], fleet: Fleet, access: Access, report: Report
) -> dict[str, Snapshot | NotObserved]:
    """Probe hosts, waiting for package transactions that an earlier, killed run left going.

    Raises:
        GpuprovError: GP-ROLL-004 when one does not end in time.
    """
    seen = observe(hosts, fleet, access, report)
    deadline = time.monotonic() + _TRANSACTION_SECONDS
    while busy := [host for host in hosts if _in_transaction(seen[host.name])]:
        if time.monotonic() > deadline:
            raise GpuprovError(*(_stuck(host) for host in busy))
        for host in busy:
            report(
                Progress(phase="wait", subject=host.name, text="a package transaction of another run is still going")
            )
        time.sleep(_POLL_SECONDS)
        seen |= observe(busy, fleet, access, report)
    return seen


def split(seen: Mapping[str, Snapshot | NotObserved]) -> tuple[dict[str, Snapshot], dict[str, NotObserved]]:
    """Snapshots, and the hosts of which there is none."""
    snapshots = {name: found for name, found in seen.items() if isinstance(found, Snapshot)}
    return snapshots, {name: found for name, found in seen.items() if isinstance(found, NotObserved)}


def _in_transaction(found: Snapshot | NotObserved) -> bool:
    if isinstance(found, NotObserved):
        return False
    observed = found.observe("gpuprov.transaction")
    return isinstance(observed, Known) and isinstance(observed.value, dict) and observed.value.get("state") == "running"


def _stuck(host: Host) -> Diagnostic:
    return Diagnostic(
        code="GP-ROLL-004",
        address=host.name,
        summary=f"the host's package transaction did not end within {_TRANSACTION_SECONDS:.0f} s",
        hint="look there: `systemctl list-units 'gpuprov-transaction-*'`; logs are in /var/lib/gpuprov/transactions",
    )
