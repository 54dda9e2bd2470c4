"""A project for plain Ansible, as texts: inventory, variables and settings that site.yml needs without gpuprov; pure.

What is left out: passwords, and everything that only a look at a host can tell, such as what is to be removed there.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gpuprov.converge.inventory import connection_variables, to_yaml
from gpuprov.converge.types import RunDocuments
from gpuprov.converge.variables import document_variables, host_variables
from gpuprov.model.host import Host
from gpuprov.plan.removal import Removal
from gpuprov.want.types import HostWant

MARK: Final = "# Written by `gpuprov export ansible`. Export again instead of changing it.\n"
"""The first line of every file that is written, by which an earlier export is known."""
INVENTORY: Final = "inventory.yml"
PLAYBOOKS: Final = "playbooks"
UV: Final = f"{PLAYBOOKS}/roles/gpuprov_frameworks/files/uv"
"""Where the role looks for the program that it brings to hosts with frameworks."""

_SETTINGS: Final = f"""\
{MARK}[defaults]
inventory = {INVENTORY}
library = {PLAYBOOKS}/plugins/modules
module_utils = {PLAYBOOKS}/plugins/module_utils
roles_path = {PLAYBOOKS}/roles
host_key_checking = True
retry_files_enabled = False

[ssh_connection]
pipelining = True
"""


def project_texts(
    hosts: Sequence[Host], wants: Mapping[str, HostWant], documents: RunDocuments, *, when: str
) -> dict[str, str]:
    """The files of a project beside the playbooks: relative path -> text.

    Args:
        hosts: the hosts, in the inventory's order.
        wants: what each must be.
        documents: kept on every host, as by a run.
        when: RFC 3339 in UTC, for the record on the hosts.

    Raises:
        GpuprovError: GP-INV-003 for a jump host with a password, which ssh cannot be given.
    """
    pools: dict[str, dict[str, dict[str, Any]]] = {}
    for host in hosts:
        pools.setdefault(host.pool, {})[host.name] = connection_variables(host.connection)
    children = "".join(_group(name, members) for name, members in pools.items())
    variables = {h.name: host_variables(wants[h.name], Removal(), when=when) for h in hosts}
    shared = document_variables(documents) | ({"gpuprov_frameworks_uv": "uv"} if need_uv(wants) else {})
    return {
        "ansible.cfg": _SETTINGS,
        INVENTORY: f"{MARK}all:\n  children:\n{children}",
        "group_vars/all.yml": MARK + _block(shared),
        **{f"host_vars/{name}.yml": MARK + _block(values) for name, values in variables.items()},
    }


def need_uv(wants: Mapping[str, HostWant]) -> bool:
    """Whether a host gets frameworks, which uv installs there."""
    return any(want.pool.frameworks for want in wants.values())


def _group(name: str, members: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [f"    {json.dumps(name)}:", "      hosts:"]
    for host, values in members.items():
        lines.append(f"        {json.dumps(host)}:")
        lines += [f"          {key}: {to_yaml(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


def _block(variables: Mapping[str, Any]) -> str:
    """One variable a line, and one line for each member of a list: what two exports differ in can be read."""
    lines = []
    for name, value in variables.items():
        if isinstance(value, list | tuple) and value:
            lines.append(f"{name}:")
            lines += [f"  - {to_yaml(member)}" for member in value]
        else:
            lines.append(f"{name}: {to_yaml(value)}")
    return "\n".join(lines) + "\n"
