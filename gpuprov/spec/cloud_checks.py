"""Checks across the cloud half of a spec: names, ranges and storage against each other and against AWS's limits."""

from collections.abc import Iterator, Sequence
from typing import Final

from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.addresses import read_range, refuse_range
from gpuprov.spec.base_image_checks import base_problems
from gpuprov.spec.cloud import CloudNetworkSpec, CloudSpec, PoolCloudSpec
from gpuprov.spec.existing_checks import attached_problems, existing_problems
from gpuprov.spec.market import market_problems
from gpuprov.spec.network_checks import WORLD, place_problems
from gpuprov.spec.scalars import CHECKS
from gpuprov.spec.storage import LOCAL, SHARED, StorageSpec
from gpuprov.spec.storage_checks import local_problems
from gpuprov.spec.suggest import did_you_mean
from gpuprov.spec.written import WrittenSpec

BUILDER: Final = "builder"
"""Name of the instance that `image build` makes; no host may have it."""
_SSH: Final = 22
_AT: Final = "targets.cloud"
_WIDEST: Final = 8
"""Shortest prefix of a named range: no network is larger than a /8 in IANA's IPv4 register (seen 2026-11-30)."""


def cloud_problems(spec: WrittenSpec) -> Iterator[Diagnostic]:
    """Everything that is wrong with the cloud half, without places."""
    taken: dict[str, str] = {}
    for name, pool in spec.pools.items():
        if pool.cloud is not None:
            at = f"{join('pools', name)}.cloud"
            if spec.targets.cloud is None:
                yield _missing(at, f"the pool {name} has cloud hosts, and the spec has no targets.cloud")
            yield from _hosts(name, pool.cloud, at, taken)
    for name, storage in spec.storage.items():
        at = join("storage", name)
        if storage.kind == LOCAL:
            continue
        if spec.targets.cloud is None and storage.kind != SHARED:
            yield _missing(at, f"the storage {name} is made in the cloud, and the spec has no targets.cloud")
        if name in taken:
            yield _wrong(at, f"the name {name} is a host's already", "give the storage a name of its own")
        yield from _storage(name, storage, at)
    yield from local_problems(spec)
    yield from attached_problems(spec)
    if spec.targets.cloud is not None:
        yield from _target(spec.targets.cloud)
        made = [pool for pool in spec.pools.values() if pool.cloud is not None and pool.cloud.existing is None]
        systems = frozenset(pool.os or spec.os for pool in made)
        yield from base_problems(spec.targets.cloud.image.bases, systems, f"{_AT}.image.bases")


def _hosts(pool: str, cloud: PoolCloudSpec, at: str, taken: dict[str, str]) -> Iterator[Diagnostic]:
    if cloud.existing is not None:
        yield from existing_problems(pool, cloud, at)
        return
    yield from market_problems(cloud.market, f"{at}.market")
    if cloud.min_hosts is not None and cloud.min_hosts > len(cloud.names(pool)) > 0:
        what = f"the pool has {len(cloud.names(pool))} host(s), so {cloud.min_hosts} can never come up"
        yield _wrong(f"{at}.min_hosts", what, "write a smaller number, or take `min_hosts` away")
    if not cloud.hosts and cloud.count is None:
        yield Diagnostic(
            code="GP-SPEC-004",
            summary=f"the pool {pool} says neither which cloud hosts it has nor how many",
            address=f"{at}.hosts",
            hint=f"write `hosts: [{pool}-a, {pool}-b]`, or `count: 2`",
        )
    if cloud.hosts and cloud.count is not None:
        yield _wrong(f"{at}.count", "`hosts` and `count` say the same thing twice", "keep one of the two")
        return
    for index, host in enumerate(cloud.names(pool)):
        where = f"{at}.hosts[{index}]" if cloud.hosts else f"{at}.count"
        refused = CHECKS["label"].refuse(host)
        if refused and not cloud.hosts:
            yield _wrong(where, f"{host}: {refused}", "name the hosts with `hosts`, or the pool without . and _")
            return
        if host == BUILDER:
            yield _wrong(where, f"the name {host} is the image builder's", "give the host another name")
        elif host in taken:
            yield _wrong(
                where, f"the name {host} is a host's of the pool {taken[host]} already", "give it another name"
            )
        taken.setdefault(host, pool)


