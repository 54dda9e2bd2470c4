"""What of a stack is paid beside its instances: the same counts of a document and of the stack that was made of it."""

import re
from pathlib import Path
from typing import Any

import pytest
from cloud_builders import REGION, cloud_document, cloud_network, cloud_spec

from gpuprov.cloud.decide.paid import _FREE, paid_in_document, paid_in_state
from gpuprov.cloud.decide.surroundings import FoundService, Surroundings
from gpuprov.spec.storage import StorageSpec

STACKS = Path(__file__).parents[4] / "stacks" / "aws"
PRICED = {"instance", "volume", "bucket", "share", "nat_gateway", "elastic_ip", "endpoint"}
BOTH = {"scratch": StorageSpec(kind="volume", size="500GiB"), "datasets": StorageSpec(kind="object")}
ECR = Surroundings(services={"ecr.api": FoundService(name=f"com.amazonaws.{REGION}.ecr.api", zones=(f"{REGION}a",))})


def document(storage: dict[str, StorageSpec] | None = None, around: Surroundings | None = None, **network: Any) -> Any:
    spec = cloud_spec(storage=storage or {}, network=cloud_network(**network))
    return cloud_document(spec, **({"around": around} if around else {}))


def test_what_a_document_would_make_is_counted() -> None:
    root = document()["instances"][0]["root_gib"]
    assert paid_in_document(document(public=False), off=()) == {
        "nat-gateway": 1, "public-ipv4": 1, "gp3-storage": 2 * root,
    }  # fmt: skip
    assert paid_in_document(document(BOTH, public=True), off=["train-a"]) == {
        "public-ipv4": 1, "gp3-storage": 2 * root + 1000, "bucket": 1,
    }  # fmt: skip
    closed = document(around=ECR, public=False, egress="endpoints", endpoints=("ecr.api",))
    assert paid_in_document(closed, off=()) == {"interface-endpoint": 1, "gp3-storage": 2 * root}
    shared = document({"data": StorageSpec(kind="shared")})
    assert paid_in_document(shared, off=())["efs-storage"] == 1
    fast = document(BOTH)
    fast["volumes"][0] |= {"iops": 4000, "throughput": 250}
    found = paid_in_document(fast, off=())
    assert (found["gp3-iops"], found["gp3-throughput"]) == (1000, 125)


def test_no_host_has_no_network_to_pay_for() -> None:
    assert paid_in_document({**document(), "network": None, "instances": []}, off=()) == {}


STATE: dict[str, dict[str, object]] = {
    "vpc.main": {"cidrBlock": "10.0.0.0/16"},
    "nat_gateway.us-east-1a": {},
    "elastic_ip.us-east-1a": {},
    "endpoint.s3": {"vpcEndpointType": "Gateway", "routeTableIds": ["rtb-1"]},
    "endpoint.ecr.api": {"vpcEndpointType": "Interface", "subnetIds": ["subnet-1", "subnet-2"]},
    "instance.train-a": {"rootBlockDevice": {"volumeSize": 100.0}},
    "volume.scratch/train-a": {"size": 500.0, "iops": 3500.0, "throughput": 125.0},
    "bucket.datasets": {},
    "bucket_policy.datasets": {},
    "share.data": {},
}


def test_what_stands_is_counted_and_nothing_unknown_is_passed_over() -> None:
    assert paid_in_state(STATE, addressed=["train-a"]) == {
        "public-ipv4": 2, "nat-gateway": 1, "interface-endpoint": 2, "gp3-storage": 600, "gp3-iops": 500,
        "bucket": 1, "efs-storage": 1,
    }  # fmt: skip
    assert paid_in_state({"lustre.fast": {}}, addressed=()) == {"lustre": 1}


@pytest.mark.parametrize("path", sorted(STACKS.glob("*.py")), ids=lambda path: path.name)
def test_every_kind_of_the_stack_is_known_to_cost_something_or_nothing(path: Path) -> None:
    made = re.findall(r'^\s*f?"([a-z_]+)\.[^"\s]*",$|\(f?"([a-z_]+)\.[^"\s]*"[,)]', path.read_text(), re.MULTILINE)
    kinds = {name for pair in made for name in pair if name}
    assert kinds <= PRICED | _FREE
