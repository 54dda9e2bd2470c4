"""`gpuprov policy` at the command line: nothing is asked of AWS."""

import json
from pathlib import Path
from typing import Any

import pytest

from gpuprov.cli.main import main

SPEC = """
apiVersion: gpuprov/v1
name: site
os: debian-12
stack: {driver: {version: "580.*"}}
pools:
  train:
    gpu: {model: H100-SXM5-80GB, per_host: 8}
    cloud: {instance: p5.48xlarge, hosts: [train-a, train-b]}
  web:
    gpu: none
    cloud: {instance: m7i.large, hosts: [web-a], role: web-hosts}
  rack:
    gpu: none
    onprem: {group: rack}
access: {groups: {ml: {members: [{name: ana}], read: [datasets]}}}
storage:
  datasets: {kind: object, prefixes: [raw/]}
  secret: {kind: object, pools: [train]}
  scratch: {kind: volume, size: 500GiB}
targets:
  onprem: {inventory: site.yml}
  cloud:
    account: "111122223333"
    region: us-east-1
    permissions_boundary: arn:aws:iam::111122223333:policy/team
    network: {cidr: 10.20.0.0/16, ranges: {office: [203.0.113.0/24]}, ssh_from: [office]}
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "gpuprov.yaml"
    path.write_text(SPEC)
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, dict[str, Any]], str]:
    """The statements by their names, and what was told beside them."""
    assert main(["policy", *arguments]) == 0
    out, err = capsys.readouterr()
    policy = json.loads(out)
    assert policy["Version"] == "2012-10-17"
    return {each.get("Sid", str(index)): each for index, each in enumerate(policy["Statement"])}, err


def test_the_operators_policy_is_about_this_spec(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, told = printed(capsys, "operator", "-f", spec)
    assert found["LaunchHosts"]["Condition"]["StringEquals"] == {
        "aws:RequestTag/gpuprov:spec": "site",
        "ec2:InstanceType": ["m7i.large", "p5.48xlarge"],
    }
    names = [arn.rpartition("/")[2] for arn in found["MakeRoles"]["Resource"]]
    # The role of all pools is nobody's here: one pool has its own, the other one of the account.
    assert [name.startswith("gpuprov-site-us-east-1-train-") for name in names] == [True]
    assert found["LookAtNamedRoles"]["Resource"] == ["arn:aws:iam::111122223333:role/web-hosts"]
    assert "DeleteData" not in found
    assert "GP-CLOUD-044" in told


def test_only_what_some_commands_need(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = printed(capsys, "operator", "-f", spec, "--for", "destroy", "--delete-data")
    assert "Make" not in found
    assert found["DeleteData"]["Resource"] == [
        "arn:aws:s3:::site-datasets-111122223333-us-east-1/*",
        "arn:aws:s3:::site-secret-111122223333-us-east-1/*",
    ]


def test_a_policy_that_is_too_long_says_so_and_comes_in_parts(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    whole, told = printed(capsys, "operator", "-f", spec)
    assert "GP-CLOUD-043" in told
    first, _ = printed(capsys, "operator", "-f", spec, "--part", "1")
    second, _ = printed(capsys, "operator", "-f", spec, "--part", "2")
    assert [*first, *second] == [*whole]
    assert main(["policy", "operator", "-f", spec, "--part", "9"]) == 6
    assert "GP-CLOUD-045" in capsys.readouterr().err


def test_a_bucket_that_was_taken_in_keeps_its_name(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = printed(capsys, "operator", "-f", spec, "--for", "import", "--bucket", "datasets=team-data")
    assert found["KeepBuckets"] == {
        "Sid": "KeepBuckets",
        "Effect": "Allow",
        "Action": ["s3:PutBucketTagging"],
        "Resource": ["arn:aws:s3:::site-secret-111122223333-us-east-1", "arn:aws:s3:::team-data"],
    }


def test_what_hosts_of_a_pool_may_do(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = printed(capsys, "hosts", "web", "-f", spec)
    assert {action for each in found.values() for action in each["Action"]} == {"s3:ListBucket", "s3:GetObject"}
    assert {arn for each in found.values() for arn in each["Resource"]} == {
        "arn:aws:s3:::site-datasets-111122223333-us-east-1",
        "arn:aws:s3:::site-datasets-111122223333-us-east-1/raw/*",
    }
    found, _ = printed(capsys, "hosts", "train", "-f", spec)
    assert "s3:PutObject" in {action for each in found.values() for action in each["Action"]}


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["operator", "--for", "up,fly"], 2, "fly is none of preview, up, stop, destroy, image, import, lock"),
        (["operator", "--for", ","], 2, "nothing is none of"),
        (["operator", "--bucket", "datasets"], 2, "datasets is not STORAGE=NAME"),
        (["operator", "--bucket", "scratch=b"], 6, "buckets of the spec: datasets, secret"),
        (["hosts", "nobody"], 6, "nobody"),
        (["hosts", "rack"], 6, "GP-SPEC-008"),
    ],
)
def test_what_cannot_be_asked(
    arguments: list[str], status: int, words: str, spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", *arguments, "-f", spec]) == status
    assert words in capsys.readouterr().err
