"""Placement groups of the lab's account: moto 5.2.5 has none (tried 2026-11-30).

Followed: EC2 API Reference, CreatePlacementGroup, DescribePlacementGroups and DeletePlacementGroup; EC2 User Guide,
Placement groups, rules and limitations; "Error codes for the Amazon EC2 API" (read 2026-11-30). Nodes of the lab are
all on one machine: being close together is true of them whatever their group.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import EC2Backend
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ec2.responses import EC2Response
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, EC2_RESOURCE_TO_PREFIX

from gpuprov.lab.aws.errors import refusal
from gpuprov.lab.aws.hooks import Addition, Hook
from gpuprov.lab.aws.request import parameter

_GROUPS = "gpuprov_placement_groups"
"""Where a backend of moto keeps them; they go when it is reset."""
_OVER = frozenset({"shutting-down", "terminated"})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    """One placement group."""

    id: str
    name: str
    strategy: str


def placement_hooks() -> tuple[Hook, ...]:
    """Return the hooks of calls that moto has, and that are about placement groups too."""
    return (Hook(EC2Backend, "run_instances", _run_instances),)


def placement_additions() -> tuple[Addition, ...]:
    """Return the calls that moto lacks; its tags are for ids whose beginning it knows."""
    EC2_RESOURCE_TO_PREFIX["placement-group"] = "pg"
    EC2_PREFIX_TO_RESOURCE["pg"] = "placement-group"
    return (
        Addition(EC2Response, "create_placement_group", _create),
        Addition(EC2Response, "describe_placement_groups", _describe),
        Addition(EC2Response, "delete_placement_group", _delete),
    )


def group_id(backend: Any, name: str) -> str | None:
    """The id of a placement group, which has its tags; None when there is none of this name."""
    found = _groups(backend).get(name)
    return found.id if found is not None else None


def _create(response: Any) -> ActionResult:
    """CreatePlacementGroup."""
    backend, name = response.ec2_backend, response._get_param("GroupName")  # noqa: SLF001 (moto has no other way)
    if name in _groups(backend):
        raise refusal("InvalidPlacementGroup.Duplicate", f"The placement group '{name}' already exists.")
    strategy = response._get_param("Strategy") or "cluster"  # noqa: SLF001 (moto has no other way)
    made = _Group(id=f"pg-{secrets.token_hex(9)[:17]}", name=name, strategy=strategy)
    _groups(backend)[name] = made
    tags = response._parse_tag_specification().get("placement-group", {})  # noqa: SLF001 (moto has no other way)
    if tags:
        backend.create_tags([made.id], tags)
    return ActionResult({"PlacementGroup": _shown(backend, made)})


def _describe(response: Any) -> ActionResult:
    """DescribePlacementGroups, by names, and by the filters of tags and of the group's own properties."""
    backend = response.ec2_backend
    names = response._get_param("GroupNames", [])  # noqa: SLF001 (moto has no other way)
    for name in names:
        if name not in _groups(backend):
            raise _unknown(name)
    filters = response._filters_from_querystring()  # noqa: SLF001 (moto has no other way)
    rows = [_shown(backend, group) for group in _groups(backend).values() if not names or group.name in names]
    return ActionResult({"PlacementGroups": [row for row in rows if _fits(row, filters)]})


def _delete(response: Any) -> ActionResult:
    """DeletePlacementGroup; one that an instance is in stays."""
    backend, name = response.ec2_backend, response._get_param("GroupName")  # noqa: SLF001 (moto has no other way)
    if name not in _groups(backend):
        raise _unknown(name)
    instances = [each for reservation in backend.reservations.values() for each in reservation.instances]
    if any(each.placement.group_name == name and each.state not in _OVER for each in instances):
        raise refusal("InvalidPlacementGroup.InUse", f"The placement group '{name}' is in use and may not be deleted.")
    del _groups(backend)[name]
    return ActionResult({})


def _run_instances(original: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
    """EC2: an instance can be in a group that there is, and whose strategy its type supports."""
    name = parameter("Placement.GroupName")
    if not name:
        return original(backend, *args, **kwargs)
    if name not in _groups(backend):
        raise _unknown(name)
    strategy, type_ = _groups(backend)[name].strategy, kwargs.get("instance_type") or ""
    known = INSTANCE_TYPES.get(type_, {}).get("PlacementGroupInfo", {}).get("SupportedStrategies", [])
    if strategy not in known:
        text = f"{strategy.capitalize()} placement groups are not supported by the '{type_}' instance type."
        raise refusal("InvalidParameterCombination", text)
    reservation = original(backend, *args, **kwargs)
    for instance in reservation.instances:
        instance.placement.group_name = name
    return reservation


def _groups(backend: Any) -> dict[str, _Group]:
    found: dict[str, _Group] = vars(backend).setdefault(_GROUPS, {})
    return found


def _shown(backend: Any, group: _Group) -> dict[str, Any]:
    """Return a group as EC2 describes it."""
    tags = [{"Key": t["key"], "Value": t["value"]} for t in backend.describe_tags(filters={"resource-id": [group.id]})]
    arn = f"arn:aws:ec2:{backend.region_name}:{backend.account_id}:placement-group/{group.name}"
    return {
        "GroupName": group.name,
        "State": "available",
        "Strategy": group.strategy,
        "GroupId": group.id,
        "GroupArn": arn,
        "Tags": tags,
    }


def _fits(row: dict[str, Any], filters: dict[str, list[str]]) -> bool:
    tags = {f"tag:{tag['Key']}": tag["Value"] for tag in row["Tags"]}
    seen = tags | {"group-name": row["GroupName"], "strategy": row["Strategy"], "state": row["State"]}
    return all(seen.get(name) in values for name, values in filters.items())


def _unknown(name: str) -> Exception:
    return refusal("InvalidPlacementGroup.Unknown", f"The placement group '{name}' is unknown.")
