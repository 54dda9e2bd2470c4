"""Resources of an account become a stack's: the real engine and the strict plugin on moto, without nodes."""

import threading

import pytest
from cloud_builders import cloud_document, cloud_spec

from gpuprov.app.cloud_records import tags_in
from gpuprov.cloud.decide.foreign import with_foreign_tags
from gpuprov.cloud.decide.standing import Standing, StandingBucket
from gpuprov.cloud.importing import Import, Importing
from gpuprov.model.resource import ResourceAction
from tests.e2e.test_stack import Ground, ground, silent

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.timeout(420)]
__all__ = ["ground"]


def tags(ground: Ground, vpc: str) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in ground.ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0].get("Tags", ())}


def test_a_network_and_a_bucket_are_taken_in_as_they_are_and_the_next_update_makes_the_rest(ground: Ground) -> None:
    ground.s3.create_bucket(Bucket="theirs")
    ground.s3.put_object(Bucket="theirs", Key="raw/one", Body=b"data")
    vpc = ground.ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    ground.ec2.create_tags(Resources=[vpc], Tags=[{"Key": "team", "Value": "ml"}])
    gateway = ground.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ground.ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    given = Standing(buckets={"datasets": StandingBucket(bucket="theirs", tags={})})
    document = cloud_document(cloud_spec(), standing=given, images={"train": ground.images[0]})
    wanted = (
        Import(address="bucket.datasets", type="aws:s3/bucket:Bucket", id="theirs"),
        Import(address="gateway.main", type="aws:ec2/internetGateway:InternetGateway", id=gateway),
        Import(address="vpc.main", type="aws:ec2/vpc:Vpc", id=vpc, tags={"team": "ml"}),
    )
    importing = Importing(ground.stack._place, ground.stack._engine)

    planned = importing.preview(document, wanted, silent)
    assert {change.address for change in planned} == {one.address for one in wanted}
    assert all(change.action is ResourceAction.CREATE for change in planned)
    assert any("enableDnsHostnames: false -> true" in change.changes for change in planned)
    assert not ground.stack.state().exists, "a preview writes nothing"
    assert tags(ground, vpc) == {"team": "ml"}

    importing.apply(document, wanted, silent, threading.Event())
    state = ground.stack.state()
    assert {address: row.id for address, row in state.resources.items()} == {one.address: one.id for one in wanted}
    rest = with_foreign_tags({**document, "instances": [], "volumes": []}, lambda address: tags_in(state, address))
    made, _ = ground.make(rest)
    assert not set(made) & {one.address for one in wanted}, "what was taken in needs no change any more"
    assert {made["subnet.us-east-1a"], made["bucket_policy.datasets"]} == {"create"}
    assert tags(ground, vpc)["team"] == "ml", "other people's tags stay"
    vpcs = ground.ec2.describe_vpcs(Filters=[{"Name": "tag:gpuprov:spec", "Values": ["train"]}])["Vpcs"]
    assert [row["VpcId"] for row in vpcs] == [vpc]
    ground.s3.delete_bucket_policy(Bucket="theirs")  # it lets nobody in who comes without TLS, as this test does
    assert ground.s3.get_object(Bucket="theirs", Key="raw/one")["Body"].read() == b"data"
