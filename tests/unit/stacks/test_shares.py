"""Shared storage in the stack program: what is made, in which order, and what it is called for ever."""

from collections.abc import Callable
from typing import Any

import pytest
from cloud_builders import cloud_document, cloud_spec

from gpuprov.cloud.decide.document import data_document
from gpuprov.cloud.decide.natural_keys import recovery_key
from gpuprov.spec.storage import StorageSpec

pytestmark = pytest.mark.slow  # loads AWS's classes: not for `make quick`

DOCUMENT = cloud_document(cloud_spec(storage={"data": StorageSpec(kind="shared", mount="/data")}))


def test_a_share_is_encrypted_and_reached_by_the_hosts_alone(run: Callable[[Any], Any]) -> None:
    outcome = run(DOCUMENT)
    found = outcome.resources
    assert found["share.data"].inputs["encrypted"] is True
    assert found["share.data"].inputs["tags"]["gpuprov:id"] == "train/share/data"
    rule = found["ingress.shares"].inputs
    assert (rule["ipProtocol"], rule["fromPort"], rule["toPort"]) == ("tcp", 2049, 2049)
    assert rule["referencedSecurityGroupId"] == "id:security_group.main"
    assert "cidrIpv4" not in rule
    target = found["mount_target.data/us-east-1a"]
    assert target.inputs["securityGroups"] == ["id:security_group.shares"]
    assert recovery_key(target.type, target.inputs) == "id:share.data/id:subnet.us-east-1a"
    assert set(outcome.outputs["shares"]) == {"data"}


def test_hosts_come_after_their_share_and_go_before_it(run: Callable[[Any], Any]) -> None:
    found = run(DOCUMENT).resources
    assert "mount_target.data/us-east-1a" in found["instance.train-a"].after


def test_the_share_alone_is_left_when_the_hosts_go(run: Callable[[Any], Any]) -> None:
    names = set(run(data_document(DOCUMENT, delete=())).resources)
    assert names == {"share.data"}


def test_names_are_for_life(run: Callable[[Any], Any]) -> None:
    urns = {resource.urn for resource in run(DOCUMENT).resources.values()}
    stack = "urn:pulumi:train::gpuprov-aws::aws:"
    assert {
        f"{stack}efs/fileSystem:FileSystem::share.data",
        f"{stack}efs/mountTarget:MountTarget::mount_target.data/us-east-1a",
        f"{stack}ec2/securityGroup:SecurityGroup::security_group.shares",
        f"{stack}vpc/securityGroupIngressRule:SecurityGroupIngressRule::ingress.shares",
    } <= urns
