"""The lab's life: up, down, status; everything that it makes carries the lab's id."""

import os
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from gpuprov.lab import cgroup, disk, handout, network, removal
from gpuprov.lab.base import ensure_base
from gpuprov.lab.command import failure, require_programs
from gpuprov.lab.description import LabDescription, NodeDescription
from gpuprov.lab.names import ID_PATTERN, NETNS_FOLDER, LabNames
from gpuprov.lab.node import Node, start_service
from gpuprov.lab.record import LabRecord, exclusive, read_record, write_record
from gpuprov.lab.seed import move
from gpuprov.lab.settings import machine_lock, raise_settings
from gpuprov.lab.state import LabState, LabStatus, Leftovers, NodeStatus, Power
from gpuprov.lab.vendor.hardware import hardware_files
from gpuprov.lab.vendor.repository import VendorRepository, build
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report

_WORKERS = 16
_SERVER_SECONDS = 20.0
_RANGES = 50


def up(description: LabDescription, folder: Path, report: Report) -> LabState:
    """Bring a lab up and write what a person needs into `folder`.

    The lab's address range is another one than drawn where the machine uses that already: go by the returned state.
    Leftovers of a killed lab with this id are removed first. When anything fails, or the person interrupts, what was
    made is removed again.

    Args:
        description: the lab, as `seed.draw` gives it.
        folder: for keys, inventory, ssh_config, known_hosts and a spec; made when it is missing.
        report: where progress goes.

    Raises:
        GpuprovError: no root (GP-LAB-001), or the lab cannot be built (GP-LAB-002).
    """
    _check_id(description.id)
    _require_root()
    require_programs()
    folder = folder.absolute()
    with exclusive(description.id):
        _clear_the_way(description, report)
        handout.check_folder(description, folder)
        bases = {os: ensure_base(os, report) for os in sorted({node.os for node in description.nodes})}
        write_record(LabRecord(phase="making", folder=folder, description=description))
        try:
            description = _make_network(description, folder, report)
            _make(description, folder, bases, report)
        except BaseException:
            removal.remove(description.id, report)
            handout.remove_secrets(folder)
            raise
        write_record(LabRecord(phase="up", folder=folder, description=description))
    return LabState(description=description, folder=folder)


def down(lab_id: str, report: Report) -> Leftovers:
    """Remove a lab, also a half made or half removed one; doing it again does nothing.

    Returns:
        What was found and removed; `empty` when there was nothing.

    Raises:
        GpuprovError: no root (GP-LAB-001), or something resists (GP-LAB-002).
    """
    _check_id(lab_id)
    _require_root()
    with exclusive(lab_id):
        record = read_record(lab_id)
        if record is not None:
            write_record(LabRecord(phase="removing", folder=record.folder, description=record.description))
        found = removal.remove(lab_id, report)
        if record is not None:
            handout.remove_secrets(record.folder)
    return found


def status(lab_id: str) -> LabStatus:
    """Observe a lab.

    Raises:
        GpuprovError: there is no such lab (GP-LAB-003).
    """
    _check_id(lab_id)
    record = read_record(lab_id)
    if record is None:
        if removal.find(lab_id).empty:
            raise _no_such_lab(lab_id)
        return LabStatus(id=lab_id, phase="making", nodes=(), repository=False, folder=None)
    description = record.description
    with ThreadPoolExecutor(_WORKERS) as workers:
        nodes = tuple(workers.map(lambda node: _observe(record, node), description.nodes))
    return LabStatus(
        id=lab_id,
        phase=record.phase,
        nodes=nodes,
        repository=_answers(description.router, description.repository_port),
        folder=record.folder,
    )


def list_labs() -> tuple[str, ...]:
    """Return the ids of all labs on this machine, leftovers of killed ones included."""
    return removal.find_all()


def leftovers(lab_id: str) -> Leftovers:
    """Find everything on the machine that carries the lab's id."""
    return removal.find(lab_id)


