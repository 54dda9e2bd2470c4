"""Storage that a run makes for hosts that stand already."""

import json

from app_world import World
from ground_builders import SPEC

from gpuprov.model.run import RunResult

FAST = SPEC.replace("  scratch:", "  fast: {kind: volume, size: 10GiB, mount: /fast, filesystem: xfs}\n  scratch:")


def notes(world: World) -> list[str]:
    return [told.summary for told in world.asked[-1][1] if told.code == "GP-STO-001"]


def kept(result: RunResult, world: World, host: str) -> dict[str, object]:
    """The want of a host in the run's journal."""
    name = result.run.rpartition("/")[2]
    found: dict[str, object] = json.loads((world.site.state / "runs" / name / "wants" / f"{host}.json").read_text())
    return found


def test_it_is_told_before_the_question_and_part_of_the_wants_that_the_run_brings_hosts_to(world: World) -> None:
    first = world.up()
    world.rewrite(text=FAST)
    result = world.up()
    assert notes(world) == [
        "once fast is made, it is formatted with xfs and mounted at /fast on train-a, train-b, in this run"
    ]
    for host in ("train-a", "train-b"):
        want = kept(result, world, host)
        assert want["digest"] == result.plan.wants[host] != first.plan.wants[host]
        volume = world.stack.resources[f"volume.fast/{host}"].id.replace("-", "")
        assert f"nvme-Amazon_Elastic_Block_Store_{volume}" in json.dumps(want)
    assert sorted(plan.host for plan in result.plan.hosts) == ["train-a", "train-b"]


def test_a_new_host_is_shown_with_the_units_of_what_it_will_mount(world: World) -> None:
    world.rewrite(text=FAST)
    result = world.up()
    for new in result.plan.resources.new_hosts:
        assert "/etc/systemd/system/fast.mount" in new.files


def test_new_hosts_and_storage_that_is_there_need_no_note(world: World) -> None:
    world.rewrite(text=FAST)
    world.up()
    assert notes(world) == []
    world.rewrite("train-a", "train-b", "train-c", text=FAST)
    world.up()
    assert notes(world) == []
