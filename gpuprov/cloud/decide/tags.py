"""Tags: whose a resource is, and the one by which a lost resource is found again."""

import re
from dataclasses import dataclass
from typing import Final

from gpuprov.cloud.decide.names import shorten

VALUE_LIMIT: Final = 256
"""Longest value of a tag (AWS General Reference, Tagging, read 2026-11-30)."""
SPEC: Final = "gpuprov:spec"
POOL: Final = "gpuprov:pool"
ID: Final = "gpuprov:id"
"""`STACK/kind/name`: one per resource of an account and region."""

Tags = dict[str, str]

# What every service that we use allows in a value; EC2 alone allows more.
_OTHER: Final = re.compile(r"[^A-Za-z0-9 _.:/=+\-@]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """Whose resources they are."""

    spec: str
    stack: str
    """The spec's name for its hosts; `SPEC:image:POOL` for a builder, which no spec's name can be."""


def tag_value(text: str) -> str:
    """A text as the value of a tag: with a digest where characters had to go or it was too long."""
    clean = _OTHER.sub("-", text)
    if clean == text and len(text) <= VALUE_LIMIT:
        return text
    return shorten(clean, VALUE_LIMIT, identity=text)


def resource_id(owner: Owner, kind: str, name: str) -> str:
    """Value of the tag `gpuprov:id`."""
    return tag_value(f"{owner.stack}/{kind}/{name}")


def tags(owner: Owner, kind: str, name: str, *, pool: str = "") -> Tags:
    """The tags of one resource.

    Args:
        owner: whose it is.
        kind: the kind in its address, such as `instance`.
        name: the name in its address, such as `train-a`.
        pool: the pool it serves; empty when it serves them all.
    """
    title = {"instance": name}.get(kind, owner.stack if name == "main" else f"{owner.stack}/{name}")
    given = {"Name": tag_value(title), SPEC: tag_value(owner.spec), ID: resource_id(owner, kind, name)}
    return given | ({POOL: tag_value(pool)} if pool else {})
