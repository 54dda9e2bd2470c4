"""Connections -> an Ansible inventory in which every field of Connection is honoured; pure.

Secrets are a second inventory of their own, so that its file can be deleted as soon as Ansible has read it.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection, Host

_NOT_GIVEN: Final = 22
_TEMPLATE = re.compile(r"\{[{%#]")
# What json.dumps leaves as it is and a YAML reader refuses (YAML 1.1, section 4.1.1).
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")

Inventory = dict[str, Any]


def inventory(
    hosts: Sequence[Host], variables: Mapping[str, Mapping[str, Any]], shared: Mapping[str, Any]
) -> Inventory:
    """Make the inventory of a run, without any secret.

    Args:
        hosts: all hosts of the run.
        variables: host name -> role variables.
        shared: variables of all hosts.

    Raises:
        GpuprovError: GP-INV-003 for a jump host with a password, which ssh cannot be given.
    """
    members = {host.name: {**connection_variables(host.connection), **variables[host.name]} for host in hosts}
    return {"all": {"vars": dict(shared), "hosts": members}}


def secrets(hosts: Sequence[Host]) -> Inventory | None:
    """Make the inventory of passwords; None when there is none."""
    members: dict[str, dict[str, str]] = {}
    for host in hosts:
        found = {
            "ansible_password": host.connection.password,
            "ansible_become_password": host.connection.become.password,
        }
        given = {name: value for name, value in found.items() if value is not None}
        if given:
            members[host.name] = given
    return {"all": {"hosts": members}} if members else None


def connection_variables(connection: Connection) -> dict[str, Any]:
    """The Ansible variables of one connection."""
    become = connection.become
    variables: dict[str, Any] = {
        "ansible_python_interpreter": connection.python or "/usr/bin/python3",
        "ansible_become": become.enabled,
        "ansible_become_method": become.method,
        "ansible_become_user": become.user,
    }
    if connection.kind == "local":
        return {**variables, "ansible_connection": "local"}
    variables |= {
        "ansible_connection": "ssh",
        "ansible_host": connection.address,
        "ansible_ssh_timeout": max(1, round(connection.connect_timeout)),
        "ansible_ssh_common_args": shlex.join(_common_options(connection)),
    }
    if connection.port != _NOT_GIVEN:
        variables["ansible_port"] = connection.port
    if connection.user:
        variables["ansible_user"] = connection.user
    if connection.key_file:
        variables["ansible_ssh_private_key_file"] = str(Path(connection.key_file).expanduser())
    return variables


def _common_options(connection: Connection) -> list[str]:
    """The ssh options of a connection that Ansible has no variable for."""
    words = ["-F", str(Path(connection.ssh_config).expanduser())] if connection.ssh_config else []
    options = ["StrictHostKeyChecking=yes", "UpdateHostKeys=no", "ServerAliveInterval=15", "ServerAliveCountMax=4"]
    if connection.known_hosts:
        files = " ".join(f'"{Path(path).expanduser()}"' for path in connection.known_hosts)
        options += [f"UserKnownHostsFile={files}", "GlobalKnownHostsFile=/dev/null"]
    if not connection.use_agent:
        options.append("IdentityAgent=none")
    if connection.identities_only:
        options.append("IdentitiesOnly=yes")
    if connection.jump:
        options.append(f"ProxyCommand={_proxy_command(connection.jump)}")
    return words + [word for option in options for word in ("-o", option)]


def _proxy_command(jumps: Sequence[Connection]) -> str:
    """The command that reaches a host through jump hosts; each of them with its own user, key and known hosts."""
    last = jumps[-1]
    if last.password is not None:
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-003",
                address=last.host,
                summary="a jump host with a password cannot be used",
                hint="let the jump host accept a key",
            )
        )
    words = ["ssh", *_common_options(last)[: None if not last.jump else -2], "-o", "BatchMode=yes"]
    words += ["-o", f"ConnectTimeout={max(1, round(last.connect_timeout))}"]
    before = jumps[:-1] or last.jump
    if before:
        words += ["-o", f"ProxyCommand={_proxy_command(before)}"]
    words += ["-p", str(last.port)] if last.port != _NOT_GIVEN else []
    words += ["-l", last.user] if last.user else []
    words += ["-i", str(Path(last.key_file).expanduser())] if last.key_file else []
    # Each ssh expands the tokens of its own ProxyCommand; those of this level are the outer ssh's.
    inner = [word.replace("%", "%%") for word in words]
    return shlex.join([*inner, "-W", "[%h]:%p", "--", last.address])


def to_yaml(value: Any) -> str:
    """Write a value as YAML that Ansible reads without taking any text of it for a template."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(k))}: {to_yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(to_yaml(member) for member in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    text = _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    return f"!unsafe {text}" if _TEMPLATE.search(value) else text
