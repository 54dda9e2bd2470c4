"""Whether the account's quotas allow the hosts that would be made, before the first resource is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gpuprov.catalog.find import instance
from gpuprov.catalog.load import PACKAGED, Catalog, rows
from gpuprov.catalog.rows import InstanceRow
from gpuprov.catalog.rows_cloud import QuotaRow
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.market import RESERVED


@dataclass(frozen=True, kw_only=True, slots=True)
class Needed:
    """What hosts that would be made need of one quota."""

    row: QuotaRow
    vcpus: int
    hosts: tuple[str, ...]


def needed(
    new: Iterable[tuple[str, str, str]], freed: Iterable[tuple[str, str]] = (), *, catalog: Catalog = PACKAGED
) -> tuple[Needed, ...]:
    """What new hosts need of each quota that the catalog knows, in the order of the quotas' codes.

    Args:
        new: name, instance type and kind of market of each host; those in reserved capacity need none.
        freed: instance type and kind of market of each host that goes before the new ones come.
        catalog: the rows in force.
    """
    quotas = {(row.family, row.offer): row for row in rows(QuotaRow, catalog)}
    wanted: dict[QuotaRow, list[tuple[str, int]]] = {}
    for host, type_, kind in new:
        row, vcpus = _counts(type_, kind, quotas, catalog)
        if row is not None:
            wanted.setdefault(row, []).append((host, vcpus))
    less: dict[QuotaRow, int] = {}
    for type_, kind in freed:
        row, vcpus = _counts(type_, kind, quotas, catalog)
        if row is not None:
            less[row] = less.get(row, 0) + vcpus
    return tuple(
        Needed(row=row, vcpus=sum(v for _, v in hosts) - less.get(row, 0), hosts=tuple(host for host, _ in hosts))
        for row, hosts in sorted(wanted.items(), key=lambda pair: pair[0].code)
    )


def counted_types(catalog: Catalog = PACKAGED) -> dict[str, tuple[str, int]]:
    """Instance type -> the family whose quota it counts into, and its vCPUs; as far as the catalog knows them."""
    return {row.id: (row.quota, row.vcpus) for row in rows(InstanceRow, catalog) if row.quota and row.vcpus}


def judge_quotas(
    needs: Iterable[Needed], limits: Mapping[str, int | None], used: Mapping[tuple[str, str], int], *, region: str
) -> tuple[Diagnostic, ...]:
    """GP-CLOUD-051 for each quota that is too small for what would be made.

    Args:
        needs: from `needed`.
        limits: code -> the account's value; None, or no entry, where it is not known.
        used: (family, offer) -> vCPUs that run now.
        region: for the texts.
    """
    told = []
    for need in needs:
        limit, running = limits.get(need.row.code), used.get((need.row.family, need.row.offer), 0)
        if limit is None or running + need.vcpus <= limit:
            continue
        label = need.row.name or f"{need.row.family} ({need.row.offer})"
        told.append(
            Diagnostic(
                code="GP-CLOUD-051",
                address=", ".join(need.hosts),
                summary=f"the quota `{label}` is {limit} {need.row.unit}s, and {running + need.vcpus} are needed",
                detail=f"{running} run in {region} now, and {len(need.hosts)} new host(s) need {need.vcpus} more;"
                " nothing was made",
                hint=f"ask AWS for at least {running + need.vcpus}: `aws service-quotas request-service-quota-increase"
                f" --region {region} --service-code ec2 --quota-code {need.row.code} --desired-value"
                f" {running + need.vcpus}`; it may take days",
            )
        )
    return tuple(told)


def _counts(
    type_: str, kind: str, quotas: Mapping[tuple[str, str], QuotaRow], catalog: Catalog
) -> tuple[QuotaRow | None, int]:
    row = instance(type_, catalog)
    if kind in RESERVED or row is None or not row.quota or not row.vcpus:
        return None, 0
    return quotas.get((row.quota, kind)), row.vcpus
