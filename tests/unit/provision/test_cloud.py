"""Waiting for instances, with an account that tells a story: one entry of a host's script for each look."""

import threading
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ground_builders import make_site

from gpuprov.cloud.types import InstanceHealth, InstanceState, Made, MadeHost
from gpuprov.converge.ssh_options import ssh_options
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.host import Connection
from gpuprov.model.progress import Progress
from gpuprov.provision import cloud as module
from gpuprov.provision.cloud import cloud_hosts, wait_for_hosts
from gpuprov.provision.host_keys import read_record
from gpuprov.spec.cloud_network import JumpSpec

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOh5hUdkOCZ/lIjVORBzEYo15OGJsBGzzhpoJdr1H+8H"
OTHER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO6aOnZ7dhrEZXlKSTAgZ2fDxkOkdhqpjZpWAlN4+4zu"
SHOWN = f"boot\n-----BEGIN SSH HOST KEY KEYS-----\n{KEY} root@a\n-----END SSH HOST KEY KEYS-----\n"
OK = ("running", "ok")


def made(*names: str) -> Made:
    return Made(
        hosts=tuple(
            MadeHost(
                name=name,
                pool="train",
                instance_id=f"i-{name}",
                type="g6.xlarge",
                image="ami-1",
                zone="us-east-1a",
                private_address=f"10.0.0.{number}",
                public_address=f"198.51.100.{number}",
            )
            for number, name in enumerate(names or ("a",), start=1)
        )
    )


@dataclass
class Story:
    """An account whose hosts go through states; the last one stays."""

    script: dict[str, list[tuple[str, str] | None]] = field(default_factory=dict)
    consoles: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    asked: list[str] = field(default_factory=list)

    def health(self, ids: Collection[str]) -> dict[str, InstanceHealth]:
        found = {}
        for one in ids:
            states = self.script.get(one.removeprefix("i-"), [OK])
            now = states.pop(0) if len(states) > 1 else states[0]
            if now is not None:
                found[one] = InstanceHealth(id=one, state=InstanceState(now[0]), checks=now[1], reason=self.reason)
        return found

    def console(self, instance_id: str) -> str:
        self.asked.append(instance_id)
        return self.consoles.get(instance_id.removeprefix("i-"), SHOWN)


class Clock(threading.Event):
    """Passes by waiting only."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.now += timeout
        return self.is_set()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of the module, with ssh ports that answer as soon as a host runs."""
    clock = Clock()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(module, "_knock", _all_answer)
    return clock


def _all_answer(waiting: Any, *_: Any) -> None:
    for wait in waiting:
        wait.answers = wait.running


def run(story: Story, folder: Path, clock: Clock, *names: str, seconds: float = 600) -> tuple[Diagnostic, ...]:
    return wait_for_hosts(story, made(*names), folder=folder, report=lambda _: None, seconds=seconds, cancel=clock)


def test_a_host_that_comes_up_is_trusted_from_its_console(tmp_path: Path, clock: Clock) -> None:
    story = Story(script={"a": [None, ("pending", "initializing"), ("running", "initializing"), OK]})
    seen: list[Progress] = []
    assert wait_for_hosts(story, made(), folder=tmp_path, report=seen.append, seconds=600, cancel=clock) == ()
    assert [key.text for key in read_record(tmp_path)["i-a"].keys] == [KEY]
    assert f"198.51.100.1 {KEY}\n" in (tmp_path / "known_hosts").read_text()
    assert [p.text for p in seen][:2] == ["not visible yet", "pending"]
    assert seen[-1].finished
    assert seen[-1].text == "checks ok, host key verified, ssh answers"


def test_it_waits_for_the_slowest_and_records_the_quick_one_at_once(tmp_path: Path, clock: Clock) -> None:
    story = Story(script={"b": [("pending", "initializing")] * 20 + [OK]})
    assert run(story, tmp_path, clock, "a", "b") == ()
    assert set(read_record(tmp_path)) == {"i-a", "i-b"}
    assert clock.now == 40
    assert story.asked == ["i-a", "i-b"]


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ([("pending", "initializing"), ("terminated", "not-applicable")], ["terminated", "Client.VolumeLimitExceeded"]),
        ([("shutting-down", "not-applicable")], ["shutting-down"]),
        ([("stopped", "not-applicable")], ["is stopped", "gpuprov start a"]),
        ([None], ["EC2 does not know it"]),
        ([("running", "initializing"), None], ["EC2 does not know it"]),
        ([("running", "impaired")], ["fails its status checks"]),
    ],
)
def test_a_host_that_will_not_come_up_is_told_at_once(
    tmp_path: Path, clock: Clock, states: list[tuple[str, str] | None], words: list[str]
) -> None:
    story = Story(script={"a": states}, reason="Client.VolumeLimitExceeded", consoles={"a": ""})
    (found,) = run(story, tmp_path, clock, "a", "b", seconds=3600)
    assert (found.code, found.address) == ("GP-CLOUD-016", "a")
    assert all(word in f"{found.summary} {found.detail} {found.hint}" for word in words)
    assert set(read_record(tmp_path)) == {"i-b"}


def test_a_check_may_fail_for_a_moment(tmp_path: Path, clock: Clock) -> None:
    story = Story(script={"a": [("running", "impaired")] * 5 + [OK]})
    assert run(story, tmp_path, clock) == ()


