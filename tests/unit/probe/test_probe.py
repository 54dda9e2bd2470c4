"""Probing hosts: this machine itself, and hosts that cannot be observed."""

import threading

import pytest

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.fact import Known, Unknown
from gpuprov.model.host import Become, Connection, Host
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.probe import probe
from gpuprov.probe.probe import ProbeRequest, probe_host, probe_hosts
from gpuprov.probe.snapshot import snapshot_of
from gpuprov.transport.local import LocalTransport
from gpuprov.transport.protocol import Outcome

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def host(name: str, **fields: object) -> Host:
    return Host(name=name, pool="", target="onprem", connection=Connection(host=name, address=name, **fields))


def test_this_machine_is_observed_and_its_recording_replays() -> None:
    told = []
    (probed,) = probe_hosts([host("me", kind="local")], ProbeRequest(), report=told.append)
    assert isinstance(probed.result, Snapshot)
    assert isinstance(probed.result.observe("host.kernel.release"), Known)
    assert probed.result.seconds > 0
    assert snapshot_of(probed.recording) == probed.result
    assert probed.recording.os
    assert (told[0].done, told[-1].done, told[-1].total, told[-1].finished) == (0, 1, 1, True)


def test_a_host_that_cannot_be_reached_is_told_and_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(connection: Connection) -> LocalTransport:
        if connection.host == "gone":
            raise GpuprovError(
                Diagnostic(code="GP-SSH-001", address="gone", summary="no answer", detail="tried: a key", hint="look")
            )
        return LocalTransport(connection)

    monkeypatch.setattr(probe, "connect", connect)
    first, second = probe_hosts([host("gone"), host("me")], ProbeRequest())
    assert first.result == NotObserved(
        host="gone", code="GP-SSH-001", reason="no answer", detail="tried: a key", hint="look"
    )
    assert isinstance(second.result, Snapshot)


class NoRoot(LocalTransport):
    """A host where sudo wants a password."""

    def run(self, command: str, *, stdin: bytes = b"", timeout: float, root: bool = False) -> Outcome:
        if root:
            raise GpuprovError(Diagnostic(code="GP-SSH-005", address=self.host, summary="sudo needs a password"))
        return super().run(command, stdin=stdin, timeout=timeout)


def test_without_sudo_the_user_looks_and_the_recording_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "connect", NoRoot)
    probed = probe_host(host("me"), ProbeRequest())
    assert isinstance(probed.result, Snapshot)
    assert probed.recording.collectors["root"].stderr == "sudo needs a password"


def test_a_wrong_password_is_never_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "connect", NoRoot)
    probed = probe_host(host("me", become=Become(password="wrong")), ProbeRequest())
    assert probed.result == NotObserved(host="me", code="GP-SSH-005", reason="sudo needs a password")


class Cut(LocalTransport):
    """A host whose answer ends too early."""

    def run(self, command: str, *, stdin: bytes = b"", timeout: float, root: bool = False) -> Outcome:
        outcome = super().run(command, stdin=stdin, timeout=timeout)
        return Outcome(status=1, stdout=outcome.stdout[:100], stderr=b"sh: out of memory\n", seconds=outcome.seconds)


def test_an_answer_that_is_not_complete_is_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "connect", Cut)
    result = probe_host(host("me"), ProbeRequest()).result
    assert isinstance(result, NotObserved)
    assert result.code == "GP-PROBE-001"
    assert "out of memory" in result.reason


@pytest.mark.parametrize("limit", [1, 8])
def test_results_come_in_the_hosts_order(limit: int) -> None:
    names = ["c", "a", "b"]
    probed = probe_hosts([host(n, kind="local") for n in names], ProbeRequest(), limit=limit)
    assert [p.result.host for p in probed] == names
    assert not any(isinstance(p.result.observe("host.name"), Unknown) for p in probed)


def test_no_more_hosts_are_asked_at_once_than_the_bound_says(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = set(), []
    lock = threading.Lock()
    together = threading.Barrier(3, timeout=10)

    def connect(connection: Connection) -> LocalTransport:
        with lock:
            running.add(connection.host)
            most.append(len(running))
        together.wait()  # passes only while three are running
        with lock:
            running.discard(connection.host)
        raise GpuprovError(Diagnostic(code="GP-SSH-001", address=connection.host, summary="no answer"))

    monkeypatch.setattr(probe, "connect", connect)
    probed = probe_hosts([host(f"h{n}") for n in range(12)], ProbeRequest(), limit=3)
    assert len(probed) == 12
    assert max(most) == 3
