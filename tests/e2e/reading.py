"""A host read over ssh by testinfra, held against the texts of spec and lock: nothing here is shared with the probe."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import testinfra
import yaml

from tests.e2e.site import LabSite

UNITS = {
    "containerd": "containerd",
    "docker.io": "docker",
    "nvidia-persistenced": "nvidia-persistenced",
    "nvidia-fabricmanager": "nvidia-fabricmanager",
    "datacenter-gpu-manager-4-core": "nvidia-dcgm",
    "datacenter-gpu-manager-exporter": "nvidia-dcgm-exporter",
    "prometheus-node-exporter": "prometheus-node-exporter",
}
"""Package -> the unit that it brings, as `dpkg -L` shows them in Debian's and NVIDIA's packages (2026-11-30)."""
ON_GPUS = ("nvidia-persistenced", "nvidia-fabricmanager", "nvidia-dcgm", "nvidia-dcgm-exporter")
PORTS = {"node": 9100, "dcgm": 9400}
"""Where exporters answer (their own READMEs, 2026-11-30)."""


def differences(site: LabSite, name: str) -> list[str]:
    """What on a host is not as spec and lock say, in words; empty where all is."""
    spec = yaml.safe_load((site.folder / "gpuprov.yaml").read_text(encoding="utf-8"))
    lock = json.loads((site.folder / "gpuprov.lock").read_text(encoding="utf-8"))["body"]
    group = next(node.group for node in site.lab.description.nodes if node.name == name)
    ((pool, row),) = [(key, row) for key, row in spec["pools"].items() if row["onprem"]["group"] == group]
    with reached(site, name) as host:
        return [
            *packages(host, lock["pools"][pool]["packages"]),
            *driver(host, lock["pools"][pool]["driver"] if row["gpu"] != "none" else ""),
            *units(host, {locked["name"] for locked in lock["pools"][pool]["packages"]}, gpus=row["gpu"] != "none"),
            *ports(host, spec.get("monitoring", {}).get("exporters", []), gpus=row["gpu"] != "none"),
            *files(host, spec, lock),
            *people(host, spec.get("access", {}).get("groups", {})),
            *mounts(host, spec.get("storage", {})),
            *settings(host, spec.get("tuning", {})),
        ]


@contextmanager
def reached(site: LabSite, name: str) -> Iterator[Any]:
    """A host of testinfra's, by the lab's own ssh configuration; all commands share one connection."""
    with tempfile.TemporaryDirectory() as folder:
        socket = f"{folder}/s"
        host = testinfra.get_host(
            f"ssh://{name}", ssh_config=str(site.folder / "ssh_config"), sudo=True, controlpath=socket
        )
        yield host
        testinfra.get_host("local://").run("ssh -F %s -S %s -O exit %s", str(site.folder / "ssh_config"), socket, name)


def packages(host: Any, locked: list[dict[str, Any]]) -> Iterator[str]:
    held = set(host.check_output("apt-mark showhold").split())
    asked = "dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\\n'"
    rows = [line.split() for line in host.check_output(asked).splitlines() if line.startswith("installed ")]
    installed = {name: version for _, name, version in rows}
    for row in locked:
        version = installed.get(row["name"], "not installed")
        if version != row["version"]:
            yield f"{row['name']} is {version}, the lock says {row['version']}"
        if row["name"] not in held:
            yield f"{row['name']} is not held"


def driver(host: Any, version: str) -> Iterator[str]:
    module = host.file("/sys/module/nvidia/version")
    loaded = module.content_string.strip() if module.exists else ""
    if loaded != version:
        yield f"the driver {loaded or 'of none'} is loaded, the lock says {version or 'none'}"


def units(host: Any, locked: set[str], *, gpus: bool) -> Iterator[str]:
    for package, unit in UNITS.items():
        if package in locked and (gpus or unit not in ON_GPUS):
            service = host.service(unit)
            if not (service.is_running and service.is_enabled):
                yield f"{unit} runs: {service.is_running}, is enabled: {service.is_enabled}"


def ports(host: Any, exporters: list[str], *, gpus: bool) -> Iterator[str]:
    there = {socket.rpartition(":")[2] for socket in host.socket.get_listening_sockets() if socket.startswith("tcp")}
    for exporter in exporters:
        wanted = gpus or exporter != "dcgm"
        if (str(PORTS[exporter]) in there) is not wanted:
            yield f"port {PORTS[exporter]} of the exporter {exporter} is {'closed' if wanted else 'open'}"


def files(host: Any, spec: dict[str, Any], lock: dict[str, Any]) -> Iterator[str]:
    for path, row in spec.get("files", {}).items():
        found = host.file(path)
        if not found.exists or found.content_string != row["text"] or found.mode != int(row.get("mode", "0644"), 8):
            yield f"{path} is not as the spec says"
    for source in lock["sources"]:
        if (
            source["on_host"]
            and source["key_text"] not in host.file(f"/etc/apt/keyrings/gpuprov-{source['name']}.asc").content_string
        ):
            yield f"the key of {source['name']} is not the lock's"
        if (
            source["on_host"]
            and source["url"]
            not in host.file(f"/etc/apt/sources.list.d/gpuprov-{source['name']}.sources").content_string
        ):
            yield f"the source {source['name']} is not the lock's"
    if "container" in spec["stack"]:
        runtimes = json.loads(host.file("/etc/docker/daemon.json").content_string).get("runtimes", {})
        if "nvidia" not in runtimes:
            yield f"docker's runtimes are {sorted(runtimes)}"


def people(host: Any, groups: dict[str, Any]) -> Iterator[str]:
    for name, row in groups.items():
        if host.group(name).gid != row["gid"]:
            yield f"the group {name} has the id {host.group(name).gid}, the spec says {row['gid']}"
        for member in row["members"]:
            user = host.user(member["name"])
            if not user.exists or name not in user.groups:
                yield f"{member['name']} is not in {name}"
                continue
            keys = host.file(f"/etc/ssh/gpuprov/{member['name']}").content_string
            yield from (f"a key of {member['name']} is missing" for key in member["keys"] if key not in keys)
            may = host.check_output("sudo -l -U %s", member["name"])
            yield from (f"{member['name']} may not {what}" for what in row.get("sudo", []) if what not in may)


def mounts(host: Any, storage: dict[str, Any]) -> Iterator[str]:
    for name, row in storage.items():
        if row["kind"] == "local":
            found = host.mount_point(row["mount"])
            filesystem = found.filesystem if found.exists else "not mounted"
            if filesystem != row.get("filesystem", "ext4"):
                yield f"{name} at {row['mount']} is {filesystem}"


def settings(host: Any, tuning: dict[str, Any]) -> Iterator[str]:
    for name, value in tuning.get("sysctl", {}).items():
        if str(host.sysctl(name)) != value:
            yield f"{name} is {host.sysctl(name)}, the spec says {value}"
    limits = host.file("/etc/security/limits.d/99-gpuprov.conf")
    for name, value in tuning.get("limits", {}).items():
        if not limits.exists or f"{name} {value}" not in " ".join(limits.content_string.split()):
            yield f"the limit {name} is not {value}"
