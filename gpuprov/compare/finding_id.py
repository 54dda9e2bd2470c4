"""Ids of findings: the same disagreement has the same id in every run."""

from typing import Final

from gpuprov.document.canonical import digest
from gpuprov.model.finding import Finding

_LENGTH: Final = 10


def finding_id(finding: Finding) -> str:
    """Give a finding's id: from host, address and what it is held against, never from values, times or order."""
    return plain_id(finding.host, finding.address, finding.basis or finding.sides[0])


def plain_id(*parts: str) -> str:
    """An id of the same form from any texts; equal texts have equal ids."""
    return "F-" + digest(list(parts)).removeprefix("sha256:")[:_LENGTH]