def test_time_passes_and_what_is_missing_is_said(tmp_path: Path, clock: Clock) -> None:
    story = Story(script={"a": [("running", "initializing")]}, consoles={"a": "Kernel panic\n"})
    (found,) = run(story, tmp_path, clock, seconds=60)
    assert found.code == "GP-CLOUD-016"
    assert "checks initializing" in found.summary
    assert "Kernel panic" in found.detail
    assert 60 < clock.now < 70


def test_a_console_without_keys_is_no_reason_to_trust(tmp_path: Path, clock: Clock) -> None:
    (found,) = run(Story(consoles={"a": "login:\n"}), tmp_path, clock, seconds=30)
    assert (found.code, found.address) == ("GP-CLOUD-017", "a")
    assert read_record(tmp_path) == {}


def test_a_key_that_changed_is_refused_and_the_old_one_stays(tmp_path: Path, clock: Clock) -> None:
    assert run(Story(), tmp_path, clock) == ()
    (found,) = run(Story(consoles={"a": SHOWN.replace(KEY, OTHER)}), tmp_path, clock)
    assert (found.code, found.address) == ("GP-CLOUD-017", "a")
    assert found.detail.count("SHA256:") == 2
    assert [key.text for key in read_record(tmp_path)["i-a"].keys] == [KEY]


def test_a_host_on_record_needs_no_console_any_more(tmp_path: Path, clock: Clock) -> None:
    assert run(Story(), tmp_path, clock) == ()
    assert run(Story(consoles={"a": "64 KiB of other things\n"}), tmp_path, clock) == ()


def test_waiting_ends_when_it_is_cancelled(tmp_path: Path, clock: Clock) -> None:
    clock.set()
    assert len(run(Story(script={"a": [("pending", "initializing")]}), tmp_path, clock)) == 1
    assert clock.now < 10


def test_hosts_are_reached_by_address_key_file_and_verified_key(tmp_path: Path, clock: Clock) -> None:
    spec = make_site(tmp_path, "a", "b").spec
    folder = tmp_path / "cloud"
    assert run(Story(), folder, clock, "a", "b") == ()
    first, second = cloud_hosts(made("a", "b"), spec, folder=folder)
    assert (first.name, first.pool, first.target) == ("a", "train", "cloud")
    connection = first.connection
    assert (connection.address, connection.user, connection.port) == ("198.51.100.1", "admin", 22)
    assert connection.known_hosts == (str(folder / "known_hosts"),)
    assert connection.key_file is None
    (tmp_path / "key").write_text("never read")
    assert cloud_hosts(made("a"), spec, folder=folder)[0].connection.key_file == str(tmp_path / "key")
    assert second.connection.address == "198.51.100.2"


def test_the_spec_s_user_wins_and_a_host_without_a_public_address_is_reached_by_its_private_one(tmp_path: Path) -> None:
    spec = make_site(tmp_path).spec
    assert spec.cloud is not None
    spec = replace(spec, cloud=replace(spec.cloud, user="ops"))
    inside = Made(hosts=(replace(made().hosts[0], public_address=""),))
    connection = cloud_hosts(inside, spec, folder=tmp_path)[0].connection
    assert (connection.user, connection.address) == ("ops", "10.0.0.1")


def test_behind_a_jump_host_both_keys_are_checked(tmp_path: Path) -> None:
    spec = make_site(tmp_path).spec
    assert spec.cloud is not None
    jump = JumpSpec(host="bastion.example", user="ops", port=2222, known_hosts="keys/known", key="keys/jump")
    spec = replace(spec, cloud=replace(spec.cloud, jump=jump))
    connection = cloud_hosts(made(), spec, folder=tmp_path / "cloud")[0].connection
    (hop,) = connection.jump
    assert (hop.address, hop.user, hop.port) == ("bastion.example", "ops", 2222)
    assert (hop.known_hosts, hop.key_file) == ((str(tmp_path / "keys/known"),), str(tmp_path / "keys/jump"))
    (way,) = [word for word in ssh_options(connection) if word.startswith("ProxyCommand=")]
    assert "StrictHostKeyChecking=yes" in way
    assert f'UserKnownHostsFile="{tmp_path}/keys/known"' in way
    assert f'UserKnownHostsFile="{tmp_path}/cloud/known_hosts"' in ssh_options(connection)
    plain = replace(spec, cloud=replace(spec.cloud, jump=JumpSpec(host="bastion.example")))
    (hop,) = cloud_hosts(made(), plain, folder=tmp_path / "cloud")[0].connection.jump
    assert (hop.known_hosts, hop.key_file, hop.user, hop.port) == ((), None, None, 22)


def test_hosts_behind_a_jump_host_are_asked_for_from_there(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def greets(address: str, port: int = 22, *, jump: Any, seconds: float) -> bool:
        asked.append((address, port, jump, seconds > 0))
        return True

    monkeypatch.undo()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(module, "greets", greets)
    hop = Connection(host="bastion", address="bastion.example")
    told = wait_for_hosts(Story(), made(), folder=tmp_path, report=lambda _: None, seconds=60, cancel=clock, jump=hop)
    assert (told, asked) == ((), [("198.51.100.1", 22, hop, True)])


def test_known_hosts_follows_an_address_that_moved(tmp_path: Path, clock: Clock) -> None:
    assert run(Story(), tmp_path / "cloud", clock) == ()
    moved = Made(hosts=(replace(made().hosts[0], public_address="198.51.100.77"),))
    cloud_hosts(moved, make_site(tmp_path).spec, folder=tmp_path / "cloud")
    text = (tmp_path / "cloud" / "known_hosts").read_text()
    assert f"198.51.100.77 {KEY}" in text
    assert "198.51.100.1 " not in text
