"""What the stack's state says to people: what stands, and the names that are in it."""

import difflib
from collections.abc import Mapping, Sequence

from gpuprov.app.site import Site
from gpuprov.app.targets import made_names
from gpuprov.cloud.decide.standing import Standing, standing_of
from gpuprov.cloud.decide.tags import Owner, resource_id
from gpuprov.cloud.state import BUCKET, INSTANCE, SHARE, VOLUME, StackState
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.storage import SHARED
from gpuprov.spec.types import Spec


def standing_in(state: StackState) -> Standing:
    """What stands, and must not be decided anew."""
    return standing_of({address: resource.inputs for address, resource in state.resources.items()})


def tags_in(state: StackState, address: str) -> Mapping[str, str]:
    """The tags that a resource of the stack was given last; none for one that it does not hold."""
    row = state.resources.get(address)
    given = row.inputs.get("tags") if row is not None else None
    return {str(key): str(text) for key, text in given.items()} if isinstance(given, Mapping) else {}


def unknown_names(names: Sequence[str], site: Site, state: StackState) -> tuple[Diagnostic, ...]:
    """An error for each name that is no cloud host, and no storage of spec or stack."""
    volumes = set(state.made.volumes)
    hosts = {*made_names(site), *(host.name for host in state.made.hosts)}
    made = {*state.made.buckets, *state.made.shares}
    storage = {*site.spec.storage, *made, *(name.partition("/")[0] for name in volumes)}
    known = hosts | storage | volumes
    return tuple(unknown_name(name, sorted(known)) for name in names if name not in known)


def refuse_wanted(names: Sequence[str], site: Site) -> None:
    """Refuse to remove what the spec still asks for: it would be made again by the next run.

    Raises:
        GpuprovError: GP-CLOUD-057 for each host, storage or volume that is still in the spec.
    """
    hosts = made_names(site)
    volumes = {f"{name}/{host}" for name, s in site.spec.storage.items() if s.kind == "volume" for host in hosts}
    wanted = [name for name in names if name in {*hosts, *volumes, *site.spec.storage}]
    if wanted:
        raise GpuprovError(*(_still_wanted(name, hosts.get(name)) for name in wanted))


def expected_ids(spec: Spec) -> tuple[tuple[str, str, str], ...]:
    """Type token, `gpuprov:id` and address of what costs money in a spec's stack, or is there as long as that is."""
    owner = Owner(spec=spec.name, stack=spec.name)
    hosts = [name for pool in spec.pools.values() if pool.cloud for name in pool.cloud.names(pool.name)]
    buckets = [name for name, storage in spec.storage.items() if storage.kind == "object"]
    shares = [name for name, storage in spec.storage.items() if storage.kind == SHARED]
    volumes = [f"{name}/{host}" for name, s in spec.storage.items() if s.kind == "volume" for host in hosts]
    rows = [
        ("aws:ec2/vpc:Vpc", "vpc", "main"),
        *((INSTANCE, "instance", name) for name in hosts),
        *((BUCKET, "bucket", name) for name in buckets),
        *((VOLUME, "volume", name) for name in volumes),
        *((SHARE, "share", name) for name in shares),
    ]
    return tuple((token, resource_id(owner, kind, name), f"{kind}.{name}") for token, kind, name in rows)


def _still_wanted(name: str, pool: str | None) -> Diagnostic:
    where = f"pools.{pool}.cloud" if pool is not None else "storage"
    return Diagnostic(
        code="GP-CLOUD-057",
        address=name,
        summary=f"{name} is to be removed, and the spec still asks for it",
        hint=f"take it out of {where} first; to have it made anew, give `--replace {name}`",
    )


def unknown_name(name: str, known: Sequence[str]) -> Diagnostic:
    """The error for a name that means nothing in the cloud."""
    near = difflib.get_close_matches(name, known, n=1)
    return Diagnostic(
        code="GP-CLOUD-026",
        address=name,
        summary=f"there is no cloud host, bucket, volume or share `{name}`",
        detail="names: " + (", ".join(known) or "none"),
        hint=f"did you mean `{near[0]}`?" if near else "",
    )
