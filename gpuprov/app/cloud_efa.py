"""What is to be known of hosts with Elastic Fabric Adapters: who keeps what it has, and who cannot reach whom."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from gpuprov.cloud.types import Document
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.spec.types import PoolSpec, Spec


def told_of_efa(spec: Spec, document: Document) -> tuple[Diagnostic, ...]:
    """Hosts that keep other interfaces than the spec says, and pools whose adapters are in several zones.

    Args:
        spec: the spec.
        document: the stack's, in which every host has the interfaces that it keeps or gets.
    """
    instances = cast("Sequence[Mapping[str, Any]]", document["instances"])
    told: list[Diagnostic] = []
    for pool in spec.pools.values():
        told += _keeping(pool, [row for row in instances if row["pool"] == pool.name])
        told += _apart(pool, [row for row in instances if row["pool"] == pool.name])
    return tuple(told)


def _keeping(pool: PoolSpec, instances: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    wanted = pool.cloud is not None and bool(pool.cloud.efa)
    for row in instances:
        if bool(row["launch_template"]) != wanted:
            yield Diagnostic(
                code="GP-CLOUD-084",
                severity=Severity.NOTE,
                address=f"instance.{row['name']}",
                summary=f"{row['name']} keeps the network interfaces that it was made with: "
                + ("without EFA" if wanted else "with EFA"),
                detail=f"the spec wants new hosts of {pool.name} {'with EFA' if wanted else 'without it'}",
                hint=f"`gpuprov up --target cloud --replace {row['name']}` makes it anew",
            )


def _apart(pool: PoolSpec, instances: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    zones = sorted({str(row["zone"]) for row in instances if row["launch_template"]})
    if len(zones) > 1:
        yield Diagnostic(
            code="GP-CLOUD-083",
            severity=Severity.WARNING,
            address=f"pools.{pool.name}.cloud.efa",
            summary=f"hosts of {pool.name} with EFA stand in {', '.join(zones)}: it leads to none of another zone",
            detail="EFA traffic stays in one subnet (EC2 User Guide, Elastic Fabric Adapter, read 2026-11-30).",
            hint="name one zone in `targets.cloud.network.zones`, and make the others anew with `--replace`",
        )
