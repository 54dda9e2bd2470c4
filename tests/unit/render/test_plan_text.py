"""A plan on screen: equal hosts once, from what to what, why, at which cost, and no reboot unsaid."""

import io

from rich.console import Console

from gpuprov.model.change import Action, Change, HostPlan, Plan
from gpuprov.model.facet import Cost, ParityClass
from gpuprov.model.fact import Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.render.plan_text import group_hosts, show_plan
from gpuprov.render.terminal import Terminal


def changes() -> tuple[Change, ...]:
    return (
        Change(
            address='package["libcuda1"].version', action=Action.UPGRADE, subject="libcuda1", before="570.1-1",
            after="580.2-1", reason="lock: libcuda1=580.2-1", cost=Cost.REBOOT,
        ),
        *(
            Change(
                address=f'package["{name}"].held', action=Action.HOLD, subject=name, before="", after="held", reason="",
                cost=Cost.NOTHING,
            )
            for name in ("libcuda1", "tree")
        ),
        Change(
            address='file["/etc/x"].sha256', action=Action.WRITE, subject="/etc/x", before="", after="",
            reason="the spec", cost=Cost.NOTHING, diff="-old\n+new\n",
        ),
        Change(
            address="stack.driver.loaded", action=Action.REBOOT, subject="host", before="570.1", after="580.2",
            reason="the loaded driver differs", cost=Cost.REBOOT,
        ),
    )  # fmt: skip


def test_equal_hosts_are_shown_once_and_the_reboot_is_said() -> None:
    plan = Plan(
        lock="sha256:1",
        wants={},
        hosts=(
            HostPlan(host="n1", pool="train", changes=changes()),
            HostPlan(host="n2", pool="train", changes=changes()),
            HostPlan(host="n3", pool="train", changes=()),
        ),
        excluded={"n4": "connection refused"},
        order=(("n1",), ("n2",)),
        drains={"n1": "slurm, up to 1h", "n2": "slurm, up to 1h"},
    )
    stream = io.StringIO()
    console = Console(file=stream, width=200, no_color=True, highlight=False, markup=False)
    show_plan(plan, Terminal(out=console, err=console))
    assert [line.rstrip() for line in stream.getvalue().splitlines()] == [
        "n1, n2 (train): 1 upgrade, 2 hold, 1 write, 1 reboot; cost: reboot",
        "  ^ upgrade  libcuda1 570.1-1 -> 580.2-1 [reboot]",
        "  + hold     2 packages at these versions",
        "  ~ write    /etc/x  (the spec)",
        "      -old",
        "      +new",
        "  ! reboot   host 570.1 -> 580.2 [reboot]  (the loaded driver differs)",
        "= n3 (train): as wanted, nothing to do",
        "x n4: connection refused",
        "one after another: n1 | n2",
        "work goes off first, by slurm, up to 1h: n1, n2",
        "2 host(s) to change (2 with a reboot), 1 as wanted, 1 left out",
    ]


def test_hosts_with_the_same_list_in_a_finding_are_one_group() -> None:
    """As two hosts with other GPUs than the spec's: the value is a list."""
    found = Finding(
        address="gpu.models", host="", kind=FindingKind.DIFFERENT, sides=("want", "host"), expected=Known(["H100"]),
        observed=Known(["T4"]), parity=ParityClass.MUST_EQUAL, cost=Cost.OBSERVED, curable=False, reason="",
    )  # fmt: skip
    plans = [HostPlan(host=name, pool="train", changes=(), not_curable=(found,)) for name in ("n1", "n2")]
    assert [hosts for hosts, _ in group_hosts(plans)] == [["n1", "n2"]]
