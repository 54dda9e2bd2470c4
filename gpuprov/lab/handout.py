"""The files of a lab that a person works with: keys, known hosts, ssh configuration, inventory, a spec."""

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from gpuprov.lab.command import failure, run
from gpuprov.lab.description import CloudDescription, LabDescription

KEY = "id_ed25519"
"""The login key's file name."""
ENVIRONMENT = "aws.env"
"""The file with what AWS's and Pulumi's own tools read, for `. ./aws.env`."""
_CLOUD_KNOWN_HOSTS = ".gpuprov/cloud/known_hosts"
"""Where gpuprov keeps the host keys of instances, beside the spec."""
_STORAGE = {"datasets": {"kind": "object"}, "scratch": {"kind": "volume", "size": "20GiB"}}
"""What the spec keeps in the cloud: a bucket, and a disk on each of its hosts."""
_SECRET = (KEY, f"{KEY}.pub", "known_hosts", "ssh_config", "lab.json", ENVIRONMENT)
"""What is worth nothing, or is dangerous, without the lab."""


def make_keys(description: LabDescription, folder: Path, workshop: Path) -> dict[str, tuple[str, str]]:
    """Make the login key and each node's host key.

    Args:
        description: the lab.
        folder: where the login key goes.
        workshop: a folder for the nodes' keys until they are on the nodes' disks.

    Returns:
        Node name -> private and public host key.
    """
    _make_key(folder / KEY, comment=f"gpuprov lab {description.id}")
    keys: dict[str, tuple[str, str]] = {}
    for node in description.nodes:
        place = workshop / f"host-key-{node.name}"
        _make_key(place, comment=f"root@{node.name}")
        keys[node.name] = (place.read_text(encoding="ascii"), place.with_suffix(".pub").read_text(encoding="ascii"))
        place.unlink()
        place.with_suffix(".pub").unlink()
    return keys


def write_files(description: LabDescription, folder: Path, host_keys: dict[str, tuple[str, str]]) -> None:
    """Write everything that a person needs; a changed spec of an earlier lab is kept beside as gpuprov.yaml~."""
    known = "".join(
        f"{node.name},{node.address} {' '.join(host_keys[node.name][1].split()[:2])}\n" for node in description.nodes
    )
    _write(folder / "known_hosts", known)
    _write(folder / "ssh_config", ssh_config(description, folder))
    _write(folder / "inventory" / "site.yml", _yaml(inventory(description, folder)))
    spec = _yaml(spec_document(description))
    place = folder / "gpuprov.yaml"
    if place.exists() and place.read_text(encoding="utf-8") != spec:
        place.replace(place.with_name("gpuprov.yaml~"))
    _write(place, spec)
    if description.cloud is not None:
        _write(folder / ENVIRONMENT, aws_environment(description.id, description.cloud))
    _write(folder / "lab.json", json.dumps(asdict(description), indent=1) + "\n")


def write_vendor_key(folder: Path, key: str) -> None:
    """Write the armoured public key that signs the lab's packages, where the spec names it."""
    _write(folder / "keys" / "vendor.asc", key)


def remove_secrets(folder: Path) -> None:
    """Remove keys and what belongs to them; the spec and what was made from it stay."""
    for name in _SECRET:
        (folder / name).unlink(missing_ok=True)


def check_folder(description: LabDescription, folder: Path) -> None:
    """Refuse a folder whose name cannot stand in an ssh configuration, or that holds another lab's keys.

    Raises:
        GpuprovError: the folder will not do.
    """
    if any(letter.isspace() or letter in "\"'%\\" for letter in str(folder)):
        raise failure(
            f"the folder's name {str(folder)!r} has a letter that ssh's configuration cannot hold",
            hint="choose a folder without blanks, quotes and percent signs",
        )
    holder = folder / "lab.json"
    if holder.exists():
        other = json.loads(holder.read_text(encoding="utf-8"))["id"]
        if other != description.id:
            raise failure(
                f"the folder {folder} belongs to the lab {other}", hint="take that lab down, or choose another folder"
            )


def ssh_config(description: LabDescription, folder: Path) -> str:
    """Return the configuration for `ssh -F`: strict about keys, deaf to the person's own settings."""
    blocks = [
        f"Host {node.name}\n  HostName {node.address}\n  HostKeyAlias {node.name}\n  User {node.user}\n"
        for node in description.nodes
    ]
    if description.cloud is not None:
        blocks.append(_instances_block(description.cloud, folder))
    everyone = (
        f"Host *\n  IdentityFile {folder / KEY}\n  IdentitiesOnly yes\n  IdentityAgent none\n"
        f"  UserKnownHostsFile {folder / 'known_hosts'}\n  GlobalKnownHostsFile /dev/null\n"
        "  StrictHostKeyChecking yes\n  BatchMode yes\n"
    )
    return "\n".join([*blocks, everyone])


