"""The closed test: apt, asked for every locked row by version, plans these rows and no other of the vendor."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuprov.lab.vendor.repository import VendorRepository, build
from gpuprov.lock.make import LockInputs, make_lock
from gpuprov.lock.pool_input import EqualSet, PoolInput, Request
from gpuprov.lock.types import Lock
from gpuprov.sources.definition import SourceDefinition, locked
from gpuprov.sources.index import open_index
from gpuprov.sources.os_source import os_sources

ASKED = {
    "nvidia-open": "580.*",
    "nvidia-fabricmanager": "",
    "cuda-toolkit-13-0": "13.0.*",
    "nvidia-container-toolkit": "1.18.*",
    "datacenter-gpu-manager-4-cuda13": "4.*",
    "docker.io": "",
    "prometheus-node-exporter": "",
}
DRIVER = EqualSet(label="driver", driver=True, names=frozenset({"nvidia-open", "nvidia-fabricmanager"}))


def _os_name() -> str:
    machine = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return f"{machine['ID']}-{machine['VERSION_ID'].strip(chr(34))}"


def _make(repository: VendorRepository, cache: Path) -> Lock:
    vendor = SourceDefinition(
        name="nvidia",
        url=repository.folder.as_uri(),
        suite="/",
        components=(),
        keys=repository.key.read_bytes(),
        on_host=True,
    )
    sources = [vendor, *os_sources(_os_name())]
    requests = tuple(Request(name=n, constraint=c, source="", address=n) for n, c in ASKED.items())
    pool = PoolInput(pool="train", os=_os_name(), arch="amd64", requests=requests, equal=(DRIVER,))
    with open_index(sources, arch="amd64", cache=cache, now=datetime.now(UTC)) as index:
        lock = make_lock(
            LockInputs(
                spec_inputs="",
                catalog_inputs={},
                pin="owned",
                sources=tuple(locked(source) for source in sources),
                pools=(pool,),
                indexes={(_os_name(), "amd64"): index},
            )
        )
    assert isinstance(lock, Lock), lock
    return lock


def _apt(root: Path, *words: str) -> str:
    options = {
        "Dir::Etc::SourceParts": f"{root}/sources",
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::State": str(root),
        "Dir::State::status": f"{root}/status",
        "Dir::Cache": f"{root}/cache",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
    }
    argv = ["apt-get", *(word for name, value in options.items() for word in ("-o", f"{name}={value}")), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=240).stdout


@pytest.mark.network
@pytest.mark.timeout(400)
def test_apt_plans_the_locked_rows_and_no_other_of_the_vendor(tmp_path: Path) -> None:
    repository = build(tmp_path / "vendor")
    lock = _make(repository, tmp_path / "gpuprov")
    root = tmp_path / "apt"
    for folder in ("sources", "lists/partial", "cache/archives/partial"):
        (root / folder).mkdir(parents=True)
    (root / "status").touch()
    for path in Path("/etc/apt/sources.list.d").glob("*.sources"):
        (root / "sources" / path.name).write_text(path.read_text())
    (root / "sources/vendor.sources").write_text(
        f"Types: deb\nURIs: {repository.folder.as_uri()}\nSuites: /\nSigned-By: {repository.key}\n"
    )
    _apt(root, "update")
    rows = {row.name: row.version for row in lock.pools["train"].packages}
    text = _apt(root, "-s", "install", "--no-install-recommends", *(f"{n}={v}" for n, v in rows.items()))
    plan = {line.split()[1]: line.split()[2].lstrip("(") for line in text.splitlines() if line.startswith("Inst ")}
    assert {name: plan.get(name) for name in rows} == rows
    vendors = {row.name for row in repository.rows}
    assert sorted(name for name in plan if name in vendors and name not in rows) == []
    assert {row.version for row in lock.pools["train"].packages if "nvidia-fabric" in row.name} == {
        f"{lock.pools['train'].driver}-1"
    }
