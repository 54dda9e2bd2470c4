"""From what was seen of a host to the preflight's verdict, and what of it counts right before a change or a reboot."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from host_builders import edit, fresh, make_want, observation, satisfied

from gpuprov.app.hosts import Fleet
from gpuprov.app.planning import plan_fleet
from gpuprov.app.preflight import disturbed, in_use, judge_host, stranded
from gpuprov.app.terms import Terms
from gpuprov.model.change import Action, Change, HostPlan
from gpuprov.model.facet import Cost
from gpuprov.model.host import Connection, Host
from gpuprov.model.planned import Planned
from gpuprov.model.snapshot import CollectorOutput, Recording, Snapshot
from gpuprov.plan.guard import moved
from gpuprov.plan.removal import removals
from gpuprov.probe.snapshot import snapshot_of

REPORTS = yaml.safe_load((Path(__file__).parents[2] / "cases" / "reports" / "preflight.yaml").read_text())
WANT = make_want()
TRAINING = {"pid": "42", "user": "ana", "command": "python3 train.py", "kind": "process", "name": ""}
DAEMON = {
    "pid": "9",
    "user": "root",
    "command": "nvidia-persistenced",
    "kind": "service",
    "name": "nvidia-persistenced",
}


def plan_for(*changes: str) -> HostPlan:
    made = []
    for words in changes:
        action, subject = words.split(" ")
        made.append(
            Change(
                address=subject,
                action=Action(action),
                subject=subject,
                before="",
                after="",
                reason="",
                cost=Cost.NOTHING,
            )
        )
    return HostPlan(host="node-1", pool="train", changes=tuple(made))


@pytest.mark.parametrize("case", REPORTS, ids=lambda case: f"{case['id']} {case['name']}")
def test_reported_hosts(case: dict[str, Any]) -> None:
    outputs = {
        name: CollectorOutput(
            command="", stdout=said.get("stdout", ""), stderr=said.get("stderr", ""), status=said.get("status", 0)
        )
        for name, said in {"users": {"stdout": "end\n"}, **case["outputs"]}.items()
    }
    recording = Recording(host="node-1", os="", arch="", taken="2026-11-30T10:00:00Z", collectors=outputs)
    answers = judge_host(WANT, plan_for(*case["plan"]), snapshot_of(recording), Terms(), comes=case.get("comes"))
    assert [[a.rule, a.verdict.value] for a in answers] == case["found"]
    said = " ".join(f"{a.summary} {a.consequence} {a.satisfies}" for a in answers)
    assert [word for word in case["words"] if word not in said] == [], said


def seen(facts: dict[str, Any], base: Snapshot | None = None) -> Snapshot:
    return edit(base or fresh(WANT), {address: observation(value) for address, value in facts.items()})


def planned(snapshot: Snapshot, terms: Terms | None) -> Planned:
    host = Host(name="node-1", pool="train", target="onprem", connection=Connection(host="node-1", address="node-1"))
    fleet = Fleet(hosts=(host,), wants={"node-1": WANT}, warnings=())
    return plan_fleet(fleet, {"node-1": snapshot}, {}, lock="sha256:lock", waivers=(), terms=terms)


def test_a_refused_host_is_left_out_and_a_warning_is_told() -> None:
    held = {'package["libcuda1"].version': "570.1-1", 'package["libcuda1"].held': True}
    refused = planned(seen(held), Terms())
    assert refused.plan.hosts == ()
    assert refused.not_observed["node-1"].diagnostic.code == "GP-PRE-001"
    told = planned(seen({"host.reboot_required": ["libc6"]}), Terms())
    assert [(d.code, d.address, d.severity.value) for d in told.told] == [("GP-PRE-012", "node-1", "warning")]
    assert [plan.host for plan in told.plan.hosts] == ["node-1"]


def test_all_refusals_of_a_host_are_told_at_once() -> None:
    installer = {"program": "/usr/bin/nvidia-uninstall", "version": "535.1"}
    held = {'package["libcuda1"].version': "570.1-1", 'package["libcuda1"].held': True}
    found = planned(seen({**held, "stack.driver.installer": installer}), Terms()).not_observed["node-1"]
    assert found.code == "GP-PRE-001"
    assert "also GP-PRE-002: the driver 535.1 came by NVIDIA's own installer" in found.detail
    assert "run `/usr/bin/nvidia-uninstall`" in found.detail


RUNFILE = {"program": "/usr/bin/nvidia-uninstall", "version": "535.1", "files": "312"}


def test_a_driver_from_a_run_file_goes_by_its_uninstaller_where_that_was_agreed_to() -> None:
    there = seen({"stack.driver.installer": RUNFILE, "stack.driver.loaded": "535.1", "stack.driver.on_disk": "535.1"})
    (plan,) = planned(there, Terms(take_over=True)).plan.hosts
    gone = next(change for change in plan.changes if change.address == "stack.driver.installer")
    assert (gone.action, gone.subject, gone.before) == (
        Action.TAKE_OVER,
        "/usr/bin/nvidia-uninstall",
        "the driver 535.1, 312 files",
    )
    installs = [plan.changes.index(c) for c in plan.changes if c.action is Action.INSTALL]
    assert plan.changes.index(gone) < min(installs)
    assert removals(plan) == replace(removals(plan), packages=(), take_over=(), uninstall="/usr/bin/nvidia-uninstall")
    assert plan.rollback is not None
    assert plan.rollback.lost == ("the driver 535.1 of a .run file",)
    # What the host has is under the guard: another driver in its place is another plan.
    moved_on = edit(there, {"stack.driver.installer": observation({**RUNFILE, "version": "550.1"})})
    assert moved(plan, moved_on) == ("stack.driver.installer",)


@pytest.mark.parametrize(
    "facts",
    [
        {"stack.driver.installer": {"program": "/usr/bin/nvidia-uninstall", "version": "535.1"}},
        {
            "stack.driver.installer": RUNFILE,
            **{f'package["{p.name}"].version': p.version for p in WANT.pool.packages if "580.95.05" in p.version},
        },
    ],
    ids=["the uninstaller has no list", "the driver's packages are there beside it"],
)
def test_a_driver_from_a_run_file_that_cannot_be_taken_over_is_refused(facts: dict[str, Any]) -> None:
    assert planned(seen(facts), Terms(take_over=True)).not_observed["node-1"].diagnostic.code == "GP-PRE-002"


def test_who_uses_a_driver_that_is_taken_away_is_disturbed() -> None:
    there = seen({"stack.driver.installer": RUNFILE, "gpu.users": [TRAINING]})
    found = planned(there, Terms(take_over=True))
    assert found.not_observed["node-1"].diagnostic.code == "GP-PRE-007"
    (plan,) = planned(there, Terms(take_over=True, disturb=True)).plan.hosts
    assert plan.disturbs == ("process (python3 train.py, process 42 of ana)",)


def test_a_mere_look_refuses_nobody() -> None:
    held = {'package["libcuda1"].version': "570.1-1", 'package["libcuda1"].held': True}
    assert [plan.host for plan in planned(seen(held), None).plan.hosts] == ["node-1"]


def test_a_host_as_it_is_wanted_is_not_judged() -> None:
    quiet = seen({"host.clock.correct": False, "host.clock.offset": 99}, satisfied(WANT))
    assert planned(quiet, Terms()).told == ()


def test_what_gpuprov_holds_itself_is_no_hold_of_somebody_else() -> None:
    ours = {'package["libcuda1"].version': "570.1-1", 'package["libcuda1"].held': True}
    record = {"packages": {"libcuda1": "570.1-1"}, "files": {}, "sources": [], "want": ""}
    for owned in (record, {"unknown": "no right to read"}):
        found = judge_host(WANT, plan_for("upgrade libcuda1"), seen({**ours, "gpuprov.owned": owned}), Terms())
        assert found == ()


def test_whom_a_plan_disturbs() -> None:
    container = {**TRAINING, "kind": "container", "name": "llm"}
    host = seen({"gpu.users": [TRAINING, DAEMON, container]})
    words = ["process (python3 train.py, process 42 of ana)", "container llm (python3 train.py, process 42 of ana)"]
    assert disturbed(WANT, plan_for("reboot node-1"), host) == tuple(words)
    assert disturbed(WANT, plan_for("restart docker"), host) == (words[1],)
    assert disturbed(WANT, plan_for("restart nvidia-dcgm-exporter"), host) == ()
    assert disturbed(WANT, plan_for("reboot node-1"), seen({"gpu.users": {"unknown": "needs root"}})) == ()


@pytest.mark.parametrize(
    ("facts", "change", "cut"),
    [
        ({}, "install docker.io", True),
        ({}, "enable docker", True),
        ({}, "write /etc/systemd/system/gpuprov-cdi.service", True),
        ({}, "write /etc/motd", False),
        ({}, "restart nvidia-dcgm-exporter", False),
        ({"stack.container.device_links": True}, "install docker.io", False),
        ({"stack.container.cgroup_driver": "cgroupfs"}, "install docker.io", False),
    ],
)
def test_containers_without_links_are_cut_off_by_a_reload_of_systemd(
    facts: dict[str, Any], change: str, *, cut: bool
) -> None:
    """A19: the play does not have systemd reload while GPU containers run, unless that is agreed to."""
    users = [{"pid": "7", "user": "root", "command": "python3", "kind": "container", "name": "train"}]
    plain = {"stack.container.cgroup_driver": "systemd", "stack.container.device_links": False, "gpu.users": users}
    assert bool(disturbed(WANT, plan_for(change), seen({**plain, **facts}))) is cut


def test_who_is_disturbed_is_in_the_plan() -> None:
    other = {"stack.driver.loaded": "570.1", "stack.driver.nvml": "570.1", "gpu.users": [TRAINING]}
    found = planned(seen(other, satisfied(WANT)), Terms(disturb=True))
    assert found.plan.hosts[0].disturbs == ("process (python3 train.py, process 42 of ana)",)
    assert planned(seen(other, satisfied(WANT)), Terms()).plan.hosts == ()
    drained = planned(seen(other, satisfied(WANT)), Terms(drained=frozenset({"train"})))
    assert [d.code for d in drained.told] == ["GP-PRE-007"]


def test_gpus_that_came_into_use_are_found_right_before_the_change() -> None:
    plan, busy = plan_for("reboot node-1"), seen({"gpu.users": [TRAINING]})
    assert [d.code for d in in_use(WANT, plan, busy, Terms())] == ["GP-PRE-007"]
    # After a drain nothing may be left either.
    assert [d.code for d in in_use(WANT, plan, busy, Terms(drained=frozenset({"train"})))] == ["GP-PRE-007"]
    assert in_use(WANT, plan, busy, Terms(disturb=True)) == ()
    assert in_use(WANT, plan_for("install libcuda1"), busy, Terms()) == ()


def test_a_reboot_that_would_lose_the_driver_is_refused_after_the_packages_came() -> None:
    """A13: a module that was not built for the next kernel stops the run before the reboot."""
    plan = plan_for("install nvidia-kernel-open-dkms", "reboot node-1")
    kernels = {"host.kernel.release": "k1", "host.kernel.next": "k2", "stack.driver.next_boot": None}
    assert [d.code for d in stranded(WANT, plan, seen(kernels))] == ["GP-PRE-006"]
    assert stranded(WANT, plan, seen({**kernels, "stack.driver.next_boot": "580.95.05"})) == ()
    assert stranded(WANT, plan, seen({**kernels, "stack.driver.next_boot": {"unknown": "another boot loader"}})) == ()
    signed = {
        "host.secure_boot": "enabled",
        "stack.driver.signature": "signer not enrolled",
        "stack.driver.on_disk": "5",
    }
    assert [d.code for d in stranded(WANT, plan, seen(signed))] == ["GP-RULE-018"]


def test_other_preferences_are_told_by_the_names_in_them() -> None:
    rows = [
        {
            "file": "/etc/apt/preferences.d/site",
            "package": "nvidia-* libcuda1",
            "pin": "version 5*",
            "priority": "1001",
        },
        {"file": "/etc/apt/preferences.d/gpuprov.pref", "package": "libcuda1", "pin": "version 5", "priority": "1001"},
        {"file": "/etc/apt/preferences.d/all", "package": "*", "pin": "release x", "priority": "900"},
        {"file": "/etc/apt/preferences.d/same", "package": "libcuda1", "pin": "release x", "priority": "500"},
    ]
    (found,) = judge_host(WANT, plan_for("install libcuda1"), seen({"apt.pins": rows}), Terms())
    assert found.rule == "GP-PRE-013"
    assert found.summary.startswith("/etc/apt/preferences.d/site has preferences for libcuda1, nvidia-")


def test_a_kernel_of_the_plan_is_the_next_one() -> None:
    facts = {"host.kernel.release": "k1", "host.kernel.next": "k1", "host.kernel.headers": ["k1"]}
    plan = plan_for("install nvidia-kernel-open-dkms", "install linux-image-k2")
    assert judge_host(WANT, plan, seen(facts), Terms(), comes=()) == ()
    late = plan_for("install nvidia-kernel-open-dkms")
    facts["host.kernel.next"] = "k2"
    assert [a.rule for a in judge_host(WANT, late, seen(facts), Terms(), comes=())] == ["GP-PRE-005"]
    assert judge_host(WANT, late, seen(facts), Terms(), comes=("linux-headers-k2",)) == ()
    assert judge_host(WANT, late, seen(facts), Terms()) == ()  # nobody has asked apt yet


def test_small_file_systems_and_a_new_initramfs() -> None:
    facts = {"host.space": {"/": 10**9, "/boot": 10}, "host.initramfs_bytes": 100}
    assert [a.rule for a in judge_host(WANT, plan_for("install x-dkms"), seen(facts), Terms())] == ["GP-PRE-004"]
    assert judge_host(WANT, plan_for("install tree"), seen(facts), Terms()) == ()


def test_a_clash_that_is_there_already_is_told_once_and_beside_the_others() -> None:
    source = WANT.pool.sources[0]
    ours = {"file": source.path, "uris": ["http://repo.example/nvidia"], "suites": ["./"], "components": []}
    rows = [{**ours, "signed_by": source.key_path}, {**ours, "file": "/etc/apt/sources.list.d/x.list", "signed_by": ""}]
    facts = {"apt.sources": rows, "apt.conflicts": {"http://repo.example/nvidia .": ["a", "b"]}}
    held = {'package["libcuda1"].version': "570.1-1", 'package["libcuda1"].held': True}
    found = judge_host(WANT, plan_for("upgrade libcuda1"), seen({**facts, **held}), Terms())
    assert [a.rule for a in found] == ["GP-RULE-017", "GP-PRE-001"]
    told = planned(seen({**facts, **held}), Terms()).not_observed["node-1"]
    assert (told.code, "also GP-PRE-001" in told.detail) == ("GP-RULE-017", True)
