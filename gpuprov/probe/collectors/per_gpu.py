"""One value for all GPUs of a host: a setting that is the same everywhere is told once."""

from collections.abc import Mapping

from gpuprov.model.fact import Absent, Known, Observation, Unknown, Value

NONE = "none"
"""Stands for a GPU without the value, among others that have one."""


def settle(seen: Mapping[str, Observation]) -> Observation:
    """Join what was seen at each GPU into one observation.

    Equal everywhere: the value itself. Different: a mapping of the GPU's number to its value. Nowhere there: Absent.
    One that could not be told makes the whole unknown, with the others in the reason: no GPU is dropped, and none gets
    a value that it may not have.

    Args:
        seen: the GPU's number -> its observation.
    """
    unknown = {number: o.reason for number, o in seen.items() if isinstance(o, Unknown)}
    told: dict[str, Value] = {
        number: o.value if isinstance(o, Known) else NONE for number, o in seen.items() if not isinstance(o, Unknown)
    }
    if unknown:
        reasons = set(unknown.values())
        if len(reasons) == 1 and not told:
            return Unknown(reasons.pop())
        text = "; ".join(f"GPU {number}: {reason}" for number, reason in unknown.items())
        others = ", ".join(f"GPU {number}: {value}" for number, value in told.items())
        return Unknown(text + (f" (seen: {others})" if others else ""))
    if all(isinstance(o, Absent) for o in seen.values()):
        return Absent()
    values = list(told.values())
    return Known(values[0] if all(value == values[0] for value in values) else told)
