import subprocess
from pathlib import Path

import pytest

from gpuprov.cloud.ssh_keys import find_key


@pytest.mark.parametrize("kind", [("ed25519",), ("rsa", "-b", "2048"), ("ecdsa", "-b", "384"), ("ecdsa", "-b", "521")])
def test_a_key_of_ssh_keygen_is_whole(kind: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-N", "", "-C", "me", "-t", *kind, "-f", str(file)], check=True)
    line = file.with_suffix(".pub").read_text().strip()
    found = find_key(f"ec2: {line}")
    assert found is not None
    assert found.text == " ".join(line.split()[:2])
    cut = line.split()[1][:-8]
    assert find_key(f"{found.type} {cut} me") is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ssh-ed25519",
        "ssh-ed25519 not-base64!",
        "xssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOh5hUdkOCZ/lIjVORBzEYo15OGJsBGzzhpoJdr1H+8H",
        "ssh-ed25519-cert-v01@openssh.com AAAAC3NzaC1lZDI1NTE5AAAAIOh5hUdkOCZ/lIjVORBzEYo15OGJsBGzzhpoJdr1H+8H",
    ],
)
def test_no_key(line: str) -> None:
    assert find_key(line) is None
