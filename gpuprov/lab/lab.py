"""The lab's life: up, down, status; everything that it makes carries the lab's id."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpuprov.lab import handout, removal
from gpuprov.lab.aws import services
from gpuprov.lab.aws.base import ensure_cloud_base
from gpuprov.lab.base import ensure_base
from gpuprov.lab.command import failure, require_programs
from gpuprov.lab.description import LabDescription, NodeDescription
from gpuprov.lab.making import make_network, make_nodes
from gpuprov.lab.names import ID_PATTERN, LabNames
from gpuprov.lab.node import Node, answers
from gpuprov.lab.record import LabRecord, exclusive, read_record, write_record
from gpuprov.lab.state import LabState, LabStatus, Leftovers, NodeStatus, Power
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report

_WORKERS = 16


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
    if description.cloud is not None:
        services.require_libraries()
    folder = folder.absolute()
    with exclusive(description.id):
        _clear_the_way(description, report)
        handout.check_folder(description, folder)
        bases = {os: ensure_base(os, report) for os in sorted({node.os for node in description.nodes})}
        if description.cloud is not None:
            # Its server takes it from the cache, and would not want to build it when an instance is asked for.
            ensure_cloud_base(description.nodes[0].os, report)
        write_record(LabRecord(phase="making", folder=folder, description=description))
        try:
            description = make_network(description, folder, report)
            make_nodes(description, folder, bases, report)
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
        repository=answers(description.router, description.repository_port),
        folder=record.folder,
        cloud=services.observe(record),
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


def _observe(record: LabRecord, description: NodeDescription) -> NodeStatus:
    """Observe one node."""
    way_in = Node(lab=record.description, description=description, folder=record.folder)
    made = LabNames(record.description.id).node_folder(description.name).exists()
    power = Power.MISSING if not made else Power.ON if way_in.leader() is not None else Power.OFF
    ssh = power is Power.ON and way_in.ssh_answers()
    return NodeStatus(name=description.name, address=description.address, power=power, ssh=ssh)


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
