"""Lengths of time as people say them."""

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def age_text(seconds: float) -> str:
    """A length of time in whole pieces of its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds) // size} {unit}"
    return f"{max(int(seconds), 0)} s"
