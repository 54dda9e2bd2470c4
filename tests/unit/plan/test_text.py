import json
from dataclasses import replace

import pytest
from host_builders import edit, fresh, make_want, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.document.envelope import document_digest
from gpuprov.model.change import Foreseen, Plan
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.fact import Known, Unknown
from gpuprov.model.resource import NewHost, ResourceAction, ResourceChange, ResourcePlan
from gpuprov.plan.plan import build_plan, plan_host
from gpuprov.plan.text import KIND, plan_body, read_plan, write_plan
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of

WANT = make_want()
RESOURCES = ResourcePlan(
    changes=(
        ResourceChange(
            address="instance.a", type="aws:ec2/instance:Instance", action=ResourceAction.REPLACE, urn="urn:a",
            reasons=("ami",), changes=("ami: x -> y",), holds_data=True,
        ),
        ResourceChange(address="bucket.b", type="t", action=ResourceAction.DELETE, urn="urn:b", leftover=True),
    ),
    unchanged=3,
    new_hosts=(NewHost(name="a", pool="p", instance="i", image="ami-1", packages=("x 1",), files=("/etc/motd",)),),
)  # fmt: skip
HOSTS = (
    fresh(WANT),
    edit(satisfied(WANT), {"gpu.count": Known(7), 'package["libcuda1"].version': Unknown("timed out")}),
    satisfied(WANT),
)


def make_plan() -> Plan:
    hosts = [plan_host(compare_want(expectations(WANT, owned_of(host)), host), WANT, host) for host in HOSTS]
    plan = build_plan("sha256:lock", {"node-1": WANT.digest}, hosts, {"node-9": "it does not answer"})
    return replace(plan, resources=RESOURCES)


def test_a_plan_comes_back_as_it_was() -> None:
    plan = replace(make_plan(), order=(("node-1",), ("node-2", "node-3")), drains={"node-1": "slurm, up to 1h"})
    assert len(plan.hosts[0].changes) > 20
    assert plan.hosts[1].not_curable
    assert plan.hosts[1].unknown
    assert read_plan(write_plan(plan), "plan.json") == plan


def test_what_apt_said_and_who_would_be_ended_come_back_too() -> None:
    plan = make_plan()
    foreseen = Foreseen(others=("a 1 -> 2",), download=3, growth=4, untold="")
    told = replace(plan, hosts=(replace(plan.hosts[0], foreseen=foreseen, disturbs=("job 7",)), *plan.hosts[1:]))
    assert read_plan(write_plan(told), "plan.json") == told


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("action", "melt", "`melt` was found"),
        ("cost", "free", "`free` was found"),
        ("subject", 1, "a text was expected"),
    ],
)
def test_a_change_that_is_none_is_refused(key: str, value: object, word: str) -> None:
    body = json.loads(json.dumps(plan_body(make_plan())))
    body["hosts"][0]["changes"][0][key] = value
    text = json.dumps({"kind": KIND, "apiVersion": "gpuprov/v1", "digest": document_digest(KIND, body), "body": body})
    with pytest.raises(GpuprovError, match=word) as error:
        read_plan(text, "plan.json")
    assert error.value.diagnostics[0].address == f"hosts[0].changes[0].{key}"


def test_a_guard_that_does_not_fit_is_refused() -> None:
    body = json.loads(json.dumps(plan_body(make_plan())))
    body["hosts"][0]["reads"]["apt.dpkg"] = "0" * 16
    text = json.dumps({"kind": KIND, "apiVersion": "gpuprov/v1", "digest": document_digest(KIND, body), "body": body})
    with pytest.raises(GpuprovError, match="guard"):
        read_plan(text, "plan.json")
