"""What a plan would change in a cloud account, as plain values, and back."""

from typing import Any

from gpuprov.compare.finding_text import read_name
from gpuprov.document.shape import Fields
from gpuprov.model.resource import NewHost, ResourceAction, ResourceChange, ResourcePlan


def resources_value(plan: ResourcePlan) -> dict[str, Any]:
    """Write the resources of a plan."""
    return {
        "unchanged": plan.unchanged,
        "changes": [_change_value(change) for change in plan.changes],
        "new_hosts": [_new_host_value(host) for host in plan.new_hosts],
    }


def read_resources(row: Fields) -> ResourcePlan:
    """Read what `resources_value` wrote; errors as `Fields`."""
    return ResourcePlan(
        unchanged=row.integer("unchanged"),
        changes=tuple(_change(change) for change in row.rows("changes")),
        new_hosts=tuple(_new_host(host) for host in row.rows("new_hosts")),
    )


def _change_value(change: ResourceChange) -> dict[str, Any]:
    return {
        "address": change.address,
        "type": change.type,
        "action": change.action.value,
        "urn": change.urn,
        "reasons": list(change.reasons),
        "changes": list(change.changes),
        "holds_data": change.holds_data,
        "leftover": change.leftover,
    }


def _change(row: Fields) -> ResourceChange:
    return ResourceChange(
        address=row.text("address"),
        type=row.text("type"),
        action=read_name(row, "action", ResourceAction),
        urn=row.text("urn"),
        reasons=row.texts("reasons"),
        changes=row.texts("changes"),
        holds_data=row.flag("holds_data"),
        leftover=row.flag("leftover"),
    )


def _new_host_value(host: NewHost) -> dict[str, Any]:
    return {
        "name": host.name,
        "pool": host.pool,
        "instance": host.instance,
        "image": host.image,
        "packages": list(host.packages),
        "files": list(host.files),
    }


def _new_host(row: Fields) -> NewHost:
    return NewHost(
        name=row.text("name"),
        pool=row.text("pool"),
        instance=row.text("instance"),
        image=row.text("image"),
        packages=row.texts("packages"),
        files=row.texts("files"),
    )
