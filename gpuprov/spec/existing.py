"""The part of a spec that takes instances of the account that are there already as a pool's hosts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from gpuprov.spec.about import About


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingSpec:
    """Instances that somebody else made: nothing about them is changed in AWS, only what is on them."""

    tags: Annotated[
        Mapping[str, str],
        About(
            "Tags that the instances have, every one of them, letter by letter. A host goes by its tag `Name` where "
            "that is a host's name and no other's, else by its instance id.",
            check="text",
            key="tag_key",
            example="{team: ml, stage: prod}",
        ),
    ]
    fingerprints: Annotated[
        Mapping[str, str],
        About(
            "Instance id to the fingerprint of an SSH host key, as `ssh-keygen -lf` prints it; for instances whose "
            "console output no longer shows their keys.",
            check="fingerprint",
            key="instance_id",
            example='{i-0123456789abcdef0: "SHA256:uNiVztksCsDhcc0u9e8BrfJXmxpqAbKxZbOnzmgTfSg"}',
        ),
    ] = field(default_factory=dict)
