import base64
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpuprov.cloud.ssh_keys import PublicKey
from gpuprov.cloud.types import MadeHost
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.provision.host_keys import (
    HostKeys,
    accept,
    address_of,
    forget,
    forget_all,
    known_hosts_text,
    locate,
    read_record,
    update_record,
)
from gpuprov.transport.known_hosts import Verdict, fingerprint, judge_key, read_known_hosts


def key(letter: str, kind: str = "ssh-ed25519") -> PublicKey:
    part = letter.encode() * 32
    blob = b"".join(len(p).to_bytes(4, "big") + p for p in (kind.encode(), part))
    return PublicKey(type=kind, blob=blob)


def host(number: int, address: str = "", *, name: str = "train-a") -> MadeHost:
    return MadeHost(
        name=name,
        pool="train",
        instance_id=f"i-{number}",
        type="g6.xlarge",
        image="ami-1",
        zone="us-east-1a",
        private_address=f"10.0.0.{number}",
        public_address=address,
    )


def test_the_public_address_where_there_is_one() -> None:
    assert address_of(host(1, "198.51.100.1")) == "198.51.100.1"
    assert address_of(host(1)) == "10.0.0.1"


def test_what_was_written_is_read_and_transport_trusts_the_key(tmp_path: Path) -> None:
    record = accept({}, host(1, "198.51.100.1"), [key("a")])
    update_record(tmp_path / "cloud", lambda _: record)
    assert read_record(tmp_path / "cloud") == record
    entries = read_known_hosts([str(tmp_path / "cloud" / "known_hosts")])
    assert judge_key(entries, "198.51.100.1", 22, key("a").blob).verdict is Verdict.KNOWN
    assert judge_key(entries, "198.51.100.1", 22, key("b").blob).verdict is Verdict.CHANGED
    assert judge_key(entries, "198.51.100.2", 22, key("a").blob).verdict is Verdict.UNKNOWN


def test_nothing_is_written_when_nothing_changed(tmp_path: Path) -> None:
    record = accept({}, host(1), [key("a")])
    update_record(tmp_path, lambda _: record)
    before = [path.stat().st_ino for path in sorted(tmp_path.iterdir())]
    update_record(tmp_path, lambda _: record)
    assert [path.stat().st_ino for path in sorted(tmp_path.iterdir())] == before


def test_another_key_for_the_same_instance_is_refused_with_both_fingerprints() -> None:
    record = accept({}, host(1), [key("a")])
    with pytest.raises(GpuprovError) as caught:
        accept(record, host(1), [key("b")])
    found = caught.value.diagnostics[0]
    assert (found.code, found.address) == ("GP-CLOUD-017", "train-a")
    assert fingerprint(key("a").blob) in found.detail
    assert fingerprint(key("b").blob) in found.detail


def test_a_key_of_another_type_is_added() -> None:
    record = accept(accept({}, host(1), [key("a")]), host(1), [key("c", "ssh-rsa")])
    assert [k.type for k in record["i-1"].keys] == ["ssh-ed25519", "ssh-rsa"]


def test_a_new_instance_of_the_same_name_and_address_has_a_key_of_its_own() -> None:
    record = accept({}, host(1, "198.51.100.1"), [key("a")])
    record = locate(accept(record, host(2, "198.51.100.1"), [key("b")]), [host(2, "198.51.100.1")])
    assert record["i-1"].address == ""
    assert known_hosts_text(record).count("198.51.100.1") == 1
    assert key("b").text in known_hosts_text(record)


def test_an_instance_that_was_stopped_and_started_keeps_its_key_at_its_new_address() -> None:
    record = locate(accept({}, host(1, "198.51.100.1"), [key("a")]), [host(1, "198.51.100.9")])
    assert record == {"i-1": HostKeys(address="198.51.100.9", keys=(key("a"),))}


def test_forgotten_instances_leave_no_line(tmp_path: Path) -> None:
    update_record(tmp_path, lambda _: accept(accept({}, host(1), [key("a")]), host(2), [key("b")]))
    forget(tmp_path, ["i-1", "i-unknown"])
    assert list(read_record(tmp_path)) == ["i-2"]
    assert base64.b64encode(key("a").blob).decode() not in (tmp_path / "known_hosts").read_text()
    forget_all(tmp_path)
    assert read_record(tmp_path) == {}
    assert list(tmp_path.iterdir()) == []
    forget_all(tmp_path)


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    update_record(tmp_path, lambda _: accept({}, host(1), [key("a")]))
    file = tmp_path / "host_keys.json"
    file.write_text(file.read_text().replace("10.0.0.1", "10.0.0.2"))
    with pytest.raises(GpuprovError) as caught:
        read_record(tmp_path)
    assert caught.value.diagnostics[0].code == "GP-DOC-006"


def test_two_who_change_the_record_at_once_lose_nothing(tmp_path: Path) -> None:
    def take_in(number: int) -> None:
        update_record(tmp_path, lambda record: accept(record, host(number), [key("a")]))

    with ThreadPoolExecutor(max_workers=8) as threads:
        list(threads.map(take_in, range(40)))
    assert set(read_record(tmp_path)) == {f"i-{number}" for number in range(40)}
