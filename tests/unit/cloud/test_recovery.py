import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpuprov.cloud import recovery
from gpuprov.cloud.events import UNKNOWN, NewResource
from gpuprov.cloud.state import INSTANCE, parse_checkpoint, state_of
from gpuprov.model.diagnostic import Severity

STATES = Path(__file__).parents[2] / "cases" / "cloud" / "states"


@pytest.fixture
def deployment() -> dict[str, Any]:
    return dict(parse_checkpoint((STATES / "pending.json").read_text(encoding="utf-8")))


class Account:
    """What `Account.find` answers; it notes what it was asked."""

    def __init__(self, found: str | None) -> None:
        self.found = found
        self.asked: list[tuple[str, str]] = []

    def __call__(self, type_token: str, key: str) -> str | None:
        self.asked.append((type_token, key))
        return self.found


def test_a_pending_create_that_exists_is_taken_in(deployment: dict[str, Any]) -> None:
    before = copy.deepcopy(deployment)
    account = Account("i-found")
    settled = recovery.settle(deployment, account)
    assert account.asked == [(INSTANCE, "train/instance/train-c")]
    found = state_of(settled.deployment)
    assert found.pending == ()
    assert found.resources["instance.train-c"].id == "i-found"
    assert found.resources["instance.train-c"].inputs["instanceType"] == "g6.xlarge"
    assert [(one.code, one.address) for one in settled.told] == [("GP-CLOUD-023", "instance.train-c")]
    assert "i-found" in settled.told[0].summary
    assert (settled.changed, settled.reading) == (True, True)
    assert deployment == before


def test_a_pending_create_that_does_not_exist_is_dropped(deployment: dict[str, Any]) -> None:
    settled = recovery.settle(deployment, Account(None))
    found = state_of(settled.deployment)
    assert found.pending == ()
    assert "instance.train-c" not in found.resources
    assert (settled.changed, settled.reading) == (True, False)


@pytest.mark.parametrize("operation", ["updating", "deleting"])
def test_what_was_being_changed_is_settled_by_reading(deployment: dict[str, Any], operation: str) -> None:
    deployment["pending_operations"][0]["type"] = operation
    account = Account("i-found")
    settled = recovery.settle(deployment, account)
    assert account.asked == []
    assert settled.deployment == deployment
    assert (settled.changed, settled.reading) == (False, True)
    assert operation in settled.told[0].summary


def test_what_was_deleted_to_be_made_anew_does_not_hide_the_new_one(deployment: dict[str, Any]) -> None:
    old = next(row for row in deployment["resources"] if row["type"] == INSTANCE)
    old["pendingReplacement"] = True
    name = old["urn"].rpartition("::")[2]
    assert name not in state_of(deployment).resources
    new = NewResource(
        urn=old["urn"], type=INSTANCE, parent=old["parent"], provider=old["provider"], inputs=old["inputs"]
    )
    settled = recovery.adopt(deployment, [new], Account("i-new"))
    assert state_of(settled.deployment).resources[name].id == "i-new"


def test_a_pending_create_without_tag_and_name_is_refused(deployment: dict[str, Any]) -> None:
    del deployment["pending_operations"][0]["resource"]["inputs"]["tags"]
    settled = recovery.settle(deployment, Account("i-found"))
    assert [(one.code, one.severity) for one in settled.told] == [("GP-CLOUD-015", Severity.ERROR)]
    assert settled.told[0].hint


def test_a_resource_without_tags_is_looked_for_by_its_natural_key(deployment: dict[str, Any]) -> None:
    resource = deployment["pending_operations"][0]["resource"]
    resource["type"] = "aws:ec2/routeTableAssociation:RouteTableAssociation"
    resource["inputs"] = {"subnetId": "subnet-1", "routeTableId": "rtb-1"}
    account = Account("rtbassoc-1")
    recovery.settle(deployment, account)
    assert account.asked == [(resource["type"], "subnet-1/rtb-1")]


def test_of_a_replacement_that_was_cut_off_the_old_one_remains_to_be_deleted(deployment: dict[str, Any]) -> None:
    rows = {row["urn"].rpartition("::")[2]: row for row in deployment["resources"]}
    deployment["pending_operations"][0]["resource"] = {
        key: value for key, value in rows["instance.train-a"].items() if key not in {"id", "outputs"}
    }
    settled = recovery.settle(deployment, Account("i-new"))
    both = [row for row in settled.deployment["resources"] if row["urn"].endswith("instance.train-a")]
    assert sorted((row["id"] == "i-new", row.get("delete", False)) for row in both) == [(False, True), (True, False)]


