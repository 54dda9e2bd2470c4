"""Labs for people and for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from gpuprov.lab.state import CloudStatus, LabState, LabStatus
from gpuprov.render.terminal import Terminal


def show_lab(lab: LabState, terminal: Terminal) -> None:
    """Print a lab that is up, and what to type next."""
    description = lab.description
    terminal.out.print(
        f"lab {lab.id} (seed {description.seed}), {description.subnet}, packages at {description.repository_url}"
    )
    for node in description.nodes:
        gpus = f"{node.gpu.count} x {node.gpu.nvml_name} (simulated)" if node.gpu else "no GPU"
        terminal.out.print(f"  {node.name:16} {node.address:15} {node.os}  {node.group:6} {gpus}")
    cloud = description.cloud
    if cloud is not None:
        terminal.out.print(
            f"AWS account {cloud.account} (simulated), {cloud.region}, at {cloud.endpoint}; "
            f"to make there: {', '.join(cloud.hosts)} ({cloud.instance})"
        )
    terminal.out.print(
        f"spec, inventory and keys are in {_short(lab.folder)}; go on there with `gpuprov preview --target onprem`"
    )
    if cloud is not None:
        terminal.out.print("for the cloud `. ./aws.env` first, then `gpuprov preview --target cloud`")


def show_labs(labs: Sequence[LabStatus], terminal: Terminal) -> None:
    """Print the labs of this machine."""
    if not labs:
        terminal.out.print("no lab on this machine")
    for lab in labs:
        repository = "answers" if lab.repository else "does not answer"
        terminal.out.print(f"lab {lab.id}: {lab.phase}; package repository {repository}")
        for node in lab.nodes:
            terminal.out.print(
                f"  {node.name:16} {node.address:15} {node.power}, ssh {'answers' if node.ssh else 'silent'}"
            )
        if lab.cloud is not None:
            _show_cloud(lab.cloud, terminal)


def _show_cloud(cloud: CloudStatus, terminal: Terminal) -> None:
    """Print a lab's cloud and its instances."""
    api, plugin = ("answers" if there else "does not answer" for there in (cloud.api, cloud.plugin))
    terminal.out.print(
        f"  AWS account {cloud.account}, {cloud.region}, {cloud.endpoint}: API {api}, resource plugin {plugin}"
    )
    for instance in cloud.instances:
        address = instance.public_address or instance.private_address
        terminal.out.print(f"  {instance.id:20} {address:15} {instance.power}")


def lab_body(lab: LabState | LabStatus) -> dict[str, object]:
    """A lab as JSON."""
    if isinstance(lab, LabState):
        return {
            "id": lab.id,
            "seed": lab.description.seed,
            "folder": str(lab.folder),
            "repository": lab.description.repository_url,
            "nodes": [
                {"name": n.name, "address": n.address, "os": n.os, "group": n.group} for n in lab.description.nodes
            ],
            "cloud": asdict(lab.description.cloud) if lab.description.cloud is not None else None,
        }
    return {
        "id": lab.id,
        "phase": lab.phase,
        "repository": lab.repository,
        "folder": str(lab.folder) if lab.folder else None,
        "nodes": [{"name": n.name, "address": n.address, "power": str(n.power), "ssh": n.ssh} for n in lab.nodes],
        "cloud": asdict(lab.cloud) if lab.cloud is not None else None,
    }


def _short(folder: Path) -> str:
    try:
        return str(folder.relative_to(Path.cwd()))
    except ValueError:
        return str(folder)
