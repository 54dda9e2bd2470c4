"""What a cut run left and only tags tell of is taken into the state, shown as going, and goes; data only when named."""

import pytest

from gpuprov.cloud.judgement import judge
from gpuprov.cloud.orphans import tagged
from gpuprov.model.progress import ignore_progress
from gpuprov.model.resource import ResourceAction
from tests.e2e.matrix_cloud.trial import Trial

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_orphans_are_taken_in_and_go_with_the_next_run(trial: Trial) -> None:
    assert trial.stack().apply(trial.asked, report=ignore_progress).diagnostics == ()
    clean = trial.listing()
    ec2 = trial.cloud.client("ec2")

    def tags(kind: str, key: str) -> list[dict[str, object]]:
        given = [{"Key": "gpuprov:spec", "Value": "train"}, {"Key": "gpuprov:id", "Value": f"train/{key}"}]
        return [{"ResourceType": kind, "Tags": given}]

    vpc = ec2.create_vpc(CidrBlock="10.99.0.0/16", TagSpecifications=tags("vpc", "vpc/old"))["Vpc"]["VpcId"]
    volume = ec2.create_volume(
        AvailabilityZone="us-east-1a", Size=1, TagSpecifications=tags("volume", "volume/scratch/gone")
    )["VolumeId"]

    stack = trial.stack()
    found = stack.orphans(tagged(trial.cloud.client, "train"))
    assert {one.address: one.id for one in found} == {"vpc.old": vpc, "volume.scratch/gone": volume}
    assert stack.take_in(found, ignore_progress)
    assert stack.orphans(tagged(trial.cloud.client, "train")) == ()

    stack = trial.stack()
    plan = stack.preview(trial.asked, report=ignore_progress)
    assert {change.address: change.action for change in plan.changes} == dict.fromkeys(
        ("vpc.old", "volume.scratch/gone"), ResourceAction.DELETE
    )
    assert [d.address for d in judge(plan, named=())] == ["volume.scratch/gone"]
    assert stack.apply(trial.asked, report=ignore_progress).diagnostics == ()
    assert trial.listing() == clean
