"""An observation in a sentence."""

import json
import re
from collections.abc import Sequence
from typing import Final

from gpuprov.model.fact import Known, Observation, Unknown
from gpuprov.model.finding import Finding

_LONGEST: Final = 100
# What XML 1.0 cannot hold (its production 2, Char), and the marks that end a line or turn a text's direction: they
# would let a value of a host steer a terminal, break a report, or look like something that it is not.
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def printable(text: str) -> str:
    """A text with what cannot be printed, or misleads, written as an escape."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def observation_text(observation: Observation) -> str:
    """The value, `absent`, or why it is unknown; long values are cut."""
    if isinstance(observation, Unknown):
        return printable(f"unknown ({observation.reason})")
    if not isinstance(observation, Known):
        return "absent"
    value = observation.value
    text = printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    text = text.replace("\n", "\\n").replace("\r", "\\r")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """Findings that no change ends, one line each; what one reason hides is one line."""
    lines, hidden = [], dict[str, list[str]]()
    for finding in findings:
        if isinstance(finding.observed, Unknown):
            hidden.setdefault(finding.observed.reason, []).append(finding.address)
        else:
            expected, observed = observation_text(finding.expected), observation_text(finding.observed)
            lines.append(f"not curable by up: {finding.address}: wanted {expected}, found {observed}")
    for reason, addresses in hidden.items():
        more = f" and {len(addresses) - 1} more" if len(addresses) > 1 else ""
        lines.append(f"not observed: {addresses[0]}{more}: {reason}")
    return lines


def observation_body(observation: Observation) -> dict[str, object]:
    """The observation as JSON: {known: value}, {absent: true} or {unknown: reason}."""
    if isinstance(observation, Unknown):
        return {"unknown": observation.reason}
    return {"known": observation.value} if isinstance(observation, Known) else {"absent": True}
