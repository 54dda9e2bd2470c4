"""A host as a node of Slurm: what is read of it, and whose drain is ended."""

import threading
from pathlib import Path
from typing import Any

import pytest
import yaml
from rollout_site import FakeHost, FakeNode, Site, host_named

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.rollout.slurm import REASON, SlurmNode, find_node, read_node

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "rollout" / "slurm_nodes.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_what_is_read_of_a_node(case: dict[str, Any]) -> None:
    state = read_node(case["text"])
    seen = {name: getattr(state, name) for name in case if name not in {"id", "text"}}
    assert seen == {name: value for name, value in case.items() if name not in {"id", "text"}}


def test_an_answer_without_a_state_is_no_node() -> None:
    with pytest.raises(ValueError, match="State="):
        read_node("Node n9 not found\n")


@pytest.mark.parametrize(
    ("names", "found"),
    [({"gpu-1"}, "n1"), ({"10.0.0.2"}, "n2"), ({"n2", "gpu-2"}, "n2"), ({"gpu-1", "n2"}, None), ({"gpu-9"}, None)],
)
def test_a_node_is_found_by_any_of_its_names_when_they_are_one_nodes(names: set[str], found: str | None) -> None:
    rows = "NodeName={0}\nNodeAddr=10.0.0.{1}\nNodeHostName=gpu-{1}\n"
    assert find_node(rows.format("n1", 1) + rows.format("n2", 2), names) == found


def node_of(node: FakeNode, *, on: str = "a") -> tuple[SlurmNode, Site]:
    site = Site({"a": FakeHost(), "c": FakeHost()})
    site.slurm.nodes["a"] = node
    return SlurmNode(host_named("a"), host_named(on), site.connect, threading.Event()), site


def test_a_node_is_drained_with_our_mark_and_returned() -> None:
    node = FakeNode(jobs=3)
    work, site = node_of(node)
    assert work.take() == ""
    assert (node.drain, node.reason) == (True, REASON)
    assert "job 17 of ana, 18 of ana" in work.busy()
    assert work.busy()
    assert work.busy() == ""
    assert work.give() == ""
    assert (node.drain, site.slurm.diary) == (False, ["drain a", "resume a"])


def test_a_node_that_somebody_else_drained_is_never_returned() -> None:
    node = FakeNode(drain=True, reason="bad DIMM", who="ana")
    work, site = node_of(node)
    assert "ana (bad DIMM)" in work.take()
    assert "ana (bad DIMM)" in work.give()
    assert (node.drain, node.reason, site.slurm.diary) == (True, "bad DIMM", [])


def test_a_node_that_somebody_drained_while_we_changed_it_stays_so() -> None:
    node = FakeNode()
    work, site = node_of(node)
    work.take()
    node.reason, node.who = "keep it", "ana"
    assert "ana (keep it)" in work.give()
    assert (node.drain, site.slurm.diary) == (True, ["drain a"])


def test_a_node_that_somebody_returned_meanwhile_is_left_alone() -> None:
    """`state=resume` of a node in service is an error of Slurm's."""
    node = FakeNode()
    work, site = node_of(node)
    work.take()
    node.drain, node.reason = False, ""
    assert work.give() == ""
    assert site.slurm.diary == ["drain a"]


def test_our_drain_of_a_killed_run_is_taken_over() -> None:
    node = FakeNode(drain=True, reason=REASON)
    work, site = node_of(node)
    assert work.take() == ""
    assert work.give() == ""
    assert site.slurm.diary == ["resume a"]


def test_a_node_that_slurm_does_not_take_back_is_a_failure() -> None:
    work, _ = node_of(FakeNode(drain=True, reason=REASON, deaf=True))
    with pytest.raises(GpuprovError) as caught:
        work.give()
    assert [d.code for d in caught.value.diagnostics] == ["GP-ROLL-007"]


def test_slurms_commands_run_on_the_host_that_the_spec_names() -> None:
    work, site = node_of(FakeNode(), on="c")
    work.take()
    assert set(site.slurm.asked) == {"c"}


def test_a_host_that_is_no_node_is_told() -> None:
    work, site = node_of(FakeNode())
    site.slurm.nodes["b"] = site.slurm.nodes.pop("a")
    with pytest.raises(GpuprovError) as caught:
        work.take()
    assert "no node" in caught.value.diagnostics[0].summary
