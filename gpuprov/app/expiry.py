"""`ttl`: until when the cloud hosts are meant to be there."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from gpuprov.app.cloud_site import cloud_of, read_stack
from gpuprov.app.site import Site, open_site
from gpuprov.app.targets import ONPREM
from gpuprov.cloud.state import StackState
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.spec.times import seconds_of

_HOSTS: Final = "aws:ec2/"
"""Where the types of hosts and of their network begin; buckets, volumes and shares outlive them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expiry:
    """The end of a stack's hosts."""

    until: datetime
    now: datetime

    @property
    def due(self) -> bool:
        """Whether it has come."""
        return self.now >= self.until


def expiry_of(site: Site, state: StackState) -> Expiry | None:
    """When the hosts of a stack are to go; None without a ttl, or without hosts."""
    ttl = cloud_of(site).ttl
    made = [row.created for row in state.resources.values() if row.type.startswith(_HOSTS) and row.created]
    if ttl is None or not made or not state.made.hosts:
        return None
    first = min(datetime.fromisoformat(moment) for moment in made)
    return Expiry(until=first + timedelta(seconds=seconds_of(ttl)), now=datetime.fromtimestamp(time.time(), UTC))


def told_of_end(site: Site, state: StackState) -> tuple[Diagnostic, ...]:
    """A note of when the hosts are to go; a warning once that time is over."""
    expiry = expiry_of(site, state)
    return () if expiry is None else (describe(expiry),)


def look_at_end(path: Path, target: str | None) -> Expiry | None:
    """Whether a site's hosts are to go now; read from the stack's state alone.

    Args:
        path: the spec.
        target: as it was named on the command line.

    Raises:
        GpuprovError: GP-RUN-004 for the rack, or a spec without a ttl; GP-CLOUD-013 for a broken state.
    """
    site = open_site(path)
    if target == ONPREM:
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                summary="hosts of a rack have no end: --expired is about the cloud's",
                hint="leave --expired away, or give --target cloud",
            )
        )
    if cloud_of(site).ttl is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                address="targets.cloud.ttl",
                summary="the spec does not say how long its hosts are meant to be there",
                hint="write `targets: {cloud: {ttl: 12h}}`, or leave --expired away",
            )
        )
    return expiry_of(site, read_stack(site))


def describe(expiry: Expiry) -> Diagnostic:
    """The end of the hosts' time, in words."""
    until = f"{expiry.until:%Y-%m-%dT%H:%M:%SZ}"
    if expiry.due:
        return Diagnostic(
            code="GP-CLOUD-059",
            severity=Severity.WARNING,
            address="targets.cloud.ttl",
            summary=f"the hosts' time is over since {until}",
            hint="`gpuprov destroy --expired` removes them; a longer `ttl` keeps them",
        )
    return Diagnostic(
        code="GP-CLOUD-059",
        severity=Severity.NOTE,
        address="targets.cloud.ttl",
        summary=f"the hosts are meant to be there until {until}",
    )
