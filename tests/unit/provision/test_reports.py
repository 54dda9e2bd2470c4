"""Public reports about inventories: the same host in both formats, read by the real ansible-inventory."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.provision.onprem import Inventory, hosts_of, read_inventory

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "reports" / "inventory.yaml").read_text())

pytestmark = pytest.mark.slow  # starts other programs: not for `make quick`


def told(inventory: Inventory) -> dict[str, str]:
    return {d.address: d.summary.partition("=")[2] or d.summary for d in inventory.warnings}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_same_host_in_both_formats(case: dict[str, Any], tmp_path: Path) -> None:
    for name in ("ini", "yaml"):
        (tmp_path / f"site{'.yaml' if name == 'yaml' else ''}").write_text(case[name])
    ini, other = read_inventory(tmp_path / "site"), read_inventory(tmp_path / "site.yaml")
    assert told(ini) == case.get("told", {})
    assert told(other) == case.get("told_of_yaml", {})
    for inventory in (ini, other):
        (host,) = hosts_of(inventory, "train")
        reached = {"name": host.name, "address": host.connection.address, "port": host.connection.port or 22}
        assert reached == case["host"]