def node(lab_id: str, name: str) -> Node:
    """Return the way into a node.

    Raises:
        GpuprovError: there is no such lab or node (GP-LAB-003).
    """
    _check_id(lab_id)
    record = read_record(lab_id)
    if record is None:
        raise _no_such_lab(lab_id)
    try:
        description = record.description.node(name)
    except KeyError as error:
        names = ", ".join(node.name for node in record.description.nodes)
        raise _no_such_lab(lab_id, f"the lab {lab_id} has no node {name!r}; it has {names}") from error
    return Node(lab=record.description, description=description, folder=record.folder)


def _clear_the_way(description: LabDescription, report: Report) -> None:
    """Remove leftovers of a lab with this id; refuse when it is up."""
    record = read_record(description.id)
    if record is not None and record.phase == "up" and removal.find(description.id).processes:
        raise failure(
            f"the lab {description.id} is up already",
            hint=f"its files are in {record.folder}; take it down first, or choose another seed",
            address=f"lab {description.id}",
        )
    if not removal.find(description.id).empty:
        report(Progress(phase="lab up", subject=description.id, text="removing what a killed lab left behind"))
        removal.remove(description.id, report)


def _make_network(description: LabDescription, folder: Path, report: Report) -> LabDescription:
    """Find a free address range and make the router in it; return the lab with that range."""
    raise_settings(description.id)
    with machine_lock():
        found = _free_range(description)
        if found.subnet != description.subnet:
            text = f"the range {description.subnet} is in use on this machine; taking {found.subnet}"
            report(Progress(phase="lab up", subject=description.id, text=text))
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


def _make(description: LabDescription, folder: Path, bases: dict[str, Path], report: Report) -> None:
    """Make everything of a lab and wait until each node lets a person in."""
    names = LabNames(description.id)
    cgroup.create(names.supervisors_cgroup)
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
    while not _answers(description.router, description.repository_port):
        if time.monotonic() > deadline:
            log = (names.folder / "repository.log").read_text(encoding="utf-8", errors="replace")
            raise failure("the package repository does not answer", detail=log[-2000:])
        time.sleep(0.05)


def _observe(record: LabRecord, description: NodeDescription) -> NodeStatus:
    """Observe one node."""
    way_in = Node(lab=record.description, description=description, folder=record.folder)
    made = LabNames(record.description.id).node_folder(description.name).exists()
    power = Power.MISSING if not made else Power.ON if way_in.leader() is not None else Power.OFF
    ssh = power is Power.ON and way_in.ssh_answers()
    return NodeStatus(name=description.name, address=description.address, power=power, ssh=ssh)


def _answers(address: str, port: int) -> bool:
    """Whether something listens at an address."""
    try:
        with socket.create_connection((address, port), timeout=1):
            return True
    except OSError:
        return False


def _check_id(lab_id: str) -> None:
    """Refuse what cannot be a lab's id (GP-RUN-004)."""
    if ID_PATTERN.fullmatch(lab_id) is None:
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                summary=f"{lab_id!r} cannot be a lab's id",
                detail="It becomes part of the names of network links, which are short.",
                hint="use one to six lower case letters and digits",
                address="lab",
            )
        )


def _require_root() -> None:
    """Refuse to go on without root."""
    if os.geteuid() != 0:
        raise GpuprovError(
            Diagnostic(
                code="GP-LAB-001",
                summary="the lab needs root: it makes namespaces, mounts and control groups",
                hint="run the same command with sudo",
                address="lab",
            )
        )


def _no_such_lab(lab_id: str, summary: str = "") -> GpuprovError:
    """Make the error of a lab or node that is not there."""
    known = ", ".join(list_labs()) or "none"
    return GpuprovError(
        Diagnostic(
            code="GP-LAB-003",
            summary=summary or f"there is no lab {lab_id}",
            hint=f"labs on this machine: {known}",
            address="lab",
        )
    )