def new(deployment: dict[str, Any], **more: Any) -> NewResource:
    like = next(row for row in deployment["resources"] if row["urn"].endswith("instance.train-a"))
    return NewResource(
        urn=like["urn"].replace("train-a", "train-d"),
        type=like["type"],
        parent=like["parent"],
        provider=more.pop("provider", like["provider"]),
        inputs={**like["inputs"], "tags": {"gpuprov:id": "train/instance/train-d"}, **more},
    )


def test_an_orphan_without_a_trace_is_taken_in_without_its_secrets(deployment: dict[str, Any]) -> None:
    account = Account("i-orphan")
    resource = new(deployment, userData="[secret]", block={"key": ["[secret]"]}, instanceType="x")
    settled = recovery.adopt(deployment, [resource], account)
    assert account.asked == [(INSTANCE, "train/instance/train-d")]
    row = settled.deployment["resources"][-1]
    assert row["id"] == "i-orphan"
    assert row["inputs"]["instanceType"] == "x"
    assert {"userData", "block"} & set(row["inputs"]) == set()
    assert "[secret]" not in json.dumps(row)
    assert (settled.changed, settled.reading) == (True, True)


@pytest.mark.parametrize("leaving", [False, True])
def test_an_orphan_goes_before_what_it_stands_on(deployment: dict[str, Any], *, leaving: bool) -> None:
    """The engine deletes by these; without them it tried all at once, and nothing went."""
    made = [row for row in deployment["resources"] if row.get("id") and not row["type"].startswith("pulumi:")]
    subnet = next(row for row in made if row["type"] == "aws:ec2/subnet:Subnet")
    settled = recovery.adopt(deployment, [new(deployment, subnetId=subnet["id"])], Account("i-orphan"), leaving=leaving)
    told = set(settled.deployment["resources"][-1]["dependencies"])
    assert subnet["urn"] in told
    groups = {row["urn"] for row in made if row["id"] in str(new(deployment).inputs)}
    assert told == ({row["urn"] for row in made} if leaving else {subnet["urn"], *groups})


def test_what_the_state_holds_by_now_is_not_looked_for(deployment: dict[str, Any]) -> None:
    account = Account("i-orphan")
    resource = new(deployment)
    held = {**deployment["resources"][-1], "urn": resource.urn, "id": "i-made"}
    settled = recovery.adopt({**deployment, "resources": [*deployment["resources"], held]}, [resource], account)
    assert (account.asked, settled.changed) == ([], False)


@pytest.mark.parametrize("value", [UNKNOWN, [UNKNOWN], {"a": [{"b": UNKNOWN}]}])
def test_one_that_stands_on_another_orphan_waits_for_it(deployment: dict[str, Any], value: object) -> None:
    account = Account("i-orphan")
    settled = recovery.adopt(deployment, [new(deployment, subnetId=value)], account)
    assert (account.asked, settled.changed) == ([], False)


def test_a_key_that_is_not_known_yet_is_not_looked_for(deployment: dict[str, Any]) -> None:
    account = Account("rtbassoc-1")
    resource = replace(
        new(deployment),
        type="aws:ec2/routeTableAssociation:RouteTableAssociation",
        inputs={"subnetId": UNKNOWN, "routeTableId": "rtb-1"},
    )
    recovery.adopt(deployment, [resource], account)
    assert account.asked == []


def test_nothing_found_changes_nothing(deployment: dict[str, Any]) -> None:
    settled = recovery.adopt(deployment, [new(deployment)], Account(None))
    assert settled.deployment == deployment
    assert (settled.told, settled.changed, settled.reading) == ((), False, False)


def test_a_lost_state_is_told_and_not_rebuilt(deployment: dict[str, Any]) -> None:
    resource = new(deployment, provider=f"urn:pulumi:train::gpuprov-aws::pulumi:providers:aws::default::{UNKNOWN}")
    settled = recovery.adopt({"resources": []}, [resource], Account("i-orphan"))
    assert [(one.code, one.severity) for one in settled.told] == [("GP-CLOUD-015", Severity.ERROR)]
    assert "i-orphan" in settled.told[0].summary


def test_looking_explains_what_is_pending(deployment: dict[str, Any]) -> None:
    told = recovery.explain(state_of(deployment).pending)
    assert [(one.code, one.address, one.severity) for one in told] == [
        ("GP-CLOUD-023", "instance.train-c", Severity.WARNING)
    ]
