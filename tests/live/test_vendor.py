"""NVIDIA's own repositories: keys, signed indexes, the catalog's package names, and a lock of an example spec."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuprov.catalog.load import rows
from gpuprov.catalog.rows import PackagesRow
from gpuprov.sources.definition import SourceDefinition
from gpuprov.sources.index import open_index
from tests.live.site import LiveSite
from tests.live.vendor import vendor_key, vendor_url

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SYSTEMS = ("debian-12", "debian-13")
BRANCH = 580
"""The driver branch whose packages are looked for: a long-lived one, which all of the catalog's rules know."""


def this_system() -> str:
    """The system of this machine, as the catalog calls it: its own archive is where the rest of a lock comes from."""
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    words = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    found = f"{words.get('ID', '')}-{words.get('VERSION_ID', '')}".replace('"', "")
    if found not in SYSTEMS:
        pytest.fail(
            f"run this check on {' or '.join(SYSTEMS)}, whose archive the lock needs; here is {found}", pytrace=False
        )
    return found


def as_pattern(package: str) -> re.Pattern[str]:
    """A package of the catalog, whose `<M>`, `<m>` and `<N>` stand for numbers of releases."""
    return re.compile(r"\d+".join(re.escape(part) for part in re.split(r"<\w+>", package)))


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_index_is_verified_with_the_catalogs_key(system: str, tmp_path: Path) -> None:
    """By the catalog's sources the key of Debian 12 has a SHA-1 self-signature: a refusal (GP-SRC-007) shows here."""
    definition = SourceDefinition(
        name="nvidia",
        url=vendor_url(system),
        suite="./",
        components=(),
        keys=vendor_key(system, tmp_path),
        on_host=True,
    )
    with open_index((definition,), arch="amd64", cache=tmp_path, now=datetime.now(UTC)) as index:
        offered = set(index.names())
    named = [
        package
        for row in rows(PackagesRow)
        if (row.family, row.origin) == ("debian", "nvidia")
        and (row.min_branch or 0) <= BRANCH <= (row.max_branch or BRANCH)
        for package in row.packages
    ]
    assert named
    missing = [name for name in named if not any(as_pattern(name).fullmatch(other) for other in offered)]
    assert not missing, f"the catalog names packages that NVIDIA does not offer for {system}: {missing}"


def test_an_example_spec_is_locked(tmp_path: Path) -> None:
    system = this_system()
    (tmp_path / "nvidia.pub").write_bytes(vendor_key(system, tmp_path / "cache"))
    (tmp_path / "inventory.yml").write_text("all: {children: {train: {hosts: {node1: {}}}}}\n", encoding="utf-8")
    site = LiveSite(folder=tmp_path)
    site.write(
        {
            "apiVersion": "gpuprov/v1",
            "name": "vendor",
            "os": system,
            "sources": {"nvidia": {"type": "apt", "url": vendor_url(system), "flat": True, "key": "nvidia.pub"}},
            "stack": {
                "driver": {"version": "580.*", "modules": "open", "source": "nvidia"},
                "cuda": "13.0",
                "container": {"engine": "docker", "toolkit": "1.18.*"},
                "fabric": "auto",
                "dcgm": "4.*",
            },
            "pools": {"train": {"gpu": {"model": "H100-SXM5-80GB", "per_host": 8}, "onprem": {"group": "train"}}},
            "targets": {"onprem": {"inventory": "inventory.yml"}},
        }
    )
    pool = site.run("lock", "--json", seconds=500).body["pools"]["train"]
    assert pool["driver"].startswith("580.")
    from_nvidia = {row["name"]: row["version"] for row in pool["packages"] if row["source"] == "nvidia"}
    assert from_nvidia["nvidia-fabricmanager"].startswith(pool["driver"])
    assert {"cuda-toolkit-13-0", "nvidia-container-toolkit"} <= set(from_nvidia)
    assert any(name.startswith("datacenter-gpu-manager-4") for name in from_nvidia)
    assert json.loads(site.run("lock", "--check", "--json", seconds=500).stdout)["fresh"] is True
