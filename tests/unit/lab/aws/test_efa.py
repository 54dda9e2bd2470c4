"""Several interfaces and EFAs of an instance: the lab's account makes them, and refuses as EC2 does."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from lab_account import IMAGE, Cloud
from moto.ec2.models.instance_types import INSTANCE_TYPES

from gpuprov.catalog.efa import interfaces
from gpuprov.catalog.load import rows
from gpuprov.catalog.rows_cloud import EfaLayoutRow
from gpuprov.lab.aws.efa import judge_cards, template_parts
from gpuprov.lab.aws.request import ApiRequest

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

TYPE = "p5.48xlarge"


def nic(kind: str, card: int, device: int, **more: Any) -> dict[str, Any]:
    return {"InterfaceType": kind, "NetworkCardIndex": card, "DeviceIndex": device} | more


def whole(count: int = 32) -> list[dict[str, Any]]:
    """The layout of a p5.48xlarge with the fewest addresses."""
    return [nic("interface", 0, 0), *(nic("efa-only", card, 1) for card in range(count))]


def launch(ec2: Any, nics: list[dict[str, Any]], *, type_: str = TYPE, subnet: str, **more: Any) -> dict[str, Any]:
    placed = [{"SubnetId": subnet, "DeleteOnTermination": True} | each for each in nics]
    arguments = {"NetworkInterfaces": placed} if placed else {}
    made = ec2.run_instances(ImageId=IMAGE, InstanceType=type_, MinCount=1, MaxCount=1, **arguments, **more)
    found: dict[str, Any] = made["Instances"][0]
    return found


def shown(ec2: Any, instance: str) -> list[tuple[str, int, int, bool]]:
    """Kind, card, index of an instance's interfaces, and whether each has an address."""
    rows = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]["NetworkInterfaces"]
    return [
        (
            row["InterfaceType"],
            row["Attachment"]["NetworkCardIndex"],
            row["Attachment"]["DeviceIndex"],
            bool(row.get("PrivateIpAddress")),
        )
        for row in rows
    ]


def count(ec2: Any) -> int:
    return len(ec2.describe_network_interfaces()["NetworkInterfaces"])


