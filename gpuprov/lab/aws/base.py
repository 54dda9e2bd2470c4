"""The system of the OS vendor's machine image: the lab's base with cloud-init, set up as on EC2."""

import hashlib
import json
import shutil
from pathlib import Path

from gpuprov.lab.archive import read_archive
from gpuprov.lab.aws.nodes import USER
from gpuprov.lab.base import BuildStep, cache_folder, chroot_argv, ensure_base, exclusive_build, remove_identity
from gpuprov.model.progress import Report

RECIPE = 1
"""Raise it when a base must be built anew for a reason that the recipe's other parts do not show."""
PACKAGES = ("cloud-init",)
_CONFIGURATION_PLACE = "etc/cloud/cloud.cfg.d/99-lab.cfg"
CONFIGURATION = f"""\
# The lab: where an instance is, and what cannot work in a container.
datasource_list: [ Ec2, None ]
datasource:
  Ec2:
    metadata_urls: [ "http://169.254.169.254" ]
    strict_id: false
    timeout: 3
    max_wait: 20
    apply_full_imds_network_config: false
network: {{config: disabled}}
# The package locales is missing, and without this cloud-init ends with an error (22.4.2, tried 2026-11-30).
locale: false
# Two kinds of host keys: the others take seconds to make.
ssh_genkeytypes: [ ed25519, ecdsa ]
# EC2's name server knows the instance's own name; the lab has none.
manage_etc_hosts: true
# The base's own sources are those of this machine's mirror.
apt: {{preserve_sources_list: true}}
growpart: {{mode: "off"}}
resize_rootfs: false
# As Debian's images on EC2 have it.
system_info:
  default_user:
    name: {USER}
    gecos: Debian
    lock_passwd: true
    shell: /bin/bash
    sudo: [ "ALL=(ALL) NOPASSWD:ALL" ]
"""


def ensure_cloud_base(node_os: str, report: Report) -> Path:
    """Return the cloud base of an OS, building it when the cache does not hold it.

    Args:
        node_os: the OS id, for example "debian-12".
        report: where progress goes; a build takes about a minute, and the base's own when that is missing too.

    Raises:
        GpuprovError: it cannot be built; nothing half built is left under its name.
    """
    base = ensure_base(node_os, report)
    place = cache_folder() / f"cloud-{base.name.removeprefix('base-')}-{recipe_digest()}"
    if place.is_dir():
        return place
    with exclusive_build(place):
        if not place.is_dir():
            _build(node_os, base, place, report)
    return place


def recipe_digest() -> str:
    """Return the short digest of all that a cloud base adds to a base."""
    return hashlib.sha256(json.dumps([RECIPE, PACKAGES, CONFIGURATION]).encode()).hexdigest()[:8]


def _build(node_os: str, base: Path, place: Path, report: Report) -> None:
    """Build a cloud base beside its place and rename it when it is whole."""
    building = place.with_name(f".{place.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    step = BuildStep(archive=read_archive(node_os), report=report)
    step.run(["cp", "--archive", "--reflink=auto", str(base), str(building)])
    shutil.copy("/etc/resolv.conf", building / "etc/resolv.conf")
    inside = chroot_argv(building)
    step.run([*inside, "apt-get", "update"])
    step.run([*inside, "apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES])
    step.run([*inside, "apt-get", "clean"])
    configuration = building / _CONFIGURATION_PLACE
    configuration.write_text(CONFIGURATION, encoding="utf-8")
    configuration.chmod(0o644)
    remove_identity(building)
    building.rename(place)
