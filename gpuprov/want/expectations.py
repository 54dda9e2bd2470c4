"""Expectations: a want, address by address, as compare holds it against a snapshot."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gpuprov.model.address import member_address
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.version import upstream
from gpuprov.want.asked import owned_paths, wanted_paths
from gpuprov.want.cdi import CDI_STATE, wants_cdi
from gpuprov.want.containerd import CRI, RUNTIMES, wanted_runtimes
from gpuprov.want.frameworks import ENVIRONMENT, wanted_facts
from gpuprov.want.kernel import NEXT, RELEASE
from gpuprov.want.mounts import mount_facts
from gpuprov.want.owned import ADDRESS, ARCHIVES, PENDING
from gpuprov.want.rights import rights_facts
from gpuprov.want.settled import settled_expectations
from gpuprov.want.types import Expectation, FileWant, HostWant, Merge, Owned, PackageWant, PoolWant, SourceWant

GONE = "no longer in the spec"
"""Reason of every removal."""
HAND_BACK = "the host is handed back"
"""Reason of every change of a hand-back."""


@dataclass(frozen=True, slots=True)
class _Row:
    """An expectation in short form; `expectations` gives it its facet's defaults."""

    address: str
    value: Observation
    comparator: str
    reason: str
    cost: Cost = Cost.NOTHING
    curable: bool = True


def expectations(want: HostWant, owned: Owned | Unknown) -> tuple[Expectation, ...]:
    """Say what is expected on a host: all that is wanted, and the absence of what gpuprov made and nobody wants.

    Args:
        want: the host's.
        owned: what gpuprov made on the host before; Unknown becomes an expectation that nothing meets.
    """
    pool = want.pool
    if isinstance(owned, Unknown):
        unread = _Row(ADDRESS, owned, "equal", "what gpuprov made on the host is not known: nothing can be removed")
        parts: tuple[Iterable[_Row], ...] = ([unread],) if pool.hand_back else (_wanted(pool, Owned()), [unread])
    elif pool.hand_back:
        parts = (_handed_back(pool, owned),)
    else:
        parts = (_wanted(pool, owned), _unwanted(pool, owned))
    rows = [row for part in parts for row in part]
    known = owned if isinstance(owned, Owned) else Owned()
    settled = settled_expectations(pool, known, HAND_BACK if pool.hand_back else GONE)
    found = tuple(
        Expectation(
            address=row.address,
            value=row.value,
            comparator=row.comparator,
            cost=row.cost,
            curable=row.curable,
            reason=row.reason,
        )
        for row in rows
    )
    return (*found, *settled)


def _wanted(pool: PoolWant, given: Owned) -> Iterator[_Row]:
    yield from _host(pool)
    yield _Row("apt.dpkg", Known("ok"), "equal", "an interrupted dpkg refuses every change")
    for source in pool.sources:
        yield from _source(source)
    for package in pool.packages:
        yield from _package(package, pool)
    for file in pool.files:
        yield from _file(file)
    yield from _services(pool)
    yield from _kernel(pool)
    yield from _driver(pool)
    yield from _gpus(pool)
    for address, text in wanted_facts(pool.frameworks):
        yield _Row(address, Known(text), "equal", "lock: frameworks")
    for address, value, comparator, reason in mount_facts(pool.mounts):
        yield _Row(address, Known(value), comparator, reason)
    for address, value, comparator, reason in rights_facts(pool.mounts, given.rights):
        yield _Row(address, Known(value), comparator, reason)
    if pool.containerd:
        reason = "lock: the container toolkit gives pods their GPUs through NVIDIA's runtime"
        yield _Row(CRI, Known(value=True), "equal", reason, Cost.OBSERVED)
        yield _Row(RUNTIMES, Known(wanted_runtimes()), "contains", reason, Cost.RESTART)
    if wants_cdi(pool):
        yield _Row(CDI_STATE, Known("current"), "equal", "lock: the container toolkit describes the GPUs to containers")


def _host(pool: PoolWant) -> Iterator[_Row]:
    for address, text in (("host.os", pool.os), ("host.arch", pool.arch)):
        if text:
            reason = f"the lock holds packages for {text}"
            yield _Row(address, Known(text), "equal", reason, Cost.REPLACEMENT, curable=False)


def _source(source: SourceWant) -> Iterator[_Row]:
    reason = f"lock: source {source.name}"
    for path, text in source.files:
        yield from _whole_file(FileWant(path=path, text=text), reason)


def _package(package: PackageWant, pool: PoolWant) -> Iterator[_Row]:
    reason = f"lock: {package.name}={package.version}"
    values: tuple[tuple[str, Observation, str], ...] = (
        ("version", Known(package.version), "version"),
        ("state", Known("installed"), "equal"),
    )
    cost = _package_cost(package, pool)
    for leaf, value, comparator in values:
        yield _Row(member_address("package", package.name, leaf), value, comparator, reason, cost)
    yield _Row(member_address("package", package.name, "held"), Known(value=True), "equal", reason)


def _package_cost(package: PackageWant, pool: PoolWant) -> Cost:
    if pool.driver is not None and upstream(package.version) == pool.on_disk:
        return Cost.REBOOT
    restarted = any(package.name in service.packages for service in pool.services)
    return Cost.RESTART if restarted else Cost.NOTHING


