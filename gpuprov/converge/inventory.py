"""Connections -> an Ansible inventory in which every field of Connection is honoured; pure.

Secrets are a second inventory of their own, so that its file can be deleted as soon as Ansible has read it.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpuprov.converge.ssh_options import NOT_GIVEN, ssh_options
from gpuprov.model.host import Connection, Host

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
        "ansible_ssh_common_args": shlex.join(ssh_options(connection)),
    }
    if connection.port != NOT_GIVEN:
        variables["ansible_port"] = connection.port
    if connection.user:
        variables["ansible_user"] = connection.user
    if connection.key_file:
        variables["ansible_ssh_private_key_file"] = str(Path(connection.key_file).expanduser())
    return variables


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
