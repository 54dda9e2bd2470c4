"""Suggestions for a word that is not known: the nearest known one, or where in the spec such a key belongs."""

from collections.abc import Sequence

from gpuprov.spec.fields import spec_fields


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """`did you mean ...?` with the known words that begin so, or the nearest one; empty when none is near."""
    begins = [name for name in known if len(word) > 1 and name.lower().startswith(word.lower())]
    if begins:
        return f"did you mean {' or '.join(begins[:3])}?"
    from difflib import get_close_matches  # noqa: PLC0415 - only needed on the way out, and slow to import

    lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    return f"did you mean {lower[near[0]]}?" if near else ""


def elsewhere(key: str) -> str:
    """Say where in a spec a key of this name belongs; empty when there is no such key."""
    places = [spec_field.address for spec_field in spec_fields() if spec_field.name == key]
    return f"{key} belongs to {' or '.join(places)}" if places else ""
