"""Tags that a resource had before it was taken into a stack: other people's tools read them, so they stay."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from gpuprov.cloud.types import Document

_OURS: Final = "gpuprov:"
_AWS: Final = "aws:"
"""Tags of AWS's own, which nobody else can write."""


def with_foreign_tags(document: Document, tags_of: Callable[[str], Mapping[str, str]]) -> Document:
    """A document whose resources keep the tags that are not gpuprov's, their Name among them.

    What gpuprov makes has its own tags only: this is about network, buckets and roles, which `import` takes in.

    Args:
        document: of `stack_document` or `standing_document`.
        tags_of: address -> tags that the resource has, by the state or the account; none for one that is not there.
    """
    network = cast("Mapping[str, Any] | None", document["network"])
    return {
        **document,
        "network": _network(network, tags_of) if network is not None and network["vpc"] is None else network,
        "identity": _role(document["identity"], tags_of),
        "pool_identities": [_role(one, tags_of) for one in cast("list[Any]", document["pool_identities"])],
        "buckets": [
            _tagged(one, f"bucket.{one['name']}", tags_of)
            for one in cast("list[Mapping[str, Any]]", document["buckets"])
        ],
    }


def _network(network: Mapping[str, Any], tags_of: Callable[[str], Mapping[str, str]]) -> Mapping[str, Any]:
    gateway = network["gateway"]
    return {
        **_tagged(network, "vpc.main", tags_of),
        "gateway": _tagged(gateway, "gateway.main", tags_of) if gateway is not None else None,
        "subnets": [_tagged(one, f"subnet.{one['name']}", tags_of) for one in network["subnets"]],
    }


def _role(identity: Any, tags_of: Callable[[str], Mapping[str, str]]) -> Any:
    if identity is None:
        return None
    role = _tagged(identity, f"role.{identity['key']}", tags_of)
    return _tagged(role, f"instance_profile.{identity['key']}", tags_of, key="profile_tags")


def _tagged(
    entry: Mapping[str, Any], address: str, tags_of: Callable[[str], Mapping[str, str]], *, key: str = "tags"
) -> Mapping[str, Any]:
    foreign = {name: text for name, text in tags_of(address).items() if not name.startswith((_OURS, _AWS))}
    return {**entry, key: {**entry[key], **foreign}} if foreign else entry
