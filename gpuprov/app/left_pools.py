"""Pools that left the spec while their hosts still stand: how these are freed is in the records of earlier runs."""

from collections.abc import Mapping
from dataclasses import replace

from gpuprov.app.site import Site
from gpuprov.app.targets import made_names
from gpuprov.cloud.types import InstanceHealth, InstanceState, Made
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.spec.decode import load
from gpuprov.spec.types import PoolSpec, Spec
from gpuprov.store.files import read_text_if_there
from gpuprov.store.journal import list_runs
from gpuprov.store.site import runs_folder


def as_in_spec(site: Site, made: Made) -> Made:
    """Hosts with the pools that the spec has them in now; the state knows a pool as of the last update."""
    now = made_names(site)
    return replace(made, hosts=tuple(replace(host, pool=now.get(host.name, host.pool)) for host in made.hosts))


def with_left_pools(site: Site, made: Made) -> Site:
    """A site whose spec holds the pools of some hosts again, each as the last run that knew it did.

    Args:
        site: the spec, and beside it the records of its runs.
        made: the hosts.
    """
    left = {host.pool for host in made.hosts} - site.spec.pools.keys()
    if not left:
        return site
    return replace(site, spec=replace(site.spec, pools={**_recorded(site, left), **site.spec.pools}))


def without_drain(made: Made, health: Mapping[str, InstanceHealth], site: Site) -> tuple[Diagnostic, ...]:
    """A warning for each running host that goes, and of whose pool nothing is known any more.

    Args:
        made: the hosts that go.
        health: what EC2 says, by instance id.
        site: as `with_left_pools` gives it.
    """
    return tuple(
        Diagnostic(
            code="GP-CLOUD-089",
            address=host.name,
            summary=f"{host.name} goes without being drained: its pool {host.pool or '(unknown)'} is no longer in the"
            " spec, and no record of a run here says how work is taken off it",
            detail="work that still runs there ends with it",
            hint="take its work off it yourself first; or put the pool back into the spec without the host, so that its"
            " `rollout.drain` counts",
            severity=Severity.WARNING,
        )
        for host in made.hosts
        if host.pool not in site.spec.pools and _runs(health.get(host.instance_id))
    )


def _recorded(site: Site, left: set[str]) -> dict[str, PoolSpec]:
    """The pools as the newest record that holds each has it; a record that cannot be read tells nothing."""
    found: dict[str, PoolSpec] = {}
    for name in reversed(list_runs(site.state)):
        text = read_text_if_there(runs_folder(site.state) / name / "spec.yaml")
        spec = _read(text, site) if text else None
        if spec is not None and spec.name == site.spec.name:
            found = {pool: row for pool, row in spec.pools.items() if pool in left} | found
        if left <= found.keys():
            break
    return found


def _read(text: str, site: Site) -> Spec | None:
    # Under the spec's own path: what it names relative to itself lies there still.
    spec, _ = load(text, str(site.path))
    return spec


def _runs(health: InstanceHealth | None) -> bool:
    return health is not None and health.state is InstanceState.RUNNING