def _instances_block(cloud: CloudDescription, folder: Path) -> str:
    """Return the part for instances, by address: gpuprov has read their host keys from their consoles."""
    public = str(cloud.public_network[0]).removesuffix("0")
    return f"Host {public}*\n  User admin\n  UserKnownHostsFile {folder / _CLOUD_KNOWN_HOSTS}\n"


def aws_environment(lab_id: str, cloud: CloudDescription) -> str:
    """Return what makes this lab the account of AWS's and Pulumi's own tools, as lines for a shell."""
    # Keys of an account are 20 letters and 40; the lab's API checks them only where a test asks for it.
    values = {
        "AWS_ENDPOINT_URL": cloud.endpoint,
        "AWS_ACCESS_KEY_ID": f"AKIALAB{lab_id.upper():0>13}",
        "AWS_SECRET_ACCESS_KEY": f"lab-{lab_id}".ljust(40, "x"),
        "AWS_REGION": cloud.region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "PULUMI_DEBUG_PROVIDERS": f"aws:{cloud.plugin_port}",
    }
    return "".join(f"export {name}={value}\n" for name, value in values.items())


def inventory(description: LabDescription, folder: Path) -> dict[str, Any]:
    """Return the Ansible inventory: one group per pool."""
    common = f"-o UserKnownHostsFile={shlex.quote(str(folder / 'known_hosts'))}"
    groups: dict[str, Any] = {}
    for node in description.nodes:
        hosts = groups.setdefault(node.group, {"hosts": {}})["hosts"]
        hosts[node.name] = {"ansible_host": node.address, "ansible_user": node.user}
    shared = {"ansible_ssh_private_key_file": str(folder / KEY), "ansible_ssh_common_args": common}
    return {"all": {"vars": shared, "children": groups}}


def spec_document(description: LabDescription) -> dict[str, Any]:
    """Return a spec that fits the lab, in the form of the spec's version 1."""
    cloud = description.cloud
    return {
        "apiVersion": "gpuprov/v1",
        "name": f"lab-{description.id}",
        "os": description.nodes[0].os,
        "sources": {
            "nvidia": {"type": "apt", "url": description.repository_url, "flat": True, "key": "keys/vendor.asc"},
        },
        "stack": {
            "driver": {"version": _Quoted(f"{description.driver_branch}.*"), "modules": "open", "source": "nvidia"},
            "cuda": _Quoted(description.cuda),
            "container": {"engine": "docker", "toolkit": _Quoted("1.18.*")},
            "fabric": "auto",
            "dcgm": _Quoted("4.*"),
            "packages": [],
        },
        "pools": _pools(description),
        "monitoring": {"exporters": ["node", "dcgm"]},
        **({} if cloud is None else {"storage": _STORAGE}),
        "targets": {
            "onprem": {"inventory": "inventory/site.yml"},
            **({} if cloud is None else {"cloud": _cloud_target(cloud, description.host)}),
        },
    }


def _cloud_target(cloud: CloudDescription, host: str) -> dict[str, Any]:
    """Return the target cloud: the lab's account, open to this machine as the instances see it."""
    return {
        "account": _Quoted(cloud.account),
        "region": cloud.region,
        "network": {"cidr": cloud.cidr, "ranges": {"lab": [f"{host}/32"]}, "ssh_from": ["lab"]},
        "login_keys": [f"{KEY}.pub"],
    }


def _pools(description: LabDescription) -> dict[str, Any]:
    """Return one pool for each inventory group."""
    pools: dict[str, Any] = {}
    cloud = description.cloud
    for node in description.nodes:
        shared = {"onprem": {"group": node.group}, "rollout": {"batch": _Quoted("100%")}}
        if node.gpu is None:
            pools.setdefault(node.group, {"gpu": "none", **shared})
        else:
            gpu = {"model": node.gpu.model, "per_host": node.gpu.count}
            made = {} if cloud is None else {"cloud": {"instance": cloud.instance, "hosts": list(cloud.hosts)}}
            pools.setdefault(node.group, {"gpu": gpu, **shared, **made, "verify": ["nvidia-smi -L"]})
    return pools


class _Quoted(str):
    """Text that a person would quote, because it looks like a number: a version, an account."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes what is to be quoted in double quotes, and equal parts out in full, as a person would."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (the base class's signature)
        """Never write an alias."""
        return True


_Dumper.add_representer(
    _Quoted, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')
)


def _yaml(document: dict[str, Any]) -> str:
    """Return a document as YAML in the order it was made."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def _make_key(place: Path, *, comment: str) -> None:
    """Make an ed25519 key pair without a passphrase, in place of an older one."""
    place.unlink(missing_ok=True)
    place.with_suffix(".pub").unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(place)])


def _write(place: Path, text: str) -> None:
    """Write a file whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{place.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(place)
