"""Names made from logical names, as the real provider makes them where a program gives none."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from gpuprov.lab.aws.plugin import table

_RANDOM_LETTERS = 7
"""Hexadecimal letters after the logical name (pulumi-terraform-bridge v3.120.0, AutoNameOptions; read 2026-11-30)."""


def autoname(row: table.Property, logical: str, seed: bytes, old: Mapping[str, Any]) -> str:
    """Return the name that a resource had, or a new one of the form LOGICAL-1a2b3c4.

    Args:
        row: the property that takes the name.
        logical: the resource's logical name.
        seed: the engine's random seed for this resource; empty when it gave none.
        old: the inputs that the state holds, empty for a new resource.
    """
    if isinstance(old.get(row.property), str):
        return str(old[row.property])
    digest = hashlib.sha256(seed or secrets.token_bytes(16)).hexdigest()[:_RANDOM_LETTERS]
    assert row.autoname is not None, row  # noqa: S101 (the caller looked)
    name = f"{logical[: row.autoname - _RANDOM_LETTERS - 1]}-{digest}"
    return name.lower() if row.property == "bucket" else name
