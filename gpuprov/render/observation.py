"""An observation in a sentence."""

import json
from typing import Final

from gpuprov.model.fact import Known, Observation, Unknown

_LONGEST: Final = 100


def observation_text(observation: Observation) -> str:
    """The value, `absent`, or why it is unknown; long values are cut."""
    if isinstance(observation, Unknown):
        return f"unknown ({observation.reason})"
    if not isinstance(observation, Known):
        return "absent"
    value = observation.value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace("\n", "\\n")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def observation_body(observation: Observation) -> dict[str, object]:
    """The observation as JSON: {known: value}, {absent: true} or {unknown: reason}."""
    if isinstance(observation, Unknown):
        return {"unknown": observation.reason}
    return {"known": observation.value} if isinstance(observation, Known) else {"absent": True}