def _file(file: FileWant) -> Iterator[_Row]:
    if file.merge is Merge.JSON:
        cost = Cost.RESTART if file.restarts else Cost.NOTHING
        reason = "lock: the container engine reaches GPUs through NVIDIA's runtime"
        yield _Row(member_address("file", file.path, "text"), Known(file.text), "contains", reason, cost)
        yield _Row("stack.container.runtimes", Known(["nvidia"]), "contains", reason, cost)
    else:
        yield from _whole_file(file, "the spec's file, or one that gpuprov writes for it")


def _whole_file(file: FileWant, reason: str) -> Iterator[_Row]:
    digest = hashlib.sha256(file.text.encode()).hexdigest()
    cost = Cost.RESTART if file.restarts else Cost.NOTHING
    values = (("sha256", digest), ("mode", file.mode), ("owner", file.owner), ("group", file.group))
    for leaf, text in values:
        yield _Row(member_address("file", file.path, leaf), Known(text), "equal", reason, cost)


def _services(pool: PoolWant) -> Iterator[_Row]:
    for service in pool.services:
        reason = f"lock: {', '.join(service.packages)}" if service.packages else "the spec"
        if service.enabled:
            address = member_address("service", service.name, "enabled")
            yield _Row(address, Known("enabled"), "boot", reason)
        if service.active:
            yield _Row(member_address("service", service.name, "active"), Known("active"), "equal", reason)
    for exporter in pool.exporters:
        reason = "spec: monitoring.exporters"
        yield _Row(member_address("exporter", exporter, "answers"), Known(value=True), "equal", reason, Cost.RESTART)


def _kernel(pool: PoolWant) -> Iterator[_Row]:
    if pool.kernel:
        reason = f"lock: kernel {pool.kernel}"
        yield _Row(NEXT, Known(pool.kernel), "equal", reason)
        if pool.kernel_runs:
            yield _Row(RELEASE, Known(pool.kernel), "equal", reason, Cost.REBOOT)


def _driver(pool: PoolWant) -> Iterator[_Row]:
    if pool.on_disk:
        reason = f"lock: driver {pool.on_disk}"
        cost = Cost.REBOOT if pool.driver is not None else Cost.NOTHING
        yield _Row("stack.driver.on_disk", Known(pool.on_disk), "upstream", reason, cost)
    if pool.driver is not None:
        reason = f"lock: driver {pool.driver.version}"
        for leaf in ("loaded", "nvml"):
            yield _Row(f"stack.driver.{leaf}", Known(pool.driver.version), "upstream", reason, Cost.REBOOT)
        modules = Known(pool.driver.modules)
        yield _Row("stack.driver.modules", modules, "equal", "spec: stack.driver.modules", Cost.REBOOT)


def _gpus(pool: PoolWant) -> Iterator[_Row]:
    if pool.gpu is None:
        return
    count, names = Known(pool.gpu.count), Known(list(pool.gpu.nvml_names))
    address = f"spec: pools.{pool.pool}.gpu"
    yield _Row("gpu.count", count, "equal", f"{address}.per_host", Cost.OBSERVED, curable=False)
    yield _Row("gpu.models", names, "within", f"{address}.model", Cost.OBSERVED, curable=False)


def _unwanted(pool: PoolWant, owned: Owned) -> Iterator[_Row]:
    wanted = {package.name for package in pool.packages}
    for name in sorted(set(owned.packages) - wanted):
        if name in (owned.brought or ()):
            yield _Row(member_address("package", name, "version"), Absent(), "equal", GONE)
        else:  # there before gpuprov came, needed by more, or nobody knows: it stays, without a hold
            yield _Row(member_address("package", name, "held"), Known(value=False), "unset", GONE)
    yield from _absent_files(set(owned_paths(owned)) - set(wanted_paths(pool)), GONE)
    yield from _left_over(pool, owned, GONE)


def _handed_back(pool: PoolWant, owned: Owned) -> Iterator[_Row]:
    for name in sorted(owned.packages):
        yield _Row(member_address("package", name, "held"), Known(value=False), "unset", HAND_BACK)
    if owned.archived:
        yield _Row(ARCHIVES, Absent(), "equal", HAND_BACK)
    yield from _absent_files(set(owned_paths(owned)) - set(wanted_paths(pool)), HAND_BACK)
    yield from _left_over(pool, owned, HAND_BACK)


def _left_over(pool: PoolWant, owned: Owned, reason: str) -> Iterator[_Row]:
    """Keys of ours in files of others that nobody wants there any more, and steps that a lost run left undone."""
    for path in sorted(set(owned.merged) - set(owned_paths(owned)) - set(wanted_paths(pool))):
        yield _Row(member_address("file", path, "text"), Known(owned.merged[path].ours), "lacks", reason)
    if owned.frameworks and pool.frameworks is None:
        yield _Row(ENVIRONMENT, Absent(), "equal", reason)
    if owned.containerd and not pool.containerd:
        yield _Row(RUNTIMES, Known(wanted_runtimes()), "lacks", reason, Cost.RESTART)
    if owned.pending:
        yield _Row(PENDING, Absent(), "equal", "an earlier run was lost before this step")


def _absent_files(paths: Iterable[str], reason: str) -> Iterator[_Row]:
    for path in sorted(paths):
        yield _Row(member_address("file", path, "sha256"), Absent(), "equal", reason)
