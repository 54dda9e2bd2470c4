import pytest

from gpuprov.cloud.judgement import judge, names_of
from gpuprov.cloud.state import BUCKET, INSTANCE, SHARE, VOLUME
from gpuprov.model.resource import ResourceAction, ResourceChange, ResourcePlan

VPC = "aws:ec2/vpc:Vpc"
CASES = (
    ("instance.train-a", INSTANCE, ResourceAction.DELETE, (), True),
    ("instance.train-a", INSTANCE, ResourceAction.REPLACE, (), True),
    ("instance.train-a", INSTANCE, ResourceAction.REPLACE, ("train-b",), True),
    ("instance.train-a", INSTANCE, ResourceAction.REPLACE, ("train-a",), False),
    ("instance.train-a", INSTANCE, ResourceAction.UPDATE, (), False),
    ("instance.train-a", INSTANCE, ResourceAction.CREATE, (), False),
    ("volume.scratch/train-a", VOLUME, ResourceAction.DELETE, (), True),
    ("volume.scratch/train-a", VOLUME, ResourceAction.DELETE, ("train-a",), True),
    ("volume.scratch/train-a", VOLUME, ResourceAction.DELETE, ("scratch",), False),
    ("volume.scratch/train-a", VOLUME, ResourceAction.DELETE, ("scratch/train-a",), False),
    ("bucket.datasets", BUCKET, ResourceAction.DELETE, (), True),
    ("bucket.datasets", BUCKET, ResourceAction.DELETE, ("datasets",), False),
    ("bucket.datasets", BUCKET, ResourceAction.REPLACE, ("datasets",), True),
    ("share.data", SHARE, ResourceAction.DELETE, (), True),
    ("share.data", SHARE, ResourceAction.DELETE, ("data",), False),
    ("share.data", SHARE, ResourceAction.REPLACE, ("data",), True),
    ("vpc.main", VPC, ResourceAction.DELETE, (), False),
    ("vpc.main", VPC, ResourceAction.REPLACE, (), False),
)


@pytest.mark.parametrize(("address", "kind", "action", "named", "refused"), CASES)
def test_what_holds_data_goes_only_by_its_name(
    address: str, kind: str, action: ResourceAction, named: tuple[str, ...], *, refused: bool
) -> None:
    change = ResourceChange(address=address, type=kind, action=action, urn="urn", reasons=("availabilityZone",))
    found = judge(ResourcePlan(changes=(change,)), named=named)
    assert [one.code for one in found] == ["GP-CLOUD-014"] * refused
    if refused:
        assert found[0].address == address
        assert "availabilityZone" in found[0].summary
        assert address.partition(".")[2] in found[0].hint


def test_a_host_name_with_dots_is_a_name() -> None:
    assert names_of("instance.gpu1.example.org") == {"gpu1.example.org"}
