import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError, ConnectionClosedError
from lab_account import CIDR, Cloud

from gpuprov.lab.aws import faults
from gpuprov.lab.aws.faults import Fault

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

CASES = Path(__file__).parents[3] / "cases" / "lab" / "aws"


@pytest.mark.parametrize(
    "case",
    yaml.safe_load((CASES / "refused_faults.yaml").read_text()),
    ids=lambda c: f"{c['fault']['kind']} {c['service']}",
)
def test_a_service_refuses_in_its_own_words(paper_cloud: Cloud, case: dict[str, Any]) -> None:
    client = paper_cloud.client(case["service"])
    with faults.fault(paper_cloud.endpoint, **case["fault"]), pytest.raises(ClientError) as caught:
        getattr(client, case["call"])()
    assert caught.value.response["Error"]["Code"] == case["code"]
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == case["status"]
    getattr(client, case["call"])()


def test_a_repeated_call_makes_one_thing_and_has_the_first_answer(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    subnet = paper_cloud.subnet(ec2)
    first = paper_cloud.run(ec2, subnet, ClientToken="token-1")
    assert paper_cloud.run(ec2, subnet, ClientToken="token-1") == first
    assert paper_cloud.run(ec2, subnet, ClientToken="token-2") != first
    with pytest.raises(ClientError, match="IdempotentParameterMismatch"):
        paper_cloud.run(ec2, subnet, ClientToken="token-1", InstanceType="g6.2xlarge")


def test_a_call_that_was_refused_may_be_made_again_with_its_token(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    subnet = paper_cloud.subnet(ec2)
    with faults.fault(paper_cloud.endpoint, kind="capacity"), pytest.raises(ClientError):
        paper_cloud.run(ec2, subnet, ClientToken="token-1")
    assert paper_cloud.run(ec2, subnet, ClientToken="token-1").startswith("i-")


def test_a_dry_run_does_nothing(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    before = ec2.describe_vpcs()["Vpcs"]
    with pytest.raises(ClientError, match="DryRunOperation"):
        ec2.create_vpc(CidrBlock=CIDR, DryRun=True)
    assert ec2.describe_vpcs()["Vpcs"] == before


@pytest.mark.parametrize("key", ["aws:name", "AWS:name"])
def test_reserved_tags_are_refused(paper_cloud: Cloud, key: str) -> None:
    ec2 = paper_cloud.client("ec2")
    tags = [{"Key": key, "Value": "x"}]
    with pytest.raises(ClientError, match="reserved for internal use"):
        ec2.create_vpc(CidrBlock=CIDR, TagSpecifications=[{"ResourceType": "vpc", "Tags": tags}])
    assert [vpc for vpc in ec2.describe_vpcs()["Vpcs"] if vpc["CidrBlock"] == CIDR] == []
    made = ec2.create_vpc(CidrBlock=CIDR)["Vpc"]["VpcId"]
    with pytest.raises(ClientError, match="reserved for internal use"):
        ec2.create_tags(Resources=[made], Tags=tags)


def test_a_slow_call_is_done_before_its_answer_comes(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    with faults.slow(paper_cloud.endpoint, action="CreateVpc", seconds=1.0):
        thread = threading.Thread(target=lambda: ec2.create_vpc(CidrBlock=CIDR))
        begun = time.monotonic()
        thread.start()
        while not faults.in_progress(paper_cloud.endpoint, action="CreateVpc"):
            assert time.monotonic() < begun + 10
            time.sleep(0.02)
        made = [vpc for vpc in paper_cloud.client("ec2").describe_vpcs()["Vpcs"] if vpc["CidrBlock"] == CIDR]
        assert len(made) == 1
        thread.join()
    assert time.monotonic() - begun >= 1.0
    assert not faults.in_progress(paper_cloud.endpoint, action="*")


def test_a_cut_connection_hides_a_thing_that_was_made(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    faults.add(paper_cloud.endpoint, Fault(kind="cut", action="ec2:CreateVpc", times=1))
    with pytest.raises(ConnectionClosedError):
        ec2.create_vpc(CidrBlock=CIDR)
    assert len([vpc for vpc in ec2.describe_vpcs()["Vpcs"] if vpc["CidrBlock"] == CIDR]) == 1


def test_a_client_that_tries_again_with_its_token_gets_the_instance_of_the_cut_call(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2", retries=2)
    subnet = paper_cloud.subnet(ec2)
    faults.add(paper_cloud.endpoint, Fault(kind="cut", action="RunInstances", times=1))
    instance = paper_cloud.run(ec2, subnet)
    assert list(paper_cloud.machines) == [instance]


def test_a_newer_base_image_is_published_beside_the_old_one(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    newer = faults.publish_image(paper_cloud.endpoint)
    owner = paper_cloud.account.cloud.base_image_owner
    names = [{"Name": "name", "Values": ["debian-12-amd64-*"]}]
    found = ec2.describe_images(Owners=[owner], Filters=names)["Images"]
    by_day = sorted(found, key=lambda image: image["CreationDate"])
    assert [image["ImageId"] for image in by_day] == [paper_cloud.account.cloud.base_image, newer]
    assert by_day[1]["Name"] == "debian-12-amd64-20260112-2355"
    assert {image["RootDeviceName"] for image in found} == {"/dev/xvda"}
    assert {image["Architecture"] for image in found} == {"x86_64"}
    subnet = paper_cloud.subnet(ec2)
    instance = paper_cloud.run(ec2, subnet, ImageId=newer)
    paper_cloud.settle(instance)
    assert paper_cloud.state(ec2, instance) == "running"


def test_each_call_is_a_line_of_the_log_with_its_error(paper_cloud: Cloud) -> None:
    ec2 = paper_cloud.client("ec2")
    paper_cloud.log.clear()
    ec2.describe_vpcs()
    with pytest.raises(ClientError):
        ec2.delete_vpc(VpcId="vpc-0123456789abcdef0")
    assert paper_cloud.log == ["ec2:DescribeVpcs 200", "ec2:DeleteVpc 400 InvalidVpcID.NotFound"]
