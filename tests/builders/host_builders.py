"""Small worlds for tests: a lock, a spec, a host as it should be, and a host on which a plan is carried out."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from settled_builders import ACCESS, FAMILIES, TUNING, settle, ssh_changes, started, untouched, value_seen, written

from gpuprov.lock.kernel import kernel_names
from gpuprov.lock.pool_input import Request
from gpuprov.lock.types import Lock, LockedPool, LockedSource
from gpuprov.model.address import member_address, split_address
from gpuprov.model.change import Action, Change, HostPlan
from gpuprov.model.fact import Absent, Fact, Known, Observation, Unknown
from gpuprov.model.package import PackageRow
from gpuprov.model.snapshot import Snapshot
from gpuprov.spec.rollout import RolloutSpec
from gpuprov.spec.stack import ContainerSpec, DriverSpec, StackSpec
from gpuprov.spec.types import FileSpec, GpuSpec, PoolSpec, Spec
from gpuprov.want.cdi import CDI_STATE, CDI_UNIT
from gpuprov.want.components import Components, UnitRow
from gpuprov.want.expectations import expectations
from gpuprov.want.files import DAEMON_PATH, merge_json, source_paths
from gpuprov.want.host import host_want
from gpuprov.want.kernel import NEXT, RELEASE
from gpuprov.want.merged import without_ours
from gpuprov.want.owned import PENDING, owned_of
from gpuprov.want.pool import pool_want
from gpuprov.want.types import HostWant, Owned, PoolWant

VERSIONS = {
    "nvidia-driver-cuda": "580.95.05-1",
    "nvidia-kernel-open-dkms": "580.95.05-1",
    "libcuda1": "580.95.05-1",
    "nvidia-fabricmanager": "580.95.05-1",
    "cuda-toolkit-13-0": "13.0.2-1",
    "docker.io": "20.10.24+dfsg1-1+b3",
    "nvidia-container-toolkit": "1.18.0-1",
    "datacenter-gpu-manager-exporter": "4.8.2-1",
    "prometheus-node-exporter": "1.5.0-1+b6",
}
COMPONENTS = Components(
    units=(
        UnitRow(name="docker", packages=("docker.io", "docker-ce")),
        UnitRow(name="nvidia-fabricmanager", packages=("nvidia-fabricmanager",), gpu=True),
        UnitRow(name="nvidia-dcgm-exporter", packages=("datacenter-gpu-manager-exporter",), gpu=True, exporter="dcgm"),
        UnitRow(name="prometheus-node-exporter", packages=("prometheus-node-exporter",), exporter="node"),
    ),
    nvml_names={"H100-SXM5-80GB": ("NVIDIA H100 80GB HBM3",)},
)


def make_lock(versions: Mapping[str, str] = VERSIONS, driver: str = "580.95.05", kernel: str = "") -> Lock:
    """A lock with one pool, `train`; packages named nvidia*, libcuda*, cuda* and dcgm come from the source nvidia."""
    versions = {**versions, **dict.fromkeys(kernel_names(kernel), "6.1.140-1")}
    rows = tuple(
        PackageRow(
            name=name,
            version=version,
            arch="amd64",
            source="os" if name.startswith(("docker", "prometheus", "linux")) else "nvidia",
            sha256=hashlib.sha256(f"{name}={version}".encode()).hexdigest(),
        )
        for name, version in sorted(versions.items())
    )
    sources = (
        LockedSource(
            name="nvidia",
            url="http://repo.example/nvidia",
            suite="./",
            components=(),
            fingerprints=("A" * 40,),
            on_host=True,
            key_text="-----BEGIN PGP PUBLIC KEY BLOCK-----\n",
        ),
        LockedSource(
            name="os", url="http://repo.example/os", suite="x", components=("main",), fingerprints=(), on_host=False
        ),
    )
    asked = (Request(name=row.name, constraint="", source="", address="stack") for row in rows)
    pool = LockedPool(
        pool="train",
        os="debian-12",
        arch="amd64",
        requests=tuple(request for request in asked if not request.name.startswith("linux")),
        packages=rows,
        bounds=(),
        driver=driver,
        kernel=kernel,
    )
    return Lock(
        spec_inputs="s", catalog_inputs={"gpus.X": "c"}, sources=sources, pools={"train": pool}, digest="sha256:lock"
    )


def make_pool(*, gpus: bool = True, driver: bool = True) -> PoolSpec:
    """The pool `train`: eight H100s, or none."""
    return PoolSpec(
        name="train",
        os="debian-12",
        gpu=GpuSpec(model="H100-SXM5-80GB", per_host=8) if gpus else None,
        onprem=None,
        rollout=RolloutSpec(),
        stack=StackSpec(
            driver=DriverSpec(version="580.*") if driver else None,
            container=ContainerSpec(toolkit="1.18.*"),
        ),
        verify=("nvidia-smi -L",),
    )


def make_spec(
    pool: PoolSpec, files: Mapping[str, str] | None = None, exporters: tuple[str, ...] = ("node", "dcgm")
) -> Spec:
    """A spec around one pool."""
    texts = {"/etc/motd": "GPU host\n"} if files is None else files
    return Spec(
        path="gpuprov.yaml",
        name="train",
        os="debian-12",
        sources={},
        stack=pool.stack,
        pools={pool.name: pool},
        files=tuple(FileSpec(path=path, text=text) for path, text in texts.items()),
        exporters=exporters,
        verify=("nvidia-smi -L",),
        inventory=None,
        pin="owned",
        waivers=(),
        digest="sha256:spec",
    )


def make_want(
    versions: Mapping[str, str] = VERSIONS,
    *,
    gpus: bool = True,
    files: Mapping[str, str] | None = None,
    driver: str = "580.95.05",
    host: str = "node-1",
    kernel: str = "",
    settled: bool = False,
) -> HostWant:
    """The want of one host of the pool `train`; `settled` with accounts and settings."""
    pool = make_pool(gpus=gpus, driver=bool(driver))
    spec = make_spec(pool, files)
    spec = replace(spec, access=ACCESS, tuning=TUNING) if settled else spec
    want = pool_want(make_lock(versions, driver, kernel), spec, pool, "onprem", components=COMPONENTS)
    return host_want(want, host)


def observation(value: Any) -> Observation:
    """Read an observation of a case: null is absent, {unknown: reason} unknown, anything else known."""
    if value is None:
        return Absent()
    if isinstance(value, dict) and set(value) == {"unknown"}:
        return Unknown(value["unknown"])
    return Known(value)


def make_snapshot(
    facts: Mapping[str, Any], host: str = "node-1", families: Mapping[str, Any] | None = None
) -> Snapshot:
    """A snapshot of plain values; members of families without a fact are absent unless said otherwise."""
    usual = ("package", "file", "service", "exporter", *FAMILIES)
    missing = dict.fromkeys(usual, None) if families is None else families
    return Snapshot(
        host=host,
        taken="2026-11-30T00:00:00Z",
        facts={a: Fact(address=a, observation=observation(v)) for a, v in facts.items()},
        families={family: observation(value) for family, value in missing.items()},
    )


def edit(snapshot: Snapshot, edits: Mapping[str, Observation]) -> Snapshot:
    """The snapshot with other observations at some addresses."""
    facts = {**snapshot.facts, **{a: Fact(address=a, observation=o) for a, o in edits.items()}}
    return replace(snapshot, facts=facts)


def owned_value(pool: PoolWant) -> dict[str, Any]:
    """The record that gpuprov leaves on a host after it brought it to a want."""
    digests = {file.path: sha256(file.text) for file in pool.files}
    for source in pool.sources:
        digests |= {source.path: sha256(source.text), source.key_path: sha256(source.key_text)}
    shared = {file.path for file in pool.files if file.merge.value == "json"}
    return {
        "packages": {package.name: package.version for package in pool.packages},
        "files": {path: digest for path, digest in digests.items() if path not in shared},
        "sources": [source.name for source in pool.sources],
        "want": pool.digest,
        "brought": sorted(package.name for package in pool.packages if not package.needed),
        "merged": {file.path: {"ours": file.text, "before": "{}"} for file in pool.files if file.path in shared},
    }


def sha256(text: str) -> str:
    """Hex digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def satisfied(want: HostWant, *, owned: bool = True) -> Snapshot:
    """A host as the want says, with a foreign key in the engine's configuration and foreign packages."""
    facts: dict[str, Any] = {"host.boot_id": "boot-1", "host.name": want.host, 'package["bash"].version': "5.2-1"}
    facts["host.nouveau"] = False
    for expectation in expectations(want, Owned()):
        assert isinstance(expectation.value, Known)
        facts[expectation.address] = value_seen(expectation)
    for file in want.pool.files:
        address = member_address("file", file.path, "text")
        facts[address] = merge_json('{"data-root": "/data"}', file.text) if address in facts else file.text
    if want.pool.gpu is not None:
        facts["gpu.models"] = [want.pool.gpu.nvml_names[0]] * want.pool.gpu.count
    facts["gpuprov.owned"] = owned_value(want.pool) if owned else None
    return make_snapshot(facts, want.host)