def test_each_adapter_has_its_card_and_none_an_address_and_all_go_with_their_instance(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    subnet, before = paper_cloud.subnet(ec2), count(ec2)
    made = launch(ec2, whole(), subnet=subnet)
    wanted = [("interface", 0, 0, True), *(("efa-only", card, 1, False) for card in range(32))]
    assert shown(ec2, made["InstanceId"]) == wanted
    assert count(ec2) == before + 33
    ec2.terminate_instances(InstanceIds=[made["InstanceId"]])
    paper_cloud.settle(made["InstanceId"])
    assert count(ec2) == before


def test_what_the_call_does_not_say_goes_with_its_instance_stays(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    subnet, before = paper_cloud.subnet(ec2), count(ec2)
    kept = [nic("interface", 0, 0), nic("efa-only", 0, 1, DeleteOnTermination=False)]
    made = launch(ec2, kept, subnet=subnet)
    ec2.terminate_instances(InstanceIds=[made["InstanceId"]])
    paper_cloud.settle(made["InstanceId"])
    assert count(ec2) == before + 1


def test_a_launch_template_gives_its_interfaces_and_its_name(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    subnet = paper_cloud.subnet(ec2)
    data = {"NetworkInterfaces": [each | {"SubnetId": subnet} for each in whole(4)]}
    kept = ec2.create_launch_template(LaunchTemplateName="cards", LaunchTemplateData=data)["LaunchTemplate"]
    template = {"LaunchTemplateName": "cards", "Version": "$Latest"}
    # Who may start it is judged by what it names.
    call = ApiRequest(
        service="ec2",
        action="RunInstances",
        parameters={f"LaunchTemplate.{name}": value for name, value in template.items()},
    )
    assert template_parts(paper_cloud.account.backend, call) == (kept["LaunchTemplateId"], subnet)
    made = launch(ec2, [], subnet=subnet, LaunchTemplate=template)
    assert [kind for kind, *_ in shown(ec2, made["InstanceId"])] == ["interface", *["efa-only"] * 4]
    assert made["SubnetId"] == subnet
    group = ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"]
    for beside in ({"SubnetId": subnet}, {"SecurityGroupIds": [group]}):
        with pytest.raises(ClientError, match="may not be specified on the same request"):
            launch(ec2, [], subnet=subnet, LaunchTemplate=template, **beside)


REFUSED = {
    "no adapter in this type": (
        [nic("efa", 0, 0)],
        "g6.xlarge",
        "InvalidParameterCombination",
        "do not support Elastic Fabric Adapters",
    ),
    "an adapter alone cannot be the first": ([nic("efa-only", 0, 0)], TYPE, "InvalidParameterCombination", "primary"),
    "nothing at the first place": ([nic("efa", 1, 0)], TYPE, "InvalidParameterCombination", "card 0, device index 0"),
    "two at one place": (
        [nic("interface", 0, 0), nic("efa-only", 0, 1), nic("efa-only", 0, 1)],
        TYPE,
        "InvalidParameterCombination",
        "two at card 0, index 1",
    ),
    "two adapters on one card": (
        [nic("efa", 0, 0), nic("efa-only", 0, 1)],
        TYPE,
        "InvalidParameterCombination",
        "takes one",
    ),
    "a card that is not there": ([*whole(), nic("interface", 32, 1)], TYPE, "InvalidParameterValue", "card 32"),
    "more than a card takes": (
        [nic("interface", 0, 0), nic("interface", 0, 1), nic("interface", 0, 2)],
        TYPE,
        "AttachmentLimitExceeded",
        "takes 2",
    ),
    "more than the type takes": (
        [nic("efa", 0, 0), nic("interface", 0, 1), nic("efa-only", 0, 2)],
        "g6.8xlarge",
        "AttachmentLimitExceeded",
        "takes 1",
    ),
    "a kind that the card does not take": (
        [nic("efa", 0, 0)],
        "p6-b300.48xlarge",
        "InvalidParameterCombination",
        "no interface of type efa",
    ),
    "a public address beside other interfaces": (
        [nic("interface", 0, 0, AssociatePublicIpAddress=False), nic("efa-only", 0, 1)],
        TYPE,
        "InvalidParameterCombination",
        "multiple network interfaces",
    ),
}


def test_a_layout_that_ec2_refuses_is_refused(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    subnet, before = paper_cloud.subnet(ec2), count(ec2)
    for name, (nics, type_, code, words) in REFUSED.items():
        with pytest.raises(ClientError) as caught:
            launch(ec2, nics, type_=type_, subnet=subnet)
        assert caught.value.response["Error"]["Code"] == code, name
        assert words in caught.value.response["Error"]["Message"], name
    assert count(ec2) == before


def test_a_template_shows_the_tags_that_it_has(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    tags = [{"ResourceType": "launch-template", "Tags": [{"Key": "role", "Value": "gpu"}]}]
    made = ec2.create_launch_template(LaunchTemplateName="cards", LaunchTemplateData={}, TagSpecifications=tags)
    ec2.create_tags(Resources=[made["LaunchTemplate"]["LaunchTemplateId"]], Tags=[{"Key": "role", "Value": "cpu"}])
    found = ec2.describe_launch_templates(Filters=[{"Name": "tag:role", "Values": ["cpu"]}])["LaunchTemplates"]
    assert [row["Tags"] for row in found] == [[{"Key": "role", "Value": "cpu"}]]


def test_the_cards_of_each_type_take_the_layouts_of_the_catalog() -> None:
    known = [row for row in rows(EfaLayoutRow) if row.knows("interfaces") and row.instance in INSTANCE_TYPES]
    assert len(known) > 30
    for row in known:
        laid = interfaces(row.instance, row.layout)
        kinds = [each.kind.replace("ena", "interface") for each in laid]
        judge_cards([nic(k, each.card, each.device) for k, each in zip(kinds, laid, strict=True)], row.instance)


def test_a_single_adapter_may_have_a_public_address(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    asked = [nic("efa", 0, 0, AssociatePublicIpAddress=True)]
    made = launch(ec2, asked, type_="g6.8xlarge", subnet=paper_cloud.subnet(ec2, public=False))
    assert shown(ec2, made["InstanceId"]) == [("efa", 0, 0, True)]
    assert paper_cloud.row(ec2, made["InstanceId"])["PublicIpAddress"]
