"""The user's own keys for logging in to cloud hosts: public keys from files and from the SSH agent."""

import subprocess
from pathlib import Path
from typing import Final

from gpuprov.cloud.ssh_keys import find_key
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.cloud import CloudSpec
from gpuprov.store.files import read_text

AGENT: Final = "agent"
_ADDRESS: Final = "targets.cloud.login_keys"
_LIMIT: Final = 65_536
"""Bytes of a file of public keys."""
_AGENT_SECONDS: Final = 10.0


def login_keys(cloud: CloudSpec, spec_path: Path) -> tuple[str, ...]:
    """The public keys that may log in, one line each, without comments.

    Args:
        cloud: names files, relative to the spec, and `agent` for the keys that the SSH agent holds.
        spec_path: the spec.

    Raises:
        GpuprovError: GP-CLOUD-019 when a file cannot be used or there is no key at all.
    """
    found: dict[str, None] = {}
    empty = []
    for name in cloud.login_keys:
        lines, trouble = _agent_lines() if name == AGENT else (_file_lines(_path(name, spec_path)), "")
        keys = [key.text for line in lines if (key := find_key(line)) is not None and _is_plain(line, key.type)]
        if not keys and name != AGENT:
            raise GpuprovError(_diagnostic(f"{name} holds no public key that a host takes", "ed25519, ecdsa or rsa"))
        if not keys:
            empty.append(trouble or "the SSH agent holds no key")
        found |= dict.fromkeys(keys)
    if not found:
        raise GpuprovError(
            _diagnostic(
                "there is no public key to log in with: " + ("; ".join(empty) or "none is named"),
                hint="add a key to the agent (`ssh-add`), or name a file: `login_keys: [~/.ssh/id_ed25519.pub]`",
            )
        )
    return tuple(found)


def private_key_file(cloud: CloudSpec, spec_path: Path) -> str | None:
    """The file of the private key that belongs to the first public key file of the spec that has one beside it.

    It is named to the ssh client and never read here.
    """
    for name in cloud.login_keys:
        if name != AGENT and name.endswith(".pub"):
            private = _path(name, spec_path).with_suffix("")
            if private.is_file():
                # Absolute: Ansible runs in a folder of its own.
                return str(private.absolute())
    return None


def _path(name: str, spec_path: Path) -> Path:
    return spec_path.parent / Path(name).expanduser()


def _file_lines(path: Path) -> list[str]:
    if path.suffix != ".pub" and path.with_name(path.name + ".pub").is_file():
        raise GpuprovError(
            _diagnostic(f"{path} is the private key", hint=f"name the public one: {path.name}.pub; it was not read")
        )
    try:
        text = read_text(path, limit=_LIMIT)
    except GpuprovError as error:
        cause = error.diagnostics[0]
        raise GpuprovError(_diagnostic(cause.summary, hint=cause.hint)) from error
    if "PRIVATE KEY-----" in text:
        raise GpuprovError(_diagnostic(f"{path} is a private key", hint="name the public one (ssh-keygen -y makes it)"))
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def _agent_lines() -> tuple[list[str], str]:
    """The agent's public keys, and why there are none."""
    try:
        done = subprocess.run(
            ["ssh-add", "-L"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_AGENT_SECONDS, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        return [], "the program ssh-add is not installed"
    except subprocess.TimeoutExpired:
        return [], f"the SSH agent did not answer within {_AGENT_SECONDS:.0f} s"
    if done.returncode:
        text = (done.stdout + done.stderr).strip().rstrip(".")
        return [], text[:1].lower() + text[1:]
    return done.stdout.splitlines(), ""


def _is_plain(line: str, kind: str) -> bool:
    """Options before a key (command=, from=) would be lost: such a line is not taken."""
    return line.lstrip().startswith(kind)


def _diagnostic(summary: str, detail: str = "", hint: str = "") -> Diagnostic:
    return Diagnostic(code="GP-CLOUD-019", address=_ADDRESS, summary=summary, detail=detail, hint=hint)
