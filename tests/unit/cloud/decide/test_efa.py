from dataclasses import replace
from typing import Any

import pytest
from cloud_builders import cloud_document, cloud_network, cloud_pool, cloud_spec, entries

from gpuprov.cloud.decide.standing import Standing, StandingHost, standing_of
from gpuprov.model.diagnostic import GpuprovError

TYPE = "p5.48xlarge"
TEMPLATE = "gpuprov-train-train-p5.48xlarge-us-east-1a"
ZONES = {TYPE: ("us-east-1a",), "g6.8xlarge": ("us-east-1a",), "g6e.48xlarge": ("us-east-1a",)}


def spec(efa: str | None = "ip", *, instance: str = TYPE, public: bool = False) -> Any:
    pool = cloud_pool(instance=instance)
    assert pool.cloud is not None
    network = cloud_network(public=public)
    return cloud_spec(replace(pool, cloud=replace(pool.cloud, efa=efa)), network=network, storage={})


def document(spec: Any, **changes: Any) -> Any:
    return cloud_document(spec, zones=ZONES, **changes)


def templates(document: Any) -> tuple[list[str], dict[str, str | None]]:
    instances = {name: entry["launch_template"] for name, entry in entries(document, "instances").items()}
    return [template["name"] for template in document["launch_templates"]], instances


def standing(**hosts: str) -> Standing:
    return Standing(
        hosts={
            name.replace("_", "-"): StandingHost(zone="us-east-1a", type=TYPE, root_gib=8, template=template)
            for name, template in hosts.items()
        }
    )


def outward(document: Any) -> list[tuple[str, bool]]:
    return [(rule["name"], rule["members"]) for rule in document["security_group"]["egress"]]


def test_new_hosts_of_a_pool_are_made_from_its_template() -> None:
    assert templates(document(spec())) == ([TEMPLATE], {"train-a": TEMPLATE, "train-b": TEMPLATE})
    assert templates(document(spec(None))) == ([], {"train-a": None, "train-b": None})


def test_a_template_holds_every_adapter_of_the_type_and_one_address() -> None:
    (template,) = document(spec())["launch_templates"]
    found = [(each["type"], each["card"], each["device"], each["public"]) for each in template["interfaces"]]
    assert found[0] == ("interface", 0, 0, None)
    assert found[1:] == [("efa-only", card, 1, None) for card in range(32)]
    assert template["subnet"] == "us-east-1a"
    assert template["tags"]["gpuprov:id"] == f"train/launch_template/{TEMPLATE}"


@pytest.mark.parametrize("public", [True, False])
def test_a_single_interface_may_have_a_public_address(*, public: bool) -> None:
    (template,) = document(spec(instance="g6.8xlarge", public=public))["launch_templates"]
    assert template["interfaces"] == [{"type": "efa", "card": 0, "device": 0, "public": public}]


@pytest.mark.parametrize(
    ("instance", "public", "code"), [(TYPE, True, "GP-CLOUD-082"), ("g6e.48xlarge", False, "GP-CLOUD-081")]
)
def test_what_ec2_would_refuse_or_nobody_knows_is_refused(instance: str, *, public: bool, code: str) -> None:
    with pytest.raises(GpuprovError) as caught:
        document(spec(instance=instance, public=public))
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [(code, "pools.train.cloud.efa")]


def test_only_hosts_with_efa_need_the_groups_own_way_out() -> None:
    assert outward(document(spec(None))) == [("all", False)]
    assert outward(document(spec())) == [("all", False), ("members", True)]
    # A host that stands has it still.
    assert outward(document(spec(None), standing=standing(train_a=TEMPLATE))) == [("all", False), ("members", True)]


def test_a_host_that_stands_keeps_its_interfaces() -> None:
    # Others would be another instance: nobody asked for that.
    found = document(spec(), standing=standing(train_a=""))
    assert templates(found) == ([TEMPLATE], {"train-a": None, "train-b": TEMPLATE})
    found = document(spec(None), standing=standing(train_a=TEMPLATE))
    assert templates(found) == ([TEMPLATE], {"train-a": TEMPLATE, "train-b": None})


def test_a_host_that_is_made_anew_follows_the_spec() -> None:
    found = document(spec(), standing=standing(train_a="", train_b=""), replace=("train-a",))
    assert templates(found) == ([TEMPLATE], {"train-a": TEMPLATE, "train-b": None})


def test_the_state_says_of_which_template_a_host_is() -> None:
    inputs: dict[str, dict[str, object]] = {
        "instance.train-a": {"launchTemplate": {"name": TEMPLATE, "version": "$Latest"}},
        "instance.train-b": {"availabilityZone": "us-east-1a"},
    }
    found = standing_of(inputs).hosts
    assert (found["train-a"].template, found["train-b"].template) == (TEMPLATE, "")
