"""The script runs for real, in a folder that stands for the host's root; what is not about files is stood in for."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.provision.image_clean import CLEAN, clean_host
from gpuprov.transport.protocol import Outcome

GOES = (
    "etc/ssh/ssh_host_ed25519_key",
    "etc/ssh/ssh_host_ed25519_key.pub",
    "etc/sudoers.d/90-cloud-init-users",
    "root/.ssh/authorized_keys",
    "home/admin/.ssh/authorized_keys",
    "home/admin/.bash_history",
    "home/admin/.ansible/tmp/x",
    "var/lib/cloud/instances/i-1/user-data.txt",
    "var/lib/gpuprov/transactions/t1/log",
    "var/lib/gpuprov/proven",
    "var/lib/gpuprov/want.json",
    "var/lib/systemd/random-seed",
    "var/log/journal/abc/system.journal",
    "var/log/dpkg.log.1",
    "var/log/old.gz",
    "var/tmp/x",
    "tmp/ansible-x/y",
)
STAYS = ("etc/ssh/sshd_config", "var/lib/gpuprov/owned.json", "home/admin/.profile", "usr/bin/tool")
EMPTY = ("etc/machine-id", "var/log/dpkg.log", "var/log/cloud-init.log")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A host's files."""
    for name in (*GOES, *STAYS, *EMPTY, "var/lib/dbus/machine-id"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("something\n")
    return tmp_path


def run(root: Path, **stand_ins: str) -> subprocess.CompletedProcess[str]:
    tools = root / "tools"
    tools.mkdir()
    for name, text in {"apt-get": "", "cloud-init": "", "journalctl": "", **stand_ins}.items():
        tool = tools / name.replace("_", "-")
        tool.write_text(f"#!/bin/sh\n{text}\n")
        tool.chmod(0o755)
    script = re.sub(r"(?<![\w\"$.}])/(?=(?:etc|var|root|home|tmp|loader)\b)", f"{root}/", CLEAN)
    # Nothing of this machine may be meant: the script runs with whatever rights the tests have.
    assert not re.search(r"(?<![\w}])/(?:etc|var|root|home|tmp|loader)\b", script.replace(f"{root}/", "@"))
    environment = {"PATH": f"{tools}:{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=False)


def test_what_must_not_be_copied_goes_and_all_else_stays(root: Path) -> None:
    done = run(root)
    assert (done.returncode, done.stderr) == (0, "")
    assert [name for name in GOES if (root / name).exists()] == []
    assert [name for name in STAYS if (root / name).read_text() != "something\n"] == []
    assert [name for name in EMPTY if (root / name).read_text()] == []


def test_the_second_machine_id_follows_the_first(root: Path) -> None:
    run(root)
    link = root / "var/lib/dbus/machine-id"
    assert link.is_symlink()
    assert link.readlink() == root / "etc/machine-id"


def test_a_step_that_fails_is_told(root: Path) -> None:
    done = run(root, cloud_init="echo broken >&2; exit 3")
    assert done.returncode != 0
    assert "broken" in done.stderr


@dataclass
class Host:
    """A transport that answers once."""

    outcome: Outcome
    host: str = "builder"
    ran: list[tuple[str, bool]] = field(default_factory=list)

    def run(self, command: str, *, stdin: bytes = b"", timeout: float, root: bool = False) -> Outcome:
        self.ran.append((command, root))
        return self.outcome

    def put(self, content: bytes, path: str, *, mode: int, root: bool = False) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def test_it_runs_as_root() -> None:
    host = Host(Outcome(status=0, stdout=b"", stderr=b"", seconds=1.0))
    clean_host(host)
    assert host.ran == [(CLEAN, True)]


def test_a_host_that_cannot_be_cleaned_says_why() -> None:
    with pytest.raises(GpuprovError) as caught:
        clean_host(Host(Outcome(status=1, stdout=b"", stderr=b"No space left on device\n", seconds=1.0)))
    found = caught.value.diagnostics[0]
    assert (found.code, found.address) == ("GP-CONV-001", "builder")
    assert "No space left" in found.detail
