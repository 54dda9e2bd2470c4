"""Trust in instances that were there already: a console, a fingerprint, or none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuprov.cloud.ssh_keys import find_key
from gpuprov.cloud.types import MadeHost
from gpuprov.provision.existing import trust_existing
from gpuprov.provision.host_keys import KNOWN_HOSTS, read_record
from gpuprov.transport.known_hosts import fingerprint

TEXT = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
SHOWN = f"-----BEGIN SSH HOST KEY KEYS-----\n{TEXT} root@a\n-----END SSH HOST KEY KEYS-----\n"
KEY = find_key(TEXT)
assert KEY is not None
HOST = MadeHost(
    name="a",
    pool="train",
    instance_id="i-1",
    type="p5.48xlarge",
    image="ami-1",
    zone="us-east-1a",
    private_address="10.0.0.1",
    public_address="198.18.0.1",
)


class Account:
    """An account with one console."""

    def __init__(self, console: str = "") -> None:
        self.text = console
        self.asked = 0

    def console(self, instance_id: str) -> str:
        assert instance_id == "i-1"
        self.asked += 1
        return self.text


def shows(address: str, *, seconds: float) -> Iterator[tuple[str, bytes]]:
    assert KEY is not None
    assert (address, seconds > 0) == ("198.18.0.1", True)
    yield "ecdsa-sha2-nistp256", b"another"
    yield KEY.type, KEY.blob


def silent(address: str, *, seconds: float) -> Iterator[tuple[str, bytes]]:
    del seconds
    raise OSError(f"no way to {address}")
    yield


def nobody(address: str, *, seconds: float) -> Iterator[tuple[str, bytes]]:
    raise AssertionError(f"{address} was asked for {seconds} s, and the spec gives no fingerprint")
    yield


def test_a_console_that_shows_a_key_is_enough_and_is_asked_once(tmp_path: Path) -> None:
    account = Account(SHOWN)
    for _ in range(2):
        assert trust_existing(account, [HOST], {}, folder=tmp_path, offered=nobody) == {}
    assert account.asked == 1
    assert f"198.18.0.1 {TEXT}" in (tmp_path / KNOWN_HOSTS).read_text()


def test_without_a_key_on_the_console_nobody_is_believed(tmp_path: Path) -> None:
    told = trust_existing(Account(), [HOST], {}, folder=tmp_path, offered=nobody)["a"]
    assert told.code == "GP-CLOUD-017"
    assert "pools.train.cloud.existing.fingerprints" in told.hint
    assert read_record(tmp_path) == {}


def test_a_fingerprint_vouches_for_the_key_that_the_host_shows(tmp_path: Path) -> None:
    assert KEY is not None
    account = Account()
    given = {"i-1": fingerprint(KEY.blob), "i-2": "SHA256:of-another"}
    assert trust_existing(account, [HOST], given, folder=tmp_path, offered=shows) == {}
    assert read_record(tmp_path)["i-1"].keys == (KEY,)
    assert account.asked == 0


@pytest.mark.parametrize("console", ["", SHOWN])
def test_another_key_than_the_fingerprints_is_refused_whatever_the_console_says(tmp_path: Path, console: str) -> None:
    given = {"i-1": "SHA256:" + "A" * 43}
    told = trust_existing(Account(console), [HOST], given, folder=tmp_path, offered=shows)["a"]
    assert told.code == "GP-CLOUD-017"
    assert given["i-1"] in told.detail
    assert fingerprint(b"another") in told.detail
    assert read_record(tmp_path) == {}


def test_a_host_that_does_not_answer(tmp_path: Path) -> None:
    told = trust_existing(Account(), [HOST], {"i-1": "SHA256:x"}, folder=tmp_path, offered=silent)["a"]
    assert (told.code, "no way to 198.18.0.1" in told.summary) == ("GP-CLOUD-016", True)


def test_a_fingerprint_that_contradicts_the_record_is_refused(tmp_path: Path) -> None:
    assert KEY is not None
    assert trust_existing(Account(SHOWN), [HOST], {}, folder=tmp_path, offered=nobody) == {}
    right, wrong = fingerprint(KEY.blob), "SHA256:" + "A" * 43
    assert trust_existing(Account(), [HOST], {"i-1": right}, folder=tmp_path, offered=nobody) == {}
    told = trust_existing(Account(), [HOST], {"i-1": wrong}, folder=tmp_path, offered=nobody)["a"]
    assert told.code == "GP-CLOUD-017"
    assert f"the spec says {wrong}\non record is ssh-ed25519 {right}" in told.detail