def _storage(name: str, storage: StorageSpec, at: str) -> Iterator[Diagnostic]:
    if storage.kind == "volume":
        if not storage.size:
            yield Diagnostic(
                code="GP-SPEC-004",
                summary=f"the volume {name} has no size",
                address=f"{at}.size",
                hint="write `size: 500GiB`",
            )
        if storage.prefixes:
            yield _wrong(f"{at}.prefixes", "a volume has no prefixes", "take `prefixes` away, or write `kind: object`")
        if not storage.write:
            yield _wrong(f"{at}.write", "a volume belongs to one host, which may write to it", "take `write` away")
    elif storage.kind == "object" and storage.size:
        yield _wrong(f"{at}.size", "a bucket has no size", "take `size` away, or write `kind: volume`")
    yield from _twice(storage.prefixes, f"{at}.prefixes", "prefix")


def _target(cloud: CloudSpec) -> Iterator[Diagnostic]:
    yield from _network(cloud.network, f"{_AT}.network", cloud.region)
    if not cloud.login_keys:
        yield _wrong(f"{_AT}.login_keys", "no key could log in", "write `login_keys: agent`, or files of public keys")
    yield from _twice(cloud.login_keys, f"{_AT}.login_keys", "key")
    account = cloud.assume_role.split(":")[4] if cloud.assume_role else cloud.account
    if account != cloud.account:
        what = f"the role is of the account {account}, and the spec is for {cloud.account}"
        yield _wrong(f"{_AT}.assume_role", what, "take a role of the spec's account")


def _network(network: CloudNetworkSpec, at: str, region: str) -> Iterator[Diagnostic]:
    yield from place_problems(network, at)
    for name, ranges in network.ranges.items():
        where = join(f"{at}.ranges", name)
        if not ranges:
            yield _wrong(where, f"the range {name} holds no addresses", "write at least one, or take the name away")
        for index, text in enumerate(ranges):
            if text != WORLD or not network.world:
                yield from _width(text, f"{where}[{index}]")
        yield from _twice(ranges, where, "range")
    yield from _named(network.ssh_from, f"{at}.ssh_from", network)
    seen: set[int] = set()
    for index, entry in enumerate(network.open):
        where = f"{at}.open[{index}]"
        if entry.port == _SSH:
            yield _wrong(f"{where}.port", "who may reach port 22 is said by `ssh_from`", "name the ranges there")
        elif entry.port in seen:
            yield _wrong(f"{where}.port", f"the port {entry.port} is written twice", "name all its ranges in one entry")
        seen.add(entry.port)
        yield from _named(entry.ranges, f"{where}.ranges", network)
    for index, zone in enumerate(network.zones):
        if region and not zone.startswith(region):
            yield _wrong(f"{at}.zones[{index}]", f"the zone {zone} is not in {region}", f"for example {region}a")
    yield from _twice(network.zones, f"{at}.zones", "zone")


def _width(text: str, at: str) -> Iterator[Diagnostic]:
    """Refuse the open world, also in parts: ports of GPU hosts are not open to everybody by one word."""
    if refuse_range(text) or read_range(text).prefixlen >= _WIDEST:
        return
    world = text == WORLD
    what = "0.0.0.0/0 is the whole world" if world else f"{text} is a large part of the whole world"
    detail = (
        f"gpuprov opens a port to everybody only where `world` names it too, and takes no range wider than /{_WIDEST}: "
        "two halves are the world too."
    )
    yield _wrong(at, what, "name the networks that people and monitoring come from, such as 203.0.113.0/24", detail)


def _named(names: Sequence[str], at: str, network: CloudNetworkSpec) -> Iterator[Diagnostic]:
    if not names:
        yield _wrong(at, "no range is named, so nobody could connect", "name at least one of `ranges`")
    for index, name in enumerate(names):
        if name not in network.ranges:
            yield Diagnostic(
                code="GP-SPEC-008",
                summary=f"there is no range {name}",
                address=f"{at}[{index}]",
                detail=f"Ranges: {', '.join(network.ranges) or 'none'}.",
                hint=did_you_mean(name, list(network.ranges)) or f"add it: `ranges: {{{name}: [...]}}`",
            )
    yield from _twice(names, at, "range")


def _twice(values: Sequence[str], at: str, what: str) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value and value in seen:
            yield _wrong(f"{at}[{index}]", f"the {what} {value} is written twice", "take one of the two away")
        seen.add(value)


def _wrong(at: str, summary: str, hint: str, detail: str = "") -> Diagnostic:
    return Diagnostic(code="GP-SPEC-005", summary=summary, address=at, detail=detail, hint=hint)


def _missing(at: str, summary: str) -> Diagnostic:
    hint = "add targets.cloud with account, region and network, or take this away"
    return Diagnostic(code="GP-SPEC-004", summary=summary, address=at, hint=hint)
