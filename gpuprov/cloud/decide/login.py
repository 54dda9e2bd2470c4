"""User data: it lets gpuprov in and does nothing else; the stack comes with converge, as in a rack."""

from collections.abc import Sequence
from typing import Final

from gpuprov.cloud.decide.refusals import refuse
from gpuprov.document.yaml_write import quoted

_LIMIT: Final = 16_384
"""Most bytes of user data, before its encoding (EC2 API Reference, RunInstances, read 2026-11-30)."""


def user_data(host: str, keys: Sequence[str], *, user: str = "") -> str:
    """Write the cloud-config of one host.

    It holds nothing of any other host, so that adding one changes none. It is read once, at the first boot.

    Args:
        host: the host's name.
        keys: lines of public keys.
        user: the login user, made with leave to become root; empty for the image's own, which gets the keys.

    Raises:
        GpuprovError: GP-CLOUD-019 for a key with several lines; GP-SPEC-005 when it is longer than AWS takes.
    """
    lines = ["#cloud-config", f"hostname: {quoted(host)}", "manage_etc_hosts: localhost"]
    keys_at = ""
    if user:
        lines += ["users:", f"  - name: {quoted(user)}", '    sudo: ["ALL=(ALL) NOPASSWD:ALL"]']
        lines += ["    shell: /bin/bash", "    lock_passwd: true"]
        keys_at = "    "
    lines.append(f"{keys_at}ssh_authorized_keys:{'' if keys else ' []'}")
    lines += [f"{keys_at}  - {quoted(_one_line(key))}" for key in keys]
    text = "\n".join(lines) + "\n"
    length = len(text.encode())
    if length > _LIMIT:
        raise refuse(
            "GP-SPEC-005",
            f"the login keys make {length} bytes of user data",
            address="targets.cloud.login_keys",
            detail=f"AWS takes {_LIMIT}.",
            hint="name fewer keys; more people come with the host's own access settings",
        )
    return text


def _one_line(key: str) -> str:
    text = key.strip()
    if not text or "\n" in text or "\r" in text:
        raise refuse(
            "GP-CLOUD-019",
            "a login key is no single line",
            address="targets.cloud.login_keys",
            hint="give public keys as ssh-keygen writes them, one a line",
        )
    return text
