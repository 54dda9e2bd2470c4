"""An AWS account in memory: moto's server in this process, on the loopback."""

import http.client
import logging
import os
from collections.abc import Iterator
from typing import Any

import pytest

from gpuprov.cloud.account import Account, open_account
from gpuprov.spec.cloud import CloudNetworkSpec, CloudSpec

NUMBER = "123456789012"
REGION = "us-east-1"


@pytest.fixture(scope="session")
def moto_address() -> Iterator[str]:
    """A running server; its memory is emptied before each test that uses `aws`."""
    os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - it reads the variable when it is imported

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def opened(moto_address: str) -> Account:
    """The account, opened once: boto3 takes a second to read its descriptions of EC2."""
    with pytest.MonkeyPatch.context() as patch:
        _point_to(moto_address, patch)
        account = open_account(make_cloud(), os.environ)
        for service in ("ec2", "iam", "s3", "sts"):
            account._client(service)
    return account


@pytest.fixture
def aws(moto_address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty account, and an environment that leads there; returns its address."""
    place = http.client.HTTPConnection(moto_address.removeprefix("http://"), timeout=10)
    place.request("POST", "/moto-api/reset")
    assert place.getresponse().status == 200
    place.close()
    _point_to(moto_address, monkeypatch)
    _tag_snapshots(monkeypatch)
    from gpuprov.lab.aws.hooks import install  # noqa: PLC0415 - as above
    from gpuprov.lab.aws.placement import placement_additions  # noqa: PLC0415 - as above

    take_off = install((), (), placement_additions())  # moto 5.2.5 has no placement groups
    yield moto_address
    take_off()


@pytest.fixture
def account(aws: str, opened: Account) -> Account:
    """The account, empty."""
    del aws
    return opened


@pytest.fixture
def ec2(account: Account) -> Any:
    """A client of the same account, to set scenes and look behind."""
    return account._client("ec2")


@pytest.fixture
def s3(account: Account) -> Any:
    """The same for S3."""
    return account._client("s3")


@pytest.fixture
def iam(account: Account) -> Any:
    """The same for IAM."""
    return account._client("iam")


def make_cloud(**values: Any) -> CloudSpec:
    """A cloud target; values take the place of the usual ones."""
    network = CloudNetworkSpec(cidr="10.7.0.0/16", ranges={}, ssh_from=())
    return CloudSpec(**{"account": NUMBER, "region": REGION, "network": network, **values})


@pytest.fixture
def cloud() -> Any:
    """`make_cloud`, for tests that open accounts themselves."""
    return make_cloud


@pytest.fixture
def image_id(ec2: Any) -> str:
    """An image to start instances from."""
    answer = ec2.register_image(Name="some", Architecture="x86_64", RootDeviceName="/dev/xvda")
    return str(answer["ImageId"])


def _point_to(address: str, patch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        patch.setenv(name, value)


def _tag_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    """EC2 tags the snapshots of a new image when it is asked; moto 5.2.5 raises NotImplementedError."""
    from moto.ec2.models.amis import AmiBackend  # noqa: PLC0415 - after the server, which sets its variables

    original = AmiBackend.create_image

    def create_image(backend: Any, instance_id: str, name: str, description: str, tag_specifications: Any) -> Any:
        image = original(
            backend, instance_id, name, description, [t for t in tag_specifications if t["ResourceType"] == "image"]
        )
        for specification in tag_specifications:
            if specification["ResourceType"] == "snapshot":
                image.ebs_snapshot.add_tags({tag["Key"]: tag["Value"] for tag in specification["Tags"]})
        return image

    monkeypatch.setattr(AmiBackend, "create_image", create_image)
