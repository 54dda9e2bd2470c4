"""A spec folder for live checks, and gpuprov run in it."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuprov.catalog.find import instance as instance_row
from tests.e2e.site import GPUPROV, Ended
from tests.live.vendor import vendor_key, vendor_url

HOST = "live-a"
"""The one cloud host."""
OS = "debian-12"
STACK = {"fabric": "none", "container": {"engine": "docker"}, "packages": ["awscli"]}
"""Only packages of Debian, so that no check of AWS fails for what NVIDIA's repository does. awscli tries the role."""
NVIDIA_STACK = {
    **STACK,
    "driver": {"version": "580.*", "modules": "open", "source": "nvidia"},
    "container": {"engine": "docker", "toolkit": "1.18.*"},
}
_SECONDS = 3000.0


@dataclass(frozen=True, kw_only=True)
class LiveSite:
    """A folder with a spec."""

    folder: Path

    def write(self, spec: Mapping[str, Any]) -> None:
        """Write the spec; JSON is YAML."""
        (self.folder / "gpuprov.yaml").write_text(json.dumps(spec, indent=1), encoding="utf-8")

    @property
    def spec(self) -> dict[str, Any]:
        """The spec as it was written."""
        found: dict[str, Any] = json.loads((self.folder / "gpuprov.yaml").read_text(encoding="utf-8"))
        return found

    def start(self, *argv: str) -> subprocess.Popen[str]:
        """Start gpuprov and do not wait."""
        return subprocess.Popen(
            [str(GPUPROV), *argv], cwd=self.folder, env=dict(os.environ), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *argv: str, expect: int | None = 0, seconds: float = _SECONDS) -> Ended:
        """Run gpuprov; its status must be `expect` (None: any)."""
        process = self.start(*argv)
        stdout, stderr = process.communicate(timeout=seconds)
        ended = Ended(status=process.returncode, stdout=stdout, stderr=stderr)
        assert expect in {None, ended.status}, f"gpuprov {' '.join(argv)}: {ended.status}\n{stdout}\n{stderr}"
        return ended

    def up(self, *argv: str) -> Any:
        """`up` in the cloud without a question; returns its JSON."""
        return self.run("up", "--target", "cloud", "--yes", "--json", *argv).body

    def on_host(self, command: str, *, expect: int | None = 0) -> Ended:
        """Run a shell command on the cloud host, as its login user, by `gpuprov ssh`."""
        return self.run("ssh", HOST, "--", command, expect=expect)


def make_cloud_site(
    folder: Path, *, name: str, account: str, region: str, profile: str, gpu_type: str, here: str
) -> LiveSite:
    """Write a spec of one GPU instance with a bucket and a volume, and a login key of its own; lock it.

    Args:
        folder: an empty one.
        name: of the spec.
        account: number.
        region: where.
        profile: whose credentials.
        gpu_type: instance type, which the catalog knows.
        here: this machine's address as AWS sees it; nobody else may log in.
    """
    row = instance_row(gpu_type)
    assert row is not None, gpu_type
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / "key")], check=True)
    site = LiveSite(folder=folder)
    site.write(
        {
            "apiVersion": "gpuprov/v1",
            "name": name,
            "os": OS,
            "stack": STACK,
            "pools": {
                "train": {
                    "gpu": {"model": row.gpu, "per_host": row.gpus},
                    "cloud": {"instance": gpu_type, "hosts": [HOST], "root": 40},
                }
            },
            "storage": {
                "datasets": {"kind": "object", "prefixes": ["runs/"]},
                "scratch": {"kind": "volume", "size": "4GiB"},
            },
            "targets": {
                "cloud": {
                    "account": account,
                    "region": region,
                    "profile": profile,
                    "network": {"cidr": "10.77.0.0/16", "ranges": {"here": [f"{here}/32"]}, "ssh_from": ["here"]},
                    "login_keys": ["key.pub"],
                    "image": {"builder": "c7i.large"},
                }
            },
        }
    )
    site.run("lock")
    return site


def add_nvidia(site: LiveSite) -> None:
    """Let the spec ask for NVIDIA's driver and container toolkit, from NVIDIA's own repository; lock it."""
    key = site.folder / "keys" / "nvidia.pub"
    key.parent.mkdir(exist_ok=True)
    key.write_bytes(vendor_key(OS, site.folder / ".cache"))
    source = {"type": "apt", "url": vendor_url(OS), "flat": True, "key": "keys/nvidia.pub"}
    site.write(site.spec | {"sources": {"nvidia": source}, "stack": NVIDIA_STACK})
    site.run("lock")
