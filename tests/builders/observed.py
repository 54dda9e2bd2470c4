"""What a case expects of a collector: absent, unknown with a reason, or a value."""

from collections.abc import Mapping
from typing import Any

from gpuprov.model.fact import Absent, Known, Observation, Unknown


def check_observed(found: Mapping[str, Observation], expected: Mapping[str, Any]) -> None:
    """Hold what a collector found against `none`, `absent`, {unknown: words of the reason} or {known: value}."""
    for address, wanted in expected.items():
        if wanted == "none":
            assert address not in found
        elif wanted == "absent":
            assert found[address] == Absent()
        elif "unknown" in wanted:
            seen = found[address]
            assert isinstance(seen, Unknown), seen
            assert wanted["unknown"] in seen.reason
        else:
            seen = found[address]
            assert seen == Known(wanted["known"])
            assert isinstance(seen, Known)
            assert type(seen.value) is type(wanted["known"])
