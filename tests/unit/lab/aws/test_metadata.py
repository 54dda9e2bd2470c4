import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuprov.lab.aws import metadata
from gpuprov.lab.aws.metadata import Tokens, admitted, lifetime
from gpuprov.lab.aws.metadata_file import (
    Credentials,
    InstanceMetadata,
    find_metadata,
    remove_metadata,
    write_metadata,
)
from gpuprov.lab.names import LabNames
from gpuprov.lab.seed import draw

LAB = draw(3, nodes=1)
NAMES = LabNames(LAB.id)
HERE = InstanceMetadata(
    instance_id="i-1",
    vpc_id="vpc-1",
    ami_id="ami-1",
    instance_type="g6.xlarge",
    account="111122223333",
    region="eu-west-3",
    zone="eu-west-3a",
    hostname="ip-127-0-0-1.ec2.internal",
    private_address="127.0.0.1",
    mac="02:00:00:00:00:01",
    user_data=b"\x00\xff",
)
SECONDS = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("gpuprov.lab.names.ROOT", tmp_path)
    return tmp_path


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A service on loopback, which takes this test for the instance at 127.0.0.1."""
    monkeypatch.setattr(metadata, "is_starting", lambda _names, _instance: False)
    with metadata.serve(NAMES, "vpc-1", ("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def ask(url: str, *, method: str = "GET", headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    request = urllib.request.Request(url, method=method, headers=headers or {})  # noqa: S310 (loopback)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 (loopback)
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_what_is_written_can_be_read_back_by_address_in_its_vpc() -> None:
    keys = Credentials(access_key_id="a", secret_access_key="s", token="t", last_updated="1", expiration="2")
    whole = replace(HERE, credentials=keys, tags={"a": "b"}, security_groups=("x",), security_group_ids=("sg-1",))
    write_metadata(LAB, HERE)
    write_metadata(LAB, whole)
    assert find_metadata(NAMES, "vpc-1", "127.0.0.1") == whole
    assert find_metadata(NAMES, "vpc-2", "127.0.0.1") is None
    assert find_metadata(NAMES, "vpc-1", "127.0.0.2") is None
    (place,) = NAMES.vpc_folder("vpc-1").rglob("i-1.json")
    assert place.stat().st_mode & 0o777 == 0o600
    remove_metadata(LAB, whole)
    remove_metadata(LAB, whole)
    assert find_metadata(NAMES, "vpc-1", "127.0.0.1") is None


def test_a_token_is_good_for_one_instance_and_for_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(metadata.time, "monotonic", lambda: now[0])
    tokens = Tokens()
    token = tokens.give("i-1", 60)
    assert token != tokens.give("i-1", 60)
    assert tokens.good("i-1", token)
    assert not tokens.good("i-2", token)
    assert not tokens.good("i-1", "another")
    now[0] += 61
    assert not tokens.good("i-1", token)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1", 1), ("21600", 21600), ("0", None), ("21601", None), ("-5", None), ("x", None), ("", None), (None, None)],
)
def test_a_token_lives_up_to_six_hours(text: str | None, seconds: int | None) -> None:
    assert lifetime(text) == seconds


@pytest.mark.parametrize(
    ("token", "good", "starting", "required", "expected"),
    [
        ("t", True, False, True, True),
        ("t", False, False, True, False),
        ("t", False, True, True, False),
        ("t", False, False, False, False),
        (None, False, False, True, False),
        (None, False, False, False, True),
        (None, False, True, True, True),
    ],
)
def test_who_is_answered(*, token: str | None, good: bool, starting: bool, required: bool, expected: bool) -> None:
    instance = replace(HERE, tokens_required=required)
    assert admitted(instance, token=token, good=good, starting=starting) is expected


def test_a_token_opens_the_metadata(service: str) -> None:
    write_metadata(LAB, HERE)
    status, token = ask(f"{service}/latest/api/token", method="PUT", headers=SECONDS)
    assert status == 200
    carried = {"X-aws-ec2-metadata-token": token.decode()}
    assert ask(f"{service}/latest/meta-data/instance-id", headers=carried) == (200, b"i-1")
    assert ask(f"{service}/latest/user-data", headers=carried) == (200, b"\x00\xff")
    assert ask(f"{service}/latest/meta-data/public-ipv4", headers=carried)[0] == 404
    assert ask(f"{service}/latest/meta-data/instance-id") == (401, b"")
    assert ask(f"{service}/latest/meta-data/instance-id", headers={"X-aws-ec2-metadata-token": "x"})[0] == 401


def test_what_ec2_refuses_is_refused(service: str) -> None:
    write_metadata(LAB, HERE)
    assert ask(f"{service}/latest/api/token", method="PUT")[0] == 400
    assert ask(f"{service}/latest/other", method="PUT", headers=SECONDS)[0] == 404
    forwarded = {**SECONDS, "X-Forwarded-For": "10.0.0.1"}
    assert ask(f"{service}/latest/api/token", method="PUT", headers=forwarded)[0] == 403
    write_metadata(LAB, replace(HERE, enabled=False))
    assert ask(f"{service}/latest/api/token", method="PUT", headers=SECONDS)[0] == 403


def test_who_is_no_instance_of_the_vpc_gets_nothing(service: str) -> None:
    write_metadata(LAB, replace(HERE, private_address="127.0.0.9"))
    assert ask(f"{service}/latest/api/token", method="PUT", headers=SECONDS)[0] == 404
    assert ask(f"{service}/latest/meta-data/")[0] == 404


def test_an_instance_is_starting_while_it_runs_and_cloud_init_has_not_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    leader: list[int | None] = [None]
    monkeypatch.setattr(metadata, "leader_of", lambda _names, _name: leader[0])
    real = metadata.Path
    monkeypatch.setattr(metadata, "Path", lambda text: tmp_path / real(text).relative_to("/"))
    assert not metadata.is_starting(NAMES, "i-1")
    leader[0] = 7
    assert metadata.is_starting(NAMES, "i-1")
    done = tmp_path / "proc/7/root/run/cloud-init/result.json"
    done.parent.mkdir(parents=True)
    done.touch()
    assert not metadata.is_starting(NAMES, "i-1")
