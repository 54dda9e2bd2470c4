"""The probe on a host with a real GPU; read-only. And real output against the forms that the lab's stand-ins print."""

import json
import re
import subprocess
from collections.abc import Callable

import pytest

from gpuprov.catalog.find import gpu_by_name
from gpuprov.document.snapshot_text import read_snapshot
from gpuprov.model.fact import Known, Unknown, Value
from gpuprov.model.snapshot import Snapshot
from tests.live.forms import form, pattern
from tests.live.settings import needed
from tests.live.site import LiveSite

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
DRIVER_FACTS = ("stack.driver.on_disk", "stack.driver.loaded", "stack.driver.nvml", "stack.driver.modules")


@pytest.fixture(scope="module")
def host() -> str:
    return needed("GPUPROV_LIVE_GPU_HOST")


@pytest.fixture(scope="module")
def empty_site(host: str, tmp_path_factory: pytest.TempPathFactory) -> LiveSite:
    """A folder without a spec, with a snapshot of the host in it."""
    site = LiveSite(folder=tmp_path_factory.mktemp("gpu"))
    site.run("snapshot", host, "--out", "seen.json", "--full", "--record", "seen.yaml", seconds=120)
    return site


@pytest.fixture(scope="module")
def snapshot(empty_site: LiveSite) -> Snapshot:
    file = empty_site.folder / "seen.json"
    return read_snapshot(file.read_text(encoding="utf-8"), str(file))


@pytest.fixture(scope="module")
def said(host: str) -> Callable[[str], str]:
    """Runs a command on the host; returns its standard output."""

    def run(command: str) -> str:
        argv = ["ssh", "-o", "BatchMode=yes", host, command]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


def known(snapshot: Snapshot, address: str) -> Value:
    """The value of a fact, which must be known."""
    observation = snapshot.observe(address)
    assert isinstance(observation, Known), f"{address}: {observation}"
    return observation.value


def test_the_driver_is_known_in_all_its_places(snapshot: Snapshot) -> None:
    found = {address: known(snapshot, address) for address in DRIVER_FACTS}
    assert all(re.fullmatch(r"\d{3}(\.\d+)+", str(found[address])) for address in DRIVER_FACTS[:3]), found
    assert found["stack.driver.loaded"] == found["stack.driver.nvml"]
    assert found["stack.driver.modules"] in {"open", "proprietary"}


def test_the_gpus_are_known_and_in_the_catalog(snapshot: Snapshot) -> None:
    models = known(snapshot, "gpu.models")
    assert isinstance(models, list)
    assert models
    assert len(models) == known(snapshot, "gpu.count"), "NVML names fewer GPUs than the bus holds, or more"
    unknown = sorted({str(name) for name in models if gpu_by_name(str(name)) is None})
    assert not unknown, f"the catalog (gpus.json) has no row for these NVML names: {unknown}"


def test_every_fact_could_be_looked_at(snapshot: Snapshot) -> None:
    """Nothing about the GPU stack may be unknown: there is a reason then, and it is a fault of the collector."""
    unclear = {
        address: fact.observation
        for address, fact in snapshot.facts.items()
        if address.startswith(("gpu.", "stack.")) and isinstance(fact.observation, Unknown)
    }
    assert not unclear


def test_a_recording_gives_the_same_facts_without_the_host(empty_site: LiveSite, snapshot: Snapshot) -> None:
    empty_site.run("snapshot", "--replay", "seen.yaml", "--out", "again.json")
    file = empty_site.folder / "again.json"
    again = read_snapshot(file.read_text(encoding="utf-8"), str(file))
    assert {a: f.observation for a, f in again.facts.items()} == {a: f.observation for a, f in snapshot.facts.items()}


@pytest.mark.parametrize("against", ["itself", "its snapshot"])
def test_a_host_is_in_parity_with_itself(empty_site: LiveSite, host: str, against: str) -> None:
    other = f"host:{host}" if against == "itself" else "./seen.json"
    ended = empty_site.run("parity", f"host:{host}", other, "--json", expect=None)
    assert ended.status == 0, ended.stdout + ended.stderr
    assert json.loads(ended.stdout)


def test_nvidia_smi_lists_gpus_as_recorded(said: Callable[[str], str]) -> None:
    lines = said("nvidia-smi -L").splitlines()
    wanted = pattern(form("nvidia-smi", "nvidia-smi.list").rstrip("\n"))
    assert lines
    # A MIG device stands indented below its GPU.
    assert [line for line in lines if not line.startswith(" ") and not wanted.fullmatch(line)] == []


@pytest.mark.parametrize(
    ("identity", "command"),
    [("nvidia-smi.table-head", "nvidia-smi"), ("nvidia-smi.query", "nvidia-smi -q")],
)
def test_nvidia_smi_begins_as_recorded(said: Callable[[str], str], identity: str, command: str) -> None:
    text = said(command)
    assert pattern(form("nvidia-smi", identity).rstrip("\n")).match(text), text[:2000]


def test_nvidia_smi_gives_the_recorded_columns(said: Callable[[str], str], snapshot: Snapshot) -> None:
    fields = form("nvidia-smi", "nvidia-smi.csv").splitlines()[0]
    names = ",".join(field.partition(" [")[0] for field in fields.split(", "))
    first, *rows = said(f"nvidia-smi --query-gpu={names} --format=csv").splitlines()
    assert first == fields
    assert len(rows) == known(snapshot, "gpu.count")
    assert {len(row.split(", ")) for row in rows} == {len(fields.split(", "))}


def test_the_loaded_module_tells_its_flavour_as_recorded(said: Callable[[str], str], snapshot: Snapshot) -> None:
    first = said("cat /proc/driver/nvidia/version").splitlines()[0]
    flavour = known(snapshot, "stack.driver.modules")
    wanted = form("kernel", f"proc-version.{flavour}").splitlines()[0]
    assert pattern(wanted).fullmatch(first), first
    other = form("kernel", f"proc-version.{'proprietary' if flavour == 'open' else 'open'}").splitlines()[0]
    assert not pattern(other).fullmatch(first), first
