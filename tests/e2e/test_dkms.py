"""The vendor's real driver, from the OS archive, built by DKMS on a host without GPUs: nothing here is a stand-in."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuprov.lab.archive import read_archive
from tests.e2e.site import LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.network, pytest.mark.slow, pytest.mark.matrix, pytest.mark.timeout(3000)]

BUILD_SECONDS = 2400
"""A DKMS build took 220 s on two cores that nothing else used (lab-facts.md); other labs may run beside this one."""
SPEC = """\
apiVersion: gpuprov/v1
name: dkms
os: {os}
sources:
  os:
    type: apt
    url: "{url}"
    suite: {suite}
    components: [main, contrib, non-free, non-free-firmware]
    key: {key}
stack:
  driver: {{version: "535.*", modules: proprietary, source: os}}
  packages: [linux-image-cloud-amd64, linux-headers-cloud-amd64]
pools:
  cpu: {{gpu: none, onprem: {{group: cpu}}, verify: ["/sbin/modinfo --version"]}}
targets: {{onprem: {{inventory: inventory/site.yml}}}}
"""


@pytest.fixture(scope="module")
def dkms(fresh_lab: Callable[..., LabSite]) -> LabSite:
    """One host without GPUs, and a spec that takes the driver from the archive that this machine's apt uses."""
    site = fresh_lab("dkms", train=0, cpu=1)
    archive = read_archive(site.lab.description.nodes[0].os)
    key = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    text = SPEC.format(os=archive.os, url=archive.main_uri, suite=archive.codename, key=key)
    (site.folder / "gpuprov.yaml").write_text(text, encoding="utf-8")
    site.run("lock")
    return site


def test_the_real_driver_is_built_by_dkms_for_the_archives_kernel(dkms: LabSite) -> None:
    name = dkms.names[0]
    locked = json.loads((dkms.folder / "gpuprov.lock").read_text(encoding="utf-8"))["body"]["pools"]["cpu"]["driver"]
    assert re.fullmatch(r"535\.\d+(\.\d+)?", locked)
    first = dkms.up(seconds=BUILD_SECONDS)
    assert touched(first) == {name: "changed"}
    assert not first.body["hosts"][0]["rebooted"], "nothing is loaded without GPUs, so nothing needs a reboot"

    built = dkms.root(name, "dkms status")
    assert re.search(rf"nvidia\S*/{re.escape(locked)}, \S+, \S+: installed", built), built
    kernels = dkms.root(name, "ls /lib/modules").split()
    running = dkms.root(name, "uname -r").strip()
    assert running not in kernels, "the node's kernel is the machine's, so the module is for the kernel of the archive"
    modules = dkms.root(name, "find /lib/modules -name 'nvidia*.ko*' -path '*/updates/*' | sort").split()
    main = [path for path in modules if re.search(r"/nvidia(-current)?\.ko", path)]
    assert {path.split("/")[3] for path in main} == set(kernels)
    assert dkms.root(name, f"modinfo -F version {main[0]}").strip() == locked
    assert dkms.root(name, "dpkg --audit") == ""

    assert dkms.drift().status == 0
    again = dkms.up()
    assert touched(again) == {name: "satisfied"}
    assert again.body["hosts"][0]["tasks"] == 0


def test_a_module_that_is_gone_is_found(dkms: LabSite) -> None:
    """The packages are all there and as locked; only the module that DKMS built is not: `dkms remove` by hand."""
    name = dkms.names[0]
    dkms.root(name, "find /lib/modules -name 'nvidia*.ko*' -path '*/updates/*' -delete")
    found = dkms.drift()
    assert found.status == 7
    assert {(f["host"], f["address"]) for f in found.body["findings"]} == {(name, "stack.driver.on_disk")}
