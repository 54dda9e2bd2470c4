"""Parity without a host: what the lock would give each target, two locks, and a lock against its spec."""

from collections.abc import Mapping
from pathlib import Path

from gpuprov.app.components import catalog_components
from gpuprov.app.parity_fleets import Comparison, one_sided
from gpuprov.app.site import Site
from gpuprov.app.targets import CLOUD, ONPREM
from gpuprov.catalog.find import component_of, instance, nvml_names
from gpuprov.catalog.load import Catalog
from gpuprov.compare.compare import compare_snapshots, compare_want, count_comparable
from gpuprov.lock.text import read_lock
from gpuprov.lock.types import Lock
from gpuprov.model.fact import Absent, Fact, Known, Observation, Unknown
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.parity.asked import spec_expectations
from gpuprov.parity.types import Compared
from gpuprov.parity.views import locked_view, want_view
from gpuprov.spec.types import PoolSpec
from gpuprov.store.files import read_text
from gpuprov.want.pool import pool_want


def compare_targets(site: Site, lock: Lock) -> Comparison:
    """Compare what the lock would give the rack with what it would give the cloud, pool by pool.

    The cloud's side has the GPUs and the architecture of its instance type, by the catalog.
    """
    compared, notes = [], []
    for pool in site.spec.pools.values():
        if pool.onprem is None or pool.cloud is None:
            notes.append(one_sided(pool.name, ONPREM if pool.cloud is None else CLOUD))
            continue
        racked, cloud = (_view(site, lock, pool, target) for target in (ONPREM, CLOUD))
        compared.append(
            _compare(racked, _with_instance(cloud, pool.cloud.instance, site.spec.catalog), (ONPREM, CLOUD))
        )
    return Comparison(compared=compared, notes=tuple(notes))


def compare_locks(first: Path, second: Path) -> Comparison:
    """Compare two locks, pool by pool: what moves from one to the other."""
    ours, theirs = (read_lock(read_text(path), str(path)) for path in (first, second))
    compared = []
    for name in ours.pools.keys() & theirs.pools.keys():
        before, after = (locked_view(lock.pools[name], f"pool:{name}") for lock in (ours, theirs))
        compared.append(_compare(before, after, (str(first), str(second))))
    alone = [
        NotObserved(host=f"pool:{name}", code="GP-PAR-004", reason=f"{path} has no such pool")
        for path, lock, other in ((first, ours, theirs), (second, theirs, ours))
        for name in other.pools.keys() - lock.pools.keys()
    ]
    return Comparison(
        compared=sorted(compared, key=lambda each: each.host), alone=tuple(sorted(alone, key=lambda each: each.host))
    )


def compare_spec_with_lock(site: Site, lock: Lock) -> Comparison:
    """Hold the lock against what its spec asks, pool by pool."""
    compared = []
    for pool in site.spec.pools.values():
        view = _view(site, lock, pool, ONPREM if pool.onprem is not None else CLOUD)
        compared.append(hold_against_spec(site, pool, view))
    return Comparison(compared=compared)


def hold_against_spec(site: Site, pool: PoolSpec, snapshot: Snapshot) -> Compared:
    """Hold a host, or the view of a lock, against what the spec asks of its pool."""
    expected = spec_expectations(site.spec, pool, nvml_names(site.spec.catalog))
    return Compared(
        host=snapshot.host,
        findings=compare_want(expected, snapshot, side="spec"),
        facets=count_comparable(expected, snapshot),
        taken=snapshot.taken,
    )


def _view(site: Site, lock: Lock, pool: PoolSpec, target: str) -> Snapshot:
    want = pool_want(lock, site.spec, pool, target, components=catalog_components(site.spec.catalog))
    return want_view(want, f"pool:{pool.name}")


def _with_instance(view: Snapshot, instance_type: str, catalog: Catalog) -> Snapshot:
    """The view with what an instance of the type is, where that is not the lock's to say."""
    seen = _instance_facts(instance_type, catalog)
    facts = {address: Fact(address=address, observation=value) for address, value in seen.items()}
    return Snapshot(host=view.host, taken="", facts={**view.facts, **facts}, families=view.families)


def _instance_facts(instance_type: str, catalog: Catalog) -> Mapping[str, Observation]:
    row = instance(instance_type, catalog)
    if row is None:
        return dict.fromkeys(("host.arch", "gpu.count", "gpu.models"), Unknown(f"no row for {instance_type}"))
    if not row.gpu_name:
        return {"host.arch": Known(row.arch), "gpu.count": Absent(), "gpu.models": Absent()}
    names = nvml_names(catalog).get(row.gpu or "", ())
    unknown = Unknown(f"the catalog does not know which GPUs {instance_type} has")
    return {
        "host.arch": Known(row.arch),
        "gpu.count": unknown if row.gpus is None else Known(row.gpus),
        "gpu.models": Known(list(names)) if names else unknown,
    }


def _compare(first: Snapshot, second: Snapshot, sides: tuple[str, str]) -> Compared:
    found = compare_snapshots(first, second, component_of=component_of, sides=sides)
    return Compared(host=second.host, findings=found.findings, facets=found.facets)
