import json
from dataclasses import replace

import pytest

from gpuprov.lab.aws.metadata_file import Credentials, InstanceMetadata
from gpuprov.lab.aws.metadata_tree import VERSIONS, Tree, answer, listing, metadata_tree

PLAIN = InstanceMetadata(
    instance_id="i-1",
    vpc_id="vpc-1",
    ami_id="ami-1",
    instance_type="g6.12xlarge",
    account="111122223333",
    region="eu-west-3",
    zone="eu-west-3a",
    hostname="ip-10-0-0-5.eu-west-3.compute.internal",
    private_address="10.0.0.5",
    mac="02:00:00:00:00:01",
)
KEYS = Credentials(
    access_key_id="ASIA1",
    secret_access_key="secret",
    token="token",
    last_updated="2026-11-30T00:00:00Z",
    expiration="2026-11-30T06:00:00Z",
)
FULL = replace(
    PLAIN,
    public_address="198.18.3.40",
    public_hostname="ec2-198-18-3-40.compute.amazonaws.com",
    user_data=b"#cloud-config\n\xff",
    profile_arn="arn:aws:iam::111122223333:instance-profile/hosts",
    role="hosts",
    credentials=KEYS,
    security_groups=("web", "ssh"),
    tags={"Name": "train-a"},
    public_key="ssh-ed25519 AAAA ana",
    reservation_id="r-1",
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/latest/meta-data/instance-id", "i-1"),
        ("/2009-04-04/meta-data/instance-id", "i-1"),
        ("/2021-03-23/meta-data/local-ipv4", "10.0.0.5"),
        ("/latest/meta-data/placement/availability-zone", "eu-west-3a"),
        ("/latest/meta-data/placement/region", "eu-west-3"),
        ("/latest/meta-data/security-groups", "web\nssh"),
        ("/latest/meta-data/public-ipv4", "198.18.3.40"),
        ("/latest/meta-data/network/interfaces/macs/", "02:00:00:00:00:01/"),
        ("/latest/meta-data/network/interfaces/macs/02:00:00:00:00:01/public-ipv4s", "198.18.3.40"),
        ("/latest/meta-data/public-keys/", "0=key"),
        ("/latest/meta-data/public-keys/0/openssh-key", "ssh-ed25519 AAAA ana"),
        ("/latest/meta-data/iam/security-credentials/", "hosts"),
        ("/latest/meta-data/tags/instance/Name", "train-a"),
        ("/latest/user-data", b"#cloud-config\n\xff"),
        ("/latest/", "dynamic/\nmeta-data/\nuser-data"),
        ("/latest", "dynamic/\nmeta-data/\nuser-data"),
        ("/", "\n".join(VERSIONS)),
        ("/1999-01-01/meta-data/instance-id", None),
        ("/latest/meta-data/nothing", None),
        ("/latest/meta-data/instance-id/more", None),
        ("/latest/user-data/more", None),
    ],
)
def test_what_stands_at_a_path(path: str, expected: str | bytes | None) -> None:
    assert answer(FULL, path) == expected


@pytest.mark.parametrize(
    "path", ["user-data", "meta-data/public-ipv4", "meta-data/public-keys/", "meta-data/iam/", "meta-data/tags/"]
)
def test_what_an_instance_has_not_is_not_there_and_not_listed(path: str) -> None:
    assert answer(PLAIN, f"/latest/{path}") is None
    *folders, name = [part for part in path.split("/") if part]
    shown = answer(PLAIN, "/".join(["/latest", *folders]) + "/")
    assert isinstance(shown, str)
    assert name not in [line.rstrip("/") for line in shown.splitlines()]


def walk(tree: Tree, path: str) -> list[str]:
    return [
        found
        for name, what in tree.items()
        for found in ([f"{path}{name}"] if isinstance(what, str) else walk(what, f"{path}{name}/"))
    ]


@pytest.mark.parametrize("metadata", [PLAIN, FULL], ids=["plain", "full"])
def test_everything_that_is_listed_is_there(metadata: InstanceMetadata) -> None:
    """A folder that is listed and missing costs cloud-init five seconds of retries."""
    leaves = walk(metadata_tree(metadata), "/latest/meta-data/")
    assert len(leaves) > 20
    assert all(isinstance(answer(metadata, leaf), str) for leaf in leaves)


def test_credentials_and_identity_are_the_documents_that_the_sdks_read() -> None:
    told = answer(FULL, "/latest/meta-data/iam/security-credentials/hosts")
    assert isinstance(told, str)
    keys = json.loads(told)
    assert (keys["Code"], keys["AccessKeyId"], keys["Token"]) == ("Success", "ASIA1", "token")
    assert keys["Expiration"] == "2026-11-30T06:00:00Z"
    told = answer(FULL, "/latest/dynamic/instance-identity/document")
    assert isinstance(told, str)
    identity = json.loads(told)
    assert (identity["accountId"], identity["instanceId"], identity["region"]) == ("111122223333", "i-1", "eu-west-3")


def test_a_folder_has_a_slash_and_a_leaf_has_none() -> None:
    assert listing({"b": "", "a": {"c": ""}}) == "a/\nb"