def fresh(want: HostWant) -> Snapshot:
    """A host on which nothing was done yet; it has its GPUs."""
    facts: dict[str, Any] = {
        "host.boot_id": "boot-1",
        "host.name": want.host,
        "host.os": want.pool.os,
        "host.arch": want.pool.arch,
        "host.nouveau": False,
        "apt.dpkg": "ok",
        "stack.driver.on_disk": None,
        "stack.driver.loaded": None,
        "stack.driver.nvml": None,
        "stack.driver.modules": None,
        "stack.container.runtimes": None,
        "stack.cdi.state": None,
        "gpu.models": None,
        "gpuprov.owned": None,
        **untouched(want.pool),
    }
    if want.pool.gpu is not None:
        facts["gpu.count"] = want.pool.gpu.count
    return make_snapshot(facts, want.host)


class FakeHost:
    """A host in memory on which the changes of a plan do what they do on a real one."""

    def __init__(self, snapshot: Snapshot, want: HostWant) -> None:
        self.want = want
        self.snapshot = snapshot
        self.seen: dict[str, Observation] = {a: fact.observation for a, fact in snapshot.facts.items()}

    def carry_out(self, plan: HostPlan) -> Snapshot:
        """Make every change, in order."""
        for change in plan.changes:
            self._make(change)
        return edit(self.snapshot, self.seen)

    def _make(self, change: Change) -> None:
        name = change.subject
        if ssh_changes(change, self.seen):
            return
        match change.action:
            case Action.INSTALL | Action.UPGRADE | Action.DOWNGRADE:
                self._install(name, change.after)
            case Action.REPAIR:
                self._repair(name)
            case Action.REMOVE:
                self._all("package", name, Absent())
            case Action.DELETE:
                self._all("file", name, Absent())
            case Action.HOLD | Action.RELEASE:
                self._set("package", name, "held", Known(change.action is Action.HOLD))
            case Action.WRITE:
                self._write(name)
            case Action.TAKE_BACK:
                self._take_back(name)
            case Action.ADD | Action.JOIN | Action.LEAVE | Action.LOCK | Action.UNLOCK | Action.SET | Action.RESTORE:
                settle(change, self.seen, self.want.pool)
            case _:
                self._run(change.action, name)

    def _run(self, action: Action, name: str) -> None:
        match action:
            case Action.ENABLE:
                self._set("service", name, "enabled", Known("enabled"))
            case Action.START | Action.RESTART:
                self._start(name)
            case Action.LOAD:
                self._load()
            case Action.BOOT:
                self.seen[NEXT] = Known(name)
            case Action.REBOOT:
                self._reboot()
                self.seen[RELEASE] = self.seen.get(NEXT, Absent())
            case _:
                raise AssertionError(action)

    def _set(self, family: str, member: str, leaf: str, value: Observation) -> None:
        self.seen[member_address(family, member, leaf)] = value

    def _all(self, family: str, member: str, value: Observation) -> None:
        for address in list(self.seen):
            parts = split_address(address)
            if parts is not None and parts[:2] == (family, member):
                self.seen[address] = value

    def _install(self, name: str, version: str) -> None:
        for leaf, value in (("version", version), ("state", "installed"), ("held", True)):
            self._set("package", name, leaf, Known(value))
        if version.startswith(self.want.pool.on_disk or "none"):
            self._driver_on_disk()

    def _driver_on_disk(self) -> None:
        self.seen["stack.driver.on_disk"] = Known(self.want.pool.on_disk)
        if self.want.pool.driver is not None and isinstance(self.seen.get("stack.driver.loaded"), Absent):
            self.seen["stack.driver.modules"] = Known(self.want.pool.driver.modules)
        if self.seen.get("stack.driver.loaded") == Known(self.want.pool.on_disk):
            self._libraries_fit()

    def _libraries_fit(self) -> None:
        gpu = self.want.pool.gpu
        self.seen["stack.driver.nvml"] = self.seen["stack.driver.loaded"]
        if gpu is not None:
            first = self.snapshot.observe("gpu.models")  # no change makes other GPUs
            self.seen["gpu.models"] = first if isinstance(first, Known) else Known([gpu.nvml_names[0]])

    def _repair(self, name: str) -> None:
        if name == "initramfs":
            self.seen[PENDING] = Absent()
            return
        if name == "dpkg":
            self.seen["apt.dpkg"] = Known("ok")
        for address, seen in list(self.seen.items()):
            parts = split_address(address)
            state = parts is not None and parts[0] == "package" and parts[2] == "state" and isinstance(seen, Known)
            if state and (name == "dpkg" or parts[1] == name):
                self.seen[address] = Known("installed")
        driver = {p.name for p in self.want.pool.packages if p.version.startswith(self.want.pool.on_disk or "none")}
        if driver and name in {"dpkg", *driver}:
            self._driver_on_disk()

    def _write(self, path: str) -> None:
        pool = self.want.pool
        texts = {file.path: file for file in pool.files}
        keys = {p: text for s in pool.sources for p, text in ((s.path, s.text), (s.key_path, s.key_text))}
        file = texts.get(path)
        if file is not None and file.merge.value == "json":
            address = member_address("file", path, "text")
            now = self.seen.get(address)
            present = str(now.value) if isinstance(now, Known) else ""
            self.seen[address] = Known(merge_json(present, file.text))
            if self.seen.get(member_address("service", "docker", "active")) != Known("active"):
                self._read_runtimes()  # of an engine that does not run, its file is looked at
            return
        text, mode = (keys[path], "0644") if file is None else (file.text, file.mode)
        for leaf, value in (
            ("sha256", sha256(text)),
            ("text", text),
            ("mode", mode),
            ("owner", "root"),
            ("group", "root"),
        ):
            self._set("file", path, leaf, Known(value))
        written(path, self.seen, pool)

    def _take_back(self, path: str) -> None:
        address = member_address("file", path, "text")
        owned, now = owned_of(self.snapshot), self.seen[address]
        assert isinstance(owned, Owned)
        assert isinstance(now, Known)
        self.seen[address] = Known(without_ours(str(now.value), owned.merged[path]))

    def _start(self, name: str) -> None:
        self._set("service", name, "active", Known("active"))
        started(name, self.seen, self.want.pool)
        if name == "docker":
            self._read_runtimes()
        if name == CDI_UNIT:
            self.seen[CDI_STATE] = Known("current")
        exporter = next((s.exporter for s in self.want.pool.services if s.name == name), "")
        if exporter:
            self._set("exporter", exporter, "answers", Known(True))

    def _read_runtimes(self) -> None:
        """What an engine reads when it starts; one whose file is no JSON object does not start."""
        now = self.seen.get(member_address("file", DAEMON_PATH, "text"), Absent())
        if isinstance(now, Unknown):
            return
        try:
            data = json.loads(str(now.value)) if isinstance(now, Known) else {}
        except ValueError:
            return
        if isinstance(data, dict):
            self.seen["stack.container.runtimes"] = Known(sorted(data.get("runtimes", {})))

    def _load(self) -> None:
        if self.seen.get("host.nouveau") == Known(value=True):
            return  # it holds the GPUs
        self.seen["stack.driver.loaded"] = self.seen["stack.driver.on_disk"]
        if self.want.pool.driver is not None:
            self.seen["stack.driver.modules"] = Known(self.want.pool.driver.modules)
        self._libraries_fit()

    def _reboot(self) -> None:
        self.seen["host.boot_id"] = Known("boot-2")
        self.seen["host.nouveau"] = Known(value=False)
        self._load()
        for service in self.want.pool.services:
            if self.seen.get(member_address("service", service.name, "enabled")) == Known("enabled"):
                self._start(service.name)


__all__ = ["COMPONENTS", "VERSIONS", "FakeHost", "source_paths"]
