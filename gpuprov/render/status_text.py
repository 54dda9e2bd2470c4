"""The state of a fleet: one line a host."""

from rich.text import Text

from gpuprov.model.cloud_view import CloudView
from gpuprov.model.fact import Known
from gpuprov.model.planned import Planned
from gpuprov.model.snapshot import Snapshot
from gpuprov.model.status import ExitStatus
from gpuprov.render.ages import age_text
from gpuprov.render.cloud_view_text import cloud_view_body, show_cloud_view
from gpuprov.render.observation import finding_lines, observation_text
from gpuprov.render.plan_text import host_state
from gpuprov.render.resources_text import resource_plan_body, show_resource_plan
from gpuprov.render.run_text import finding_body
from gpuprov.render.snapshot_text import not_observed_body, show_not_observed
from gpuprov.render.terminal import Terminal


def show_status(planned: Planned, terminal: Terminal, view: CloudView | None = None) -> None:
    """Print one line a host, its findings below it, what stands in the cloud and is not made yet, a closing line."""
    width = max((len(plan.host) for plan in planned.plan.hosts), default=0)
    for plan in planned.plan.hosts:
        state, style = host_state(plan)
        terminal.out.print(
            Text.assemble(
                (plan.host.ljust(width), "name"),
                f"  {plan.pool}  ",
                (state, style),
                f"  {_stack(planned.snapshots[plan.host])}",
            )
        )
        for line in finding_lines((*plan.not_curable, *plan.unknown)):
            terminal.out.print(f"    {line}")
    show_not_observed(tuple(planned.not_observed.values()), terminal)
    if view is not None:
        show_cloud_view(view, terminal)
    resources = planned.plan.resources
    if not resources.empty:
        show_resource_plan(resources, terminal, verbose=False)
    good = sum(1 for plan in planned.plan.hosts if host_state(plan)[1] == "good")
    off = sum(1 for missing in planned.not_observed.values() if missing.off)
    hosts = len(planned.plan.hosts) + len(planned.not_observed) - off + len(resources.new_hosts)
    terminal.out.print(f"{good} of {hosts} host(s) as wanted{f', {off} switched off' if off else ''}")


def _stack(snapshot: Snapshot) -> str:
    parts = []
    loaded, count = snapshot.observe("stack.driver.loaded"), snapshot.observe("gpu.count")
    parts.append(f"driver {loaded.value} loaded" if isinstance(loaded, Known) else "no driver loaded")
    parts.append(f"{observation_text(count)} GPU(s)")
    uptime = snapshot.observe("host.uptime")
    if isinstance(uptime, Known) and isinstance(uptime.value, int):
        parts.append(f"up {age_text(uptime.value)}")
    return ", ".join(parts)


def status_body(planned: Planned, status: ExitStatus, view: CloudView | None = None) -> dict[str, object]:
    """The state of a fleet as JSON."""
    return {
        "status": int(status),
        "hosts": [
            {
                "host": plan.host,
                "pool": plan.pool,
                "state": host_state(plan)[0],
                "as_wanted": host_state(plan)[1] == "good",
                "changes": len(plan.changes),
                "reboot": plan.reboot,
                "findings": [finding_body(finding) for finding in (*plan.not_curable, *plan.unknown)],
            }
            for plan in planned.plan.hosts
        ],
        "not_observed": not_observed_body(tuple(planned.not_observed.values())),
        "resources": resource_plan_body(planned.plan.resources),
        "cloud": None if view is None else cloud_view_body(view),
    }
