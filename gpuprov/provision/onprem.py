"""Hosts of a rack: an Ansible inventory, read by Ansible itself."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.host import Host
from gpuprov.provision.limit import apply_limit, unknown_name
from gpuprov.provision.lossy import find_lossy_values, find_odd_types, is_ini
from gpuprov.provision.program import run_ansible
from gpuprov.provision.variables import is_connection_variable, read_connection

_VAULT = "__ansible_vault"
_ENVIRONMENT = {
    "ANSIBLE_REMOTE_USER": "ansible_ssh_user",
    "ANSIBLE_REMOTE_PORT": "ansible_ssh_port",
    "ANSIBLE_PRIVATE_KEY_FILE": "ansible_private_key_file",
    "ANSIBLE_TIMEOUT": "ansible_ssh_timeout",
}
"""Ansible's own environment variables for what an inventory does not say; the older names give way to any other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Inventory:
    """The hosts of an inventory, within the limit."""

    path: Path
    hosts: tuple[Host, ...]
    """In the inventory's order; `pool` is empty, because the spec says which group is which pool."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Group -> names of its hosts, those of child groups included, not limited."""
    warnings: tuple[Diagnostic, ...] = ()


def read_inventory(path: Path, *, vault_password_file: str | None = None, limit: str | None = None) -> Inventory:
    """Read an inventory: INI, YAML, a folder, or a plugin's configuration.

    Args:
        path: the file or folder.
        vault_password_file: for vaulted variables; Ansible's own variables (ANSIBLE_VAULT_PASSWORD_FILE) count too.
        limit: see `apply_limit`.

    Raises:
        GpuprovError: GP-INV-001 (not readable), GP-INV-002 (no host), GP-INV-003 (variables that cannot be honoured,
            all of them), GP-INV-004 (a name in the limit).
    """
    if not path.exists():
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-001",
                address=str(path),
                summary="the inventory does not exist",
                hint="give its path with -i, or write one with `gpuprov init`",
            )
        )
    data = _ask_ansible(path, vault_password_file)
    groups = _groups(data)
    names = _host_order(data)
    if not names:
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-002",
                address=str(path),
                summary="the inventory holds no host",
                hint="write hosts into it, below the group that the spec names in pools.NAME.onprem.group",
            )
        )
    chosen = apply_limit(names, {group: frozenset(members) for group, members in groups.items()}, limit)
    if not chosen:
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-002", address=str(path), summary=f"the limit {limit!r} leaves no host of the inventory"
            )
        )
    variables = data.get("_meta", {}).get("hostvars", {})
    vault = Vault(path, vault_password_file)
    diagnostics: list[Diagnostic] = []
    hosts = tuple(_host(name, variables.get(name, {}), groups, vault, diagnostics) for name in chosen)
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    if errors:
        raise GpuprovError(*errors)
    # Of an INI file the lines themselves were looked at.
    warnings = find_lossy_values(path) if is_ini(path) else tuple(diagnostics)
    return Inventory(path=path, hosts=hosts, groups=groups, warnings=warnings)


def hosts_of(inventory: Inventory, group: str) -> tuple[Host, ...]:
    """The hosts of a group, within the inventory's limit.

    Raises:
        GpuprovError: GP-INV-004 when there is no such group.
    """
    if group not in inventory.groups:
        raise GpuprovError(unknown_name(group, list(inventory.groups)))
    members = set(inventory.groups[group])
    return tuple(host for host in inventory.hosts if host.name in members)


def _ask_ansible(path: Path, vault_password_file: str | None) -> dict[str, Any]:
    arguments = ["--list", "-i", str(path.resolve())]
    if vault_password_file is not None:
        arguments += ["--vault-password-file", vault_password_file]
    # Without these, Ansible takes a file it cannot read for an empty inventory, and a broken YAML file for host names.
    extra = {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "True", "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True"}
    if path.suffix.lower() in {".yml", ".yaml"}:
        extra["ANSIBLE_INVENTORY_ENABLED"] = "auto,yaml"
    text = run_ansible("ansible-inventory", arguments, path=path, extra=extra)
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-001", address=str(path), summary="ansible-inventory answered with something else than JSON"
            )
        )
    return data


def _groups(data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    def members(group: str, above: tuple[str, ...]) -> dict[str, None]:
        entry = data.get(group, {})
        names = dict.fromkeys(entry.get("hosts", ()))
        for child in entry.get("children", ()):
            if child not in above:
                names |= members(child, (*above, group))
        return names

    return {group: tuple(members(group, ())) for group in _all_groups(data)}


def _all_groups(data: Mapping[str, Any]) -> list[str]:
    named = [group for group in data if group != "_meta"]
    children = [child for group in named for child in data[group].get("children", ())]
    return list(dict.fromkeys([*named, *children]))


def _host_order(data: Mapping[str, Any]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for group in _all_groups(data):
        names |= dict.fromkeys(data.get(group, {}).get("hosts", ()))
    return tuple(names | dict.fromkeys(data.get("_meta", {}).get("hostvars", {})))


class Vault:
    """Decrypts single vaulted values, each text once, by ansible-vault."""

    def __init__(self, path: Path, password_file: str | None) -> None:
        self._path = path
        self._arguments = ["decrypt", "--output", "-"]
        if password_file is not None:
            self._arguments += ["--vault-password-file", password_file]
        self._known: dict[str, str] = {}

    def open(self, text: str) -> str:
        """The plain text of a vaulted value."""
        if text not in self._known:
            self._known[text] = run_ansible("ansible-vault", self._arguments, path=self._path, stdin=text)
        return self._known[text]


def _host(
    name: str,
    variables: Mapping[str, object],
    groups: Mapping[str, tuple[str, ...]],
    vault: Vault,
    diagnostics: list[Diagnostic],
) -> Host:
    connecting: dict[str, object] = {name: os.environ[key] for key, name in _ENVIRONMENT.items() if os.environ.get(key)}
    others: dict[str, object] = {}
    for key, value in variables.items():
        if is_connection_variable(key):
            connecting[key] = vault.open(str(value[_VAULT])) if isinstance(value, dict) and _VAULT in value else value
        else:
            others[key] = value
    diagnostics += find_odd_types(name, connecting)
    return Host(
        name=name,
        pool="",
        target="onprem",
        connection=read_connection(name, connecting, diagnostics),
        groups=tuple(g for g, members in groups.items() if name in members and g != "all"),
        variables=others,
    )
