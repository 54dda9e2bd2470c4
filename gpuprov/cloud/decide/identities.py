"""Which role each pool's hosts act as: the one of all pools, one of the pool's own, or one that the account has.

A role exists for the buckets that hosts may use. The buckets of all pools are in the policy of `main`; a pool that has
buckets of its own (`storage.*.pools`) has a role of its own, which holds both. An instance changes its role in place.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from gpuprov.cloud.decide.identity import identity_part
from gpuprov.cloud.decide.standing import Standing
from gpuprov.cloud.decide.tags import Owner
from gpuprov.spec.access import AccessSpec
from gpuprov.spec.cloud import CloudSpec
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.types import Spec

MAIN: Final = "main"


@dataclass(frozen=True, kw_only=True, slots=True)
class Identities:
    """The roles of a stack, and who has which."""

    main: dict[str, object] | None = None
    pools: tuple[dict[str, object], ...] = ()
    of: Mapping[str, str] = field(default_factory=dict)
    """Pool -> key of its role among these; without the pools that have none, or one of the account's own."""
    brought: Mapping[str, str] = field(default_factory=dict)
    """Pool -> name of the instance profile of the role that the spec names for it."""

    def entry(self, pool: str) -> dict[str, object]:
        """What an instance of the pool says of it in the document."""
        return {"identity": self.of.get(pool), "instance_profile": self.brought.get(pool)}


def identities(
    spec: Spec,
    cloud: CloudSpec,
    buckets: Mapping[str, str],
    owner: Owner,
    *,
    hosts: Mapping[str, str],
    standing: Standing,
    profiles: Mapping[str, str],
) -> Identities:
    """Decide the roles.

    Args:
        spec: says which pools have which buckets, and what groups may do with them.
        cloud: its cloud target.
        buckets: storage name -> bucket name.
        owner: whose the roles are.
        hosts: host -> pool, of all hosts that the stack has.
        standing: what the state holds: a host that has a role keeps one, an empty one where it needs none any more.
        profiles: role of the account -> its instance profile, for each role that a pool names.

    Raises:
        GpuprovError: GP-SPEC-005 when a policy would be longer than AWS takes.
    """
    storage = rights(spec.storage, spec.access)
    pools = sorted(set(hosts.values()))
    brought = {pool: profiles[role] for pool in pools if (role := role_of(spec, pool))}
    own = [pool for pool in pools if pool not in brought and _own(storage, buckets, pool)]
    rest = [pool for pool in pools if pool not in brought and pool not in own]
    bound = any(host in standing.hosts and standing.hosts[host].profile for host, pool in hosts.items() if pool in rest)
    main = None
    if rest:
        common = {name: bucket for name, bucket in buckets.items() if not storage[name].pools}
        main = identity_part(
            storage,
            common,
            cloud.region,
            owner,
            stands=standing.role or bound,
            boundary=cloud.permissions_boundary,
        )
    parts = {
        pool: identity_part(
            storage,
            pool_buckets(storage, buckets, pool),
            cloud.region,
            owner,
            pool=pool,
            boundary=cloud.permissions_boundary,
        )
        for pool in own
    }
    made = {pool: part for pool, part in parts.items() if part is not None}
    of = {pool: str(part["key"]) for pool, part in made.items()}
    return Identities(
        main=main,
        pools=tuple(made.values()),
        of=of | (dict.fromkeys(rest, MAIN) if main is not None else {}),
        brought=brought,
    )


def role_of(spec: Spec, pool: str) -> str:
    """The role of the account that a pool's hosts act as; empty when gpuprov makes it."""
    cloud = spec.pools[pool].cloud if pool in spec.pools else None
    return cloud.role if cloud is not None else ""


def pool_buckets(storage: Mapping[str, StorageSpec], buckets: Mapping[str, str], pool: str) -> dict[str, str]:
    """The buckets that a pool's hosts may use: storage name -> bucket name."""
    return {name: bucket for name, bucket in buckets.items() if storage[name].serves(pool)}


def rights(storage: Mapping[str, StorageSpec], access: AccessSpec) -> dict[str, StorageSpec]:
    """The storage with what hosts may do with it: once a group names a bucket, as much as their groups may together.

    A role is the host's, and every user of the host can take its keys: AWS cannot tell one group from another there.
    """
    named = {name for group in access.groups.values() for name in (*group.read, *group.write)}
    written = {name for group in access.groups.values() for name in group.write}
    return {
        name: replace(one, write=one.write and name in written) if name in named else one
        for name, one in storage.items()
    }


def _own(storage: Mapping[str, StorageSpec], buckets: Collection[str], pool: str) -> bool:
    return any(storage[name].pools and storage[name].serves(pool) for name in buckets)
