"""Resources of the account that carry a spec's tag: those that its stacks do not know were lost by a run that was cut.

A connection that is cut in the middle of a create leaves no pending operation, and a pool that left the spec meanwhile
is in no document: the tags alone still tell of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuprov.cloud.decide.tags import ID, SPEC
from gpuprov.cloud.instances_aws import tagged_instances
from gpuprov.cloud.lookup import tagged_buckets, tagged_listings, tagged_profiles, tagged_roles, tagged_shares
from gpuprov.cloud.lookup_natural import Client
from gpuprov.cloud.state import HOLDING, INSTANCE, PROVIDER_PREFIX, STACK_TYPE, address_of
from gpuprov.model.stack_record import Orphan

_PARTS: Final = frozenset({"root"})
"""Kinds that are tagged and are no resources of their own: an instance's root volume goes with it."""
_SECURITY_RULES: Final = "aws:vpc/securityGroup"
"""Begins the tokens of both kinds of rule, which EC2 lists as one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tagged:
    """One resource of the account with the tag `gpuprov:spec`."""

    type: str
    id: str
    key: str
    """Its tag `gpuprov:id`: STACK/kind/name."""


def tagged(client: Client, spec_name: str) -> tuple[Tagged, ...]:
    """Every resource of the region, and role, profile and bucket of the account, that carries the spec's tag.

    Types that take no tags go with what they join, and are not listed.
    """
    found = {(one.type, one.id): one for one in _all(client, spec_name) if one.key}
    return tuple(found[key] for key in sorted(found))


def orphans(there: Iterable[Tagged], known: Iterable[Mapping[str, Any]], stack: str) -> tuple[Orphan, ...]:
    """What the account holds of one stack, and its state does not know.

    Args:
        there: of `tagged`.
        known: resources of the state, as the engine exports them, those that are leaving among them.
        stack: the stack's name.
    """
    rows = list(known)
    ids = {str(row.get("id", "")) for row in rows}
    addresses = {address_of(str(row["urn"])) for row in rows}
    return tuple(
        Orphan(address=address, type=one.type, id=one.id, twin=address in addresses)
        for one in there
        if one.key.startswith(f"{stack}/") and one.id not in ids
        for address in [one.key.removeprefix(f"{stack}/").replace("/", ".", 1)]
        if address.partition(".")[0] not in _PARTS
    )


def take_in(deployment: Mapping[str, Any], found: Iterable[Orphan]) -> Mapping[str, Any] | None:
    """The deployment with orphans in it, so that the next update decides about them like about all else.

    One that has a twin in the state is the one too many: it is put there as what is only to be deleted, unless it holds
    data, which nobody deletes unseen.

    Args:
        deployment: what the engine exports.
        found: of `orphans`.

    Returns:
        The new deployment, of which a refresh reads the rest; None when nothing of `found` can be taken in.
    """
    rows = [dict(row) for row in deployment.get("resources") or []]
    stack = next((row for row in rows if row.get("type") == STACK_TYPE), None)
    provider = next((row for row in rows if str(row.get("type", "")).startswith(f"{PROVIDER_PREFIX}aws")), None)
    taken = [one for one in found if can_be_taken(one)]
    if stack is None or provider is None or not taken:
        return None
    prefix = str(stack["urn"]).split("::")[:2]
    for one in taken:
        row = {
            "urn": "::".join((*prefix, one.type, one.address)),
            "custom": True,
            "type": one.type,
            "id": one.id,
            "inputs": {},
            "outputs": {},
            "parent": stack["urn"],
            "provider": f"{provider['urn']}::{provider['id']}",
        }
        rows.append({**row, "delete": True} if one.twin else row)
    return {**deployment, "resources": rows}


def can_be_taken(orphan: Orphan) -> bool:
    """Whether an orphan may be left to the next update."""
    return not (orphan.twin and orphan.type in HOLDING)


def _all(client: Client, spec_name: str) -> Iterator[Tagged]:
    for token, rows in tagged_listings(client, SPEC, spec_name):
        for identity, tags in rows:
            key = tags.get(ID, "")
            if not token.startswith(_SECURITY_RULES) or _kind_fits(token, key):
                yield Tagged(type=token, id=identity, key=key)
    for identity, tags in tagged_instances(client("ec2"), SPEC, spec_name):
        yield Tagged(type=INSTANCE, id=identity, key=tags.get(ID, ""))
    for token, named in (
        ("aws:iam/role:Role", tagged_roles),
        ("aws:iam/instanceProfile:InstanceProfile", tagged_profiles),
        ("aws:s3/bucket:Bucket", tagged_buckets),
        ("aws:efs/fileSystem:FileSystem", tagged_shares),
    ):
        for identity, tags in named(client):
            if tags.get(SPEC) == spec_name:
                yield Tagged(type=token, id=identity, key=tags.get(ID, ""))


def _kind_fits(token: str, key: str) -> bool:
    """Whether a rule of a security group is of this direction: its address begins with it."""
    direction = "egress" if "Egress" in token else "ingress"
    return key.split("/")[1:2] == [direction]
