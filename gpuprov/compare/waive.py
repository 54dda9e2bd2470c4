"""Waivers: which findings the spec takes upon itself, and until when."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from gpuprov.model.address import member_address, pattern_of, split_address
from gpuprov.model.finding import Finding
from gpuprov.model.waiver import Waiver


def covers(waiver: Waiver, address: str) -> bool:
    """Whether a waiver names an address: itself, its member (`file["/etc/motd"]`), or its pattern."""
    names = {address, pattern_of(address)}
    parts = split_address(address)
    if parts is not None:
        names.add(member_address(parts[0], parts[1]))
    return waiver.facet in names


def expired(waiver: Waiver, today: str) -> bool:
    """Whether a waiver's last day is over.

    Args:
        waiver: `until` is an ISO date and inclusive.
        today: ISO date.
    """
    return date.fromisoformat(waiver.until) < date.fromisoformat(today)


def waive(findings: Iterable[Finding], waivers: Iterable[Waiver], *, today: str) -> tuple[Finding, ...]:
    """Mark the findings that a waiver covers today; a waived finding stays, without a say in status and plan."""
    valid = [waiver for waiver in waivers if not expired(waiver, today)]
    if not valid:
        return tuple(findings)
    return tuple(
        replace(finding, waiver=next((w for w in valid if covers(w, finding.address)), None)) for finding in findings
    )
