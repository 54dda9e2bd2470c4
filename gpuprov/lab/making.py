"""Makes the parts of a lab, in an order in which each finds what it needs."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv4Network
from pathlib import Path

from gpuprov.lab import cgroup, disk, handout, network
from gpuprov.lab.aws import services
from gpuprov.lab.command import failure
from gpuprov.lab.description import LabDescription, NodeDescription
from gpuprov.lab.names import ID_PATTERN, NETNS_FOLDER, ROOT, LabNames
from gpuprov.lab.node import Node, answers, start_service
from gpuprov.lab.record import LabRecord, read_record, write_record
from gpuprov.lab.seed import move, move_cloud
from gpuprov.lab.settings import machine_lock, raise_settings
from gpuprov.lab.vendor.hardware import hardware_files
from gpuprov.lab.vendor.repository import VendorRepository, build
from gpuprov.model.progress import Progress, Report

_WORKERS = 16
_SERVER_SECONDS = 60.0
_RANGES = 50


def make_network(description: LabDescription, folder: Path, report: Report) -> LabDescription:
    """Find free address ranges and ports and make the router; return the lab with them."""
    raise_settings(description.id)
    with machine_lock():
        found = _free_range(description)
        if found.subnet != description.subnet:
            text = f"the range {description.subnet} is in use on this machine; taking {found.subnet}"
            report(Progress(phase="lab up", subject=description.id, text=text))
        found = _free_cloud(found)
        write_record(LabRecord(phase="making", folder=folder, description=found))
        network.make_router(found)
    return found


def _free_range(description: LabDescription) -> LabDescription:
    """Return the lab with the first address range that this machine does not use.

    Raises:
        GpuprovError: none of many is free.
    """
    tried = description
    for attempt in range(1, _RANGES + 1):
        user = network.used_by(tried.network)
        if user is None:
            return tried
        tried = move(description, attempt)
    raise failure(
        f"none of {_RANGES} private address ranges is free on this machine",
        detail=f"{description.subnet} is used by {network.used_by(description.network)}",
        hint="look at: ip route show table all",
        address=f"lab {description.id}",
    )


def _free_cloud(description: LabDescription) -> LabDescription:
    """Return the lab with the first ranges and ports of its cloud that this machine does not use.

    Raises:
        GpuprovError: none of many are free.
    """
    taken = _ports_of_others(description.id)
    tried, users = description, ["nothing"]
    for attempt in range(1, _RANGES + 1):
        users = _cloud_users(tried, taken)
        if not users:
            return tried
        tried = move_cloud(description, attempt)
    raise failure(
        f"none of {_RANGES} choices of address ranges and ports for the lab's cloud is free on this machine",
        detail="\n".join(users),
        hint="look at: ip route show table all; ss -ltn",
        address=f"lab {description.id}",
    )


def _cloud_users(description: LabDescription, taken: set[int]) -> list[str]:
    """Return what uses a part of what the lab's cloud would have."""
    cloud = description.cloud
    if cloud is None:
        return []
    users = [
        f"{text} overlaps the lab's own range"
        for text in (cloud.cidr,)
        if IPv4Network(text).overlaps(description.network)
    ]
    for text in (cloud.cidr, cloud.public_range):
        user = network.used_by(IPv4Network(text))
        users += [f"{text} is used by {user}"] if user is not None else []
    ports = (cloud.api_port, cloud.plugin_port)
    return users + [f"port {port} is in use" for port in ports if port in taken or not services.free_port(port)]


def _ports_of_others(lab_id: str) -> set[int]:
    """Return the ports of the other labs' clouds: those of a lab that is being made are not open yet."""
    others = [place.name for place in ROOT.iterdir() if ID_PATTERN.fullmatch(place.name) and place.name != lab_id]
    clouds = [record.description.cloud for record in map(read_record, others) if record is not None]
    return {port for cloud in clouds if cloud is not None for port in (cloud.api_port, cloud.plugin_port)}


