"""Ids of findings: the same disagreement has the same id in every run."""

from typing import Final

from gpuprov.document.canonical import digest
from gpuprov.model.finding import Finding

_LENGTH: Final = 10


def finding_id(finding: Finding) -> str:
    """Give a finding's id: from host, address and the other side's name, never from values, times or order."""
    full = digest([finding.host, finding.address, finding.sides[0]])
    return "F-" + full.removeprefix("sha256:")[:_LENGTH]
