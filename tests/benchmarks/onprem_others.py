"""What people would use in place of `gpuprov up`, made equal to it: the same packages, files and services."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from measure import Command

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet, open_fleet
from gpuprov.app.site import open_lock, open_site
from gpuprov.converge.inventory import inventory, to_yaml
from gpuprov.converge.locate import find_playbooks
from gpuprov.converge.types import RunDocuments
from gpuprov.converge.variables import document_variables, host_variables
from gpuprov.plan.removal import Removal

_APT = """\
set -e
mkdir -p /etc/apt/keyrings
printf '%s' {key} > /etc/apt/keyrings/vendor.asc
cat > /etc/apt/sources.list.d/vendor.sources <<END
Types: deb
URIs: {url}
Suites: ./
Signed-By: /etc/apt/keyrings/vendor.asc
END
apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends -o Dpkg::Use-Pty=0 {packages}
# gpuprov writes the source itself, with the lock's key: one repository must not have two.
rm /etc/apt/sources.list.d/vendor.sources
"""
_DEPLOY = """\
import json
from io import StringIO
from pathlib import Path
from pyinfra import host
from pyinfra.operations import apt, files, systemd

want = json.loads((Path(__file__).parent / "wants.json").read_text())[host.name]["pool"]
apt.packages(packages=[f"{p['name']}={p['version']}" for p in want["packages"]], no_recommends=True, _sudo=True)
for file in want["files"]:
    if file["merge"] == "replace":
        files.put(src=StringIO(file["text"]), dest=file["path"], mode=file["mode"].lstrip("0"), user=file["owner"],
                  group=file["group"], _sudo=True)
for source in want["sources"]:
    for path, text in ((source["path"], source["text"]), (source["key_path"], source["key_text"])):
        files.put(src=StringIO(text), dest=path, mode="644", _sudo=True)
for unit in want["services"]:
    systemd.service(service=f"{unit['name']}.service", running=unit["active"], enabled=unit["enabled"], _sudo=True)
"""


def locked_packages(folder: Path) -> list[dict[str, str]]:
    """The packages of the train pool's lock."""
    lock = json.loads((folder / "gpuprov.lock").read_text(encoding="utf-8"))
    return list(lock["body"]["pools"]["train"]["packages"])


def bare_apt(folder: Path, host: str, rows: list[dict[str, str]]) -> Command:
    """`apt-get update` and `apt-get install` of the same versions from the same sources, over ssh."""
    description = json.loads((folder / "lab.json").read_text(encoding="utf-8"))
    script = _APT.format(
        key=shlex.quote((folder / "keys" / "vendor.asc").read_text(encoding="ascii")),
        url=f"http://{description['router']}:{description['repository_port']}/",
        packages=shlex.join(f"{row['name']}={row['version']}" for row in rows),
    )
    argv = ("ssh", "-F", str(folder / "ssh_config"), host, f"sudo sh -c {shlex.quote(script)}")
    return Command(argv=argv, folder=folder)


def same_roles(folder: Path) -> Command:
    """ansible-playbook of gpuprov's own play, with the variables that `up` would give it."""
    site, fleet = _opened(folder)
    hosts = fleet.hosts
    when = "2026-11-30T00:00:00Z"
    variables = {host.name: host_variables(fleet.wants[host.name], Removal(), when=when) for host in hosts}
    lock = (folder / "gpuprov.lock").read_text(encoding="utf-8")
    shared = document_variables(RunDocuments(spec=site.text, lock=lock))
    place = folder / "same-roles.yml"
    place.write_text(to_yaml(inventory(hosts, variables, shared)) + "\n", encoding="utf-8")
    playbooks = find_playbooks()
    argv = (str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(place), "site.yml")
    more = {"ANSIBLE_CONFIG": str(playbooks / "ansible.cfg"), "ANSIBLE_FORKS": "32", "LC_ALL": "C.UTF-8"}
    return Command(argv=argv, folder=playbooks, more=more)


def same_by_pyinfra(folder: Path) -> Command | str:
    """Pyinfra with operations for the same packages, files and services, from an environment of its own.

    Returns:
        The command, or why there is none.
    """
    environment = folder / "pyinfra"
    python = environment / "bin" / "python"
    for argv in (
        (sys.executable, "-m", "venv", str(environment)),
        (str(python), "-m", "pip", "install", "-q", "pyinfra>=3,<4"),
    ):
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            return (done.stderr or done.stdout).strip().splitlines()[-1]
    _, fleet = _opened(folder)
    rows = [(host.name, _pyinfra_data(host.connection)) for host in fleet.hosts]
    (environment / "inventory.py").write_text(f"hosts = {rows!r}\n", encoding="utf-8")
    wants = {name: asdict(want) for name, want in fleet.wants.items()}
    (environment / "wants.json").write_text(json.dumps(wants, default=str), encoding="utf-8")
    (environment / "deploy.py").write_text(_DEPLOY, encoding="utf-8")
    argv = (str(environment / "bin" / "pyinfra"), "-y", "inventory.py", "deploy.py")
    return Command(argv=argv, folder=environment, more={"PATH": os.environ["PATH"]})


def _pyinfra_data(connection: Any) -> dict[str, Any]:
    return {
        "ssh_hostname": connection.address,
        "ssh_user": connection.user,
        "ssh_key": connection.key_file,
        "ssh_known_hosts_file": connection.known_hosts[0],
        "ssh_look_for_keys": False,
    }


def _opened(folder: Path) -> tuple[Any, Fleet]:
    site = open_site(folder / "gpuprov.yaml")
    lock, _ = open_lock(site)
    return site, open_fleet(site, lock, Access())
