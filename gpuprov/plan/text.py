"""A Plan as the body of a document of kind Plan, and back."""

from typing import Any, Final

from gpuprov.compare.finding_text import finding_value, read_finding, read_name
from gpuprov.document.envelope import open_document, seal
from gpuprov.document.shape import Fields
from gpuprov.model.change import Action, Change, HostPlan, Plan, Rollback
from gpuprov.model.facet import Cost
from gpuprov.plan.foreseen_text import foreseen_value, read_foreseen
from gpuprov.plan.guard import guard_digest
from gpuprov.plan.resources_text import read_resources, resources_value

KIND: Final = "Plan"
_OLD: Final = ("kept", "fetched", "lost", "unseen")
_TEXTS: Final = ("address", "subject", "before", "after", "reason", "diff")


def plan_body(plan: Plan) -> dict[str, Any]:
    """Write a plan as plain values; changes stay in order."""
    return {
        "lock": plan.lock,
        "wants": dict(plan.wants),
        "excluded": dict(plan.excluded),
        "order": [{"hosts": list(hosts)} for hosts in plan.order],
        "drains": dict(plan.drains),
        "hosts": [_host_value(host) for host in plan.hosts],
        "resources": resources_value(plan.resources),
    }


def read_plan_body(body: object, file: str) -> Plan:
    """Read what `plan_body` wrote.

    Args:
        body: plain values.
        file: where they come from, for errors (GP-DOC-008).
    """
    fields = Fields(body, file)
    return Plan(
        lock=fields.text("lock"),
        wants=_texts(fields, "wants"),
        hosts=tuple(_host(row) for row in fields.rows("hosts")),
        excluded=_texts(fields, "excluded"),
        order=tuple(row.texts("hosts") for row in fields.rows("order")),
        drains=_texts(fields, "drains"),
        resources=read_resources(fields.fields("resources")),
    )


def write_plan(plan: Plan) -> str:
    """Write a plan as sealed text."""
    return seal(KIND, plan_body(plan))


def read_plan(text: str, file: str) -> Plan:
    """Read a sealed plan; errors as `open_document` and `Fields`."""
    return read_plan_body(open_document(text, file, KIND), file)


def _host_value(host: HostPlan) -> dict[str, Any]:
    return {
        "host": host.host,
        "pool": host.pool,
        "boot_id": host.boot_id,
        "guard": host.guard,
        "reads": dict(host.reads),
        "changes": [change_value(change) for change in host.changes],
        "not_curable": [finding_value(finding) for finding in host.not_curable],
        "unknown": [finding_value(finding) for finding in host.unknown],
        "disturbs": list(host.disturbs),
        **({} if host.foreseen is None else {"foreseen": foreseen_value(host.foreseen)}),
        **({} if host.rollback is None else {"rollback": _rollback_value(host.rollback)}),
    }


def change_value(change: Change) -> dict[str, Any]:
    """Write one change as plain values."""
    texts = {name: getattr(change, name) for name in _TEXTS}
    return {"action": change.action.value, **texts, "cost": change.cost.value}


def _host(row: Fields) -> HostPlan:
    host = HostPlan(
        host=row.text("host"),
        pool=row.text("pool"),
        changes=tuple(_change(change) for change in row.rows("changes")),
        not_curable=tuple(read_finding(finding) for finding in row.rows("not_curable")),
        unknown=tuple(read_finding(finding) for finding in row.rows("unknown")),
        guard=row.text("guard"),
        boot_id=row.text("boot_id"),
        reads=_texts(row, "reads"),
        disturbs=row.texts("disturbs"),
        foreseen=read_foreseen(row.fields("foreseen")) if row.has("foreseen") else None,
        rollback=_rollback(row.fields("rollback")) if row.has("rollback") else None,
    )
    if host.guard != guard_digest(host.reads, host.boot_id):
        row.refuse("guard", "the guard does not fit the observations that the plan names")
    return host


def _change(row: Fields) -> Change:
    texts = {name: row.text(name) for name in _TEXTS}
    return Change(action=read_name(row, "action", Action), cost=read_name(row, "cost", Cost), **texts)


def _rollback_value(rollback: Rollback) -> dict[str, Any]:
    return {**{name: list(getattr(rollback, name)) for name in _OLD}, "size": rollback.size}


def _rollback(row: Fields) -> Rollback:
    kept, fetched, lost, unseen = (row.texts(name) for name in _OLD)
    return Rollback(kept=kept, fetched=fetched, lost=lost, unseen=unseen, size=row.integer("size"))


def _texts(row: Fields, key: str) -> dict[str, str]:
    fields = row.fields(key)
    return {name: fields.text(name) for name in fields.value}
