import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.provision import login_keys as module
from gpuprov.provision.login_keys import login_keys, private_key_file
from gpuprov.spec.cloud import CloudNetworkSpec, CloudSpec


def cloud(*names: str) -> CloudSpec:
    network = CloudNetworkSpec(cidr="10.7.0.0/16", ranges={}, ssh_from=())
    return CloudSpec(account="111122223333", region="us-east-1", network=network, login_keys=names)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A spec's path with a pair of keys beside it."""
    make_key(tmp_path / "id")
    return tmp_path / "gpuprov.yaml"


def make_key(path: Path) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@here", "-f", str(path)], check=True)
    return " ".join(path.with_suffix(".pub").read_text().split()[:2])


@pytest.fixture
def agent(spec: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A running SSH agent without keys."""
    socket = spec.parent / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
    while not socket.exists():
        assert process.poll() is None
    yield socket
    process.terminate()
    process.wait(10)


def refusal(spec: Path, *names: str) -> Diagnostic:
    with pytest.raises(GpuprovError) as caught:
        login_keys(cloud(*names), spec)
    found = caught.value.diagnostics[0]
    assert (found.code, found.address) == ("GP-CLOUD-019", "targets.cloud.login_keys")
    return found


def test_a_file_beside_the_spec_without_its_comment(spec: Path) -> None:
    (key,) = login_keys(cloud("id.pub"), spec)
    assert (spec.parent / "id.pub").read_text().startswith(key)
    assert "me@here" not in key


def test_a_file_of_several_keys_in_its_order_each_once(spec: Path) -> None:
    second = make_key(spec.parent / "other")
    first = " ".join((spec.parent / "id.pub").read_text().split()[:2])
    (spec.parent / "team").write_text(f"# ours\n\n{second} b\n{first} a\n{second} b\n")
    assert login_keys(cloud("team", "id.pub"), spec) == (second, first)


def test_keys_of_the_agent(agent: Path, spec: Path) -> None:
    subprocess.run(["ssh-add", "-q", str(spec.parent / "id")], check=True)
    assert login_keys(cloud("agent"), spec) == login_keys(cloud("id.pub"), spec)


def test_an_agent_without_keys_does_not_matter_beside_a_file(agent: Path, spec: Path) -> None:
    assert len(login_keys(cloud("agent", "id.pub"), spec)) == 1
    found = refusal(spec, "agent")
    assert "the agent has no identities" in found.summary
    assert "ssh-add" in found.hint


def test_no_agent(spec: Path) -> None:
    assert "could not open a connection to your authentication agent" in refusal(spec, "agent").summary


def test_an_agent_that_hangs(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: Any, **__: Any) -> None:
        raise subprocess.TimeoutExpired("ssh-add", 10)

    monkeypatch.setattr(module.subprocess, "run", hang)
    assert "did not answer" in refusal(spec, "agent").summary


def test_nothing_is_named(spec: Path) -> None:
    assert "none is named" in refusal(spec).summary


def test_a_file_that_is_not_there(spec: Path) -> None:
    assert "absent.pub" in refusal(spec, "absent.pub").summary


def test_the_private_key_is_refused_without_being_read(spec: Path) -> None:
    (spec.parent / "id").chmod(0)
    found = refusal(spec, "id")
    assert "is the private key" in found.summary
    assert "id.pub" in found.hint


def test_a_private_key_without_its_public_one(spec: Path) -> None:
    (spec.parent / "id.pub").unlink()
    assert "is a private key" in refusal(spec, "id").summary


@pytest.mark.parametrize("text", ["", "hello\n", 'command="x" KEY\n', "KEY".replace("KEY", "ssh-ed25519 AAAA me\n")])
def test_a_file_without_a_usable_key(spec: Path, text: str) -> None:
    key = (spec.parent / "id.pub").read_text().strip()
    (spec.parent / "x.pub").write_text(text.replace("KEY", key))
    assert "no public key" in refusal(spec, "x.pub").summary


def test_the_private_key_beside_a_named_public_one(spec: Path) -> None:
    assert private_key_file(cloud("agent", "id.pub"), spec) == str(spec.parent / "id")
    (spec.parent / "id").unlink()
    assert private_key_file(cloud("agent", "id.pub"), spec) is None
