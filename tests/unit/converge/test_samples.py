"""The sample inventories say the same in both formats, and gpuprov can honour them."""

from pathlib import Path
from typing import Any

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.vars.manager import VariableManager

INVENTORY = Path(__file__).parents[3] / "inventory"


def read(name: str) -> dict[str, dict[str, Any]]:
    loader = DataLoader()
    found = InventoryManager(loader=loader, sources=[str(INVENTORY / name)])
    variables = VariableManager(loader=loader, inventory=found)
    hosts = {}
    for host in found.get_hosts():
        seen = variables.get_vars(host=host)
        own = {key: seen[key] for key in sorted(seen) if key.startswith("ansible_") and key in OWN}
        hosts[host.name] = {**own, "groups": sorted(group.name for group in host.get_groups())}
    return hosts


OWN = {"ansible_user", "ansible_port", "ansible_ssh_common_args", "ansible_host"}


def test_the_samples_agree() -> None:
    found = read("site.yml")
    assert sorted(found) == ["gpu-1.example.com", "gpu-2.example.com", "login.example.com"]
    assert found["gpu-1.example.com"]["ansible_ssh_common_args"] == "-J admin@bastion.example.com"
    assert read("site.ini") == found


@pytest.mark.parametrize("name", ["site.yml", "site.ini"])
def test_a_sample_holds_no_version_and_no_secret(name: str) -> None:
    text = (INVENTORY / name).read_text(encoding="utf-8")
    assert "password" not in text
    assert "version" not in text