def make_nodes(description: LabDescription, folder: Path, bases: dict[str, Path], report: Report) -> None:
    """Make keys, nodes and package repository; wait until each node lets a person in."""
    names = LabNames(description.id)
    cgroup.create(names.supervisors_cgroup)
    if description.cloud is not None:
        services.start_services(description)
    with ThreadPoolExecutor(_WORKERS) as workers:
        try:
            report(Progress(phase="lab up", subject=description.id, text="keys, package repository and nodes"))
            packages = workers.submit(build, names.repository, driver_releases=description.driver_releases)
            keys = workers.submit(handout.make_keys, description, folder, names.folder)
            host_keys = keys.result()
            handout.write_files(description, folder, host_keys)
            make = partial(_make_node, description, folder, bases, host_keys)
            for done, node in enumerate(workers.map(make, range(len(description.nodes))), start=1):
                _report_node(node, done, len(description.nodes), report)
            _serve_packages(description, folder, packages.result())
            if description.cloud is not None:
                services.wait_services(description)
                text = f"AWS account {description.cloud.account} ({description.cloud.region}) answers"
                report(Progress(phase="lab up", subject=description.id, text=text))
        except BaseException:
            # The workers wait for nodes, and see that these are gone.
            workers.shutdown(wait=False, cancel_futures=True)
            cgroup.kill(names.cgroup)
            raise


def _make_node(
    description: LabDescription, folder: Path, bases: dict[str, Path], host_keys: dict[str, tuple[str, str]], place: int
) -> NodeDescription:
    """Make the node at this place of the description, and wait until it lets a person in."""
    node = description.nodes[place]
    network.make_node_link(description, place)
    public = (folder / f"{handout.KEY}.pub").read_text(encoding="ascii")
    _make_disk(description, node, bases[node.os], host_keys[node.name], public)
    way_in = Node(lab=description, description=node, folder=folder)
    way_in.start()
    way_in.wait_ssh()
    return node


def _report_node(node: NodeDescription, done: int, total: int, report: Report) -> None:
    """Report that a node is ready."""
    gpu = f"{node.gpu.count} x {node.gpu.nvml_name}" if node.gpu else "no GPU"
    text = f"{node.name} ({node.address}, {gpu}) lets you in"
    report(Progress(phase="lab up", subject=node.name, text=text, done=done, total=total, finished=True))


def _make_disk(
    description: LabDescription, node: NodeDescription, base: Path, host_key: tuple[str, str], public: str
) -> None:
    """Make a node's disk with everything that must be there before its first boot."""
    root = disk.make_disk(description, node, base)
    disk.write_files(root, disk.identity_files(description, node))
    disk.write_files(
        root,
        {
            "/etc/ssh/ssh_host_ed25519_key": (host_key[0].encode(), 0o600),
            "/etc/ssh/ssh_host_ed25519_key.pub": (host_key[1].encode(), 0o644),
        },
    )
    disk.add_user(root, node, public)
    disk.write_files(root, hardware_files(node.gpu))
    disk.finish_boot_setup(root)


def _serve_packages(description: LabDescription, folder: Path, packages: VendorRepository) -> None:
    """Serve the vendor's package repository on the router, and give its key to the person."""
    names = LabNames(description.id)
    handout.write_vendor_key(folder, packages.key.read_text(encoding="ascii"))
    start_service(
        [
            "nsenter",
            f"--net={NETNS_FOLDER / names.router_namespace}",
            sys.executable,
            "-m",
            "gpuprov.lab.serve",
            description.id,
            str(names.repository),
            description.router,
            str(description.repository_port),
        ],
        log=names.folder / "repository.log",
    )
    deadline = time.monotonic() + _SERVER_SECONDS
    while not answers(description.router, description.repository_port):
        if time.monotonic() > deadline:
            log = (names.folder / "repository.log").read_text(encoding="utf-8", errors="replace")
            raise failure("the package repository does not answer", detail=log[-2000:])
        time.sleep(0.05)
