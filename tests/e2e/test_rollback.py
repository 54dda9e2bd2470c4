"""Going back: with the source gone, from another machine, for a host that died half-way; and when there is no way."""

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.site import GPUPROV, Ended, LabSite, touched, vendor_gone

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

KEPT = "ls /var/lib/gpuprov/rollback/archives 2>/dev/null || true"
VERSION = "dpkg-query -W -f='${Version}' "
TOOLKIT = f"{VERSION} nvidia-container-toolkit"


def back(site: LabSite, folder: Path, *argv: str, expect: int = 0) -> Ended:
    """`rollback` on another machine: it has the inventory and the key, and neither spec nor lock."""
    words = ["rollback", "-i", str(site.folder / "inventory" / "site.yml"), "--yes", "--json", *argv]
    done = subprocess.run([str(GPUPROV), *words], cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == expect, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return Ended(status=done.returncode, stdout=done.stdout, stderr=done.stderr)


def test_an_upgrade_is_taken_back_from_another_machine_with_the_source_gone(site: LabSite, tmp_path: Path) -> None:
    name = next(node for node in site.names if node not in site.train)
    before = site.root(name, TOOLKIT)
    documents = {path: path.read_text(encoding="utf-8") for path in site.folder.glob("gpuprov.*")}
    site.edit('toolkit: "1.18.*"', 'toolkit: "1.19.*"')
    site.run("lock")
    (planned,) = site.up("-l", name).body["plan"]["hosts"]
    assert f"nvidia-container-toolkit {before}" in planned["rollback"]["kept"]
    assert planned["rollback"]["lost"] == planned["rollback"]["unseen"] == []
    assert site.root(name, TOOLKIT).startswith("1.19.")
    assert f"nvidia-container-toolkit_{before}_" in site.root(name, KEPT)
    with vendor_gone(site):
        assert touched(back(site, tmp_path, "-l", name)) == {name: "changed"}
        assert site.root(name, TOOLKIT) == before
        assert touched(back(site, tmp_path, "-l", name)) == {name: "satisfied"}, "once more changes nothing"
    (state,) = site.run("status", "-l", name, "--json", expect=7).body["hosts"]
    assert state["changes"] > 0, "`up` would upgrade again"
    for path, text in documents.items():
        path.write_text(text, encoding="utf-8")
    site.run("status", "-l", name)


@pytest.mark.matrix
def test_a_host_that_died_half_way_is_taken_back_and_handed_back(
    fresh_lab: Callable[..., LabSite], tmp_path: Path
) -> None:
    site = fresh_lab("bcut", train=0, cpu=1)
    (name,) = site.names
    old, new = lock_first_release(site)
    site.up()
    site.edit(f'version: "{old}"', f'version: "{new}"')
    site.run("lock")
    cut_power_in_dpkg(site, name)
    with vendor_gone(site):
        assert touched(back(site, tmp_path)) == {name: "changed"}
        assert site.root(name, "dpkg --audit") == ""
        assert not [word for word in site.root(name, f"{VERSION} 'libcuda1*'").split() if word.startswith(new)]
    hand_back_takes_the_archives(site, name)


@pytest.mark.matrix
def test_a_driver_upgrade_is_taken_back_by_the_name_of_a_run_and_proven_after_a_reboot(
    fresh_lab: Callable[..., LabSite], tmp_path: Path
) -> None:
    site = fresh_lab("back", train=1)
    (name,) = site.names
    old, new = lock_first_release(site)
    first = site.up().body["run"].rpartition("/")[2]
    nothing_to_go_back_to(site, name, tmp_path)
    site.edit(f'version: "{old}"', f'version: "{new}"')
    site.run("lock")
    (planned,) = site.up().body["plan"]["hosts"]
    assert planned["rollback"]["lost"] == planned["rollback"]["unseen"] == []
    unknown = back(site, tmp_path, "--to", "20000101T000000Z-000000", expect=6)
    assert first in unknown.stderr, "the runs that the host keeps are named"
    boot = site.root(name, "cat /proc/sys/kernel/random/boot_id")
    with vendor_gone(site):
        (host,) = back(site, tmp_path, "--to", first).body["hosts"]
        assert (host["state"], host["rebooted"]) == ("changed", True)
    assert site.root(name, "cat /proc/sys/kernel/random/boot_id") != boot
    assert site.root(name, "cat /sys/module/nvidia/version").strip() == old


def lock_first_release(site: LabSite) -> tuple[str, str]:
    """Lock the oldest driver of the lab; returns it and the newest."""
    releases, branch = site.lab.description.driver_releases, site.lab.description.driver_branch
    site.edit(f'version: "{branch}.*"', f'version: "{releases[0]}"')
    site.run("lock")
    return releases[0], releases[-1]


def nothing_to_go_back_to(site: LabSite, name: str, folder: Path) -> None:
    """The first run of a bare host."""
    result = back(site, folder, expect=6)
    assert result.codes == ["GP-BACK-002"]
    assert name in result.stderr


def cut_power_in_dpkg(site: LabSite, name: str) -> None:
    """Switch the host off while dpkg unpacks, and on again."""
    node = site.node(name)
    lines = int(site.root(name, "wc -l < /var/log/dpkg.log"))

    def cut() -> None:
        deadline = time.monotonic() + 300
        while int(site.root(name, "wc -l < /var/log/dpkg.log")) < lines + 8 and time.monotonic() < deadline:
            time.sleep(0.05)
        node.power_off()

    cutter = threading.Thread(target=cut)
    cutter.start()
    site.up(expect=4)
    cutter.join()
    node.start()
    node.wait_ssh()


def hand_back_takes_the_archives(site: LabSite, name: str) -> None:
    """`destroy` shows them and deletes them."""
    assert site.root(name, KEPT) != ""
    result = site.run("destroy", "--target", "onprem", "--yes", "--json")
    changes: list[dict[str, Any]] = result.body["plan"]["hosts"][0]["changes"]
    assert [c["before"].split()[-3:] for c in changes if c["subject"] == "/var/lib/gpuprov/rollback"]
    assert site.root(name, "ls -d /var/lib/gpuprov/rollback /var/lib/gpuprov/runs 2>/dev/null || true") == ""


@pytest.mark.matrix
def test_a_foreign_host_whose_old_packages_no_source_has_is_left_alone_unless_it_is_agreed_to(
    fresh_lab: Callable[..., LabSite],
) -> None:
    site = fresh_lab("fore", train=0, cpu=1)
    (name,) = site.names
    control = r"Package: tree\nVersion: 0.1\nArchitecture: all\nMaintainer: x <x@example.com>\nDescription: x\n"
    site.root(
        name, f"mkdir -p /tmp/x/DEBIAN; printf '{control}' > /tmp/x/DEBIAN/control; dpkg-deb -b /tmp/x /tmp/x.deb"
    )
    site.root(name, "dpkg -i /tmp/x.deb")
    site.edit("packages: []", "packages: [tree]")
    site.run("lock")
    refused = site.up(expect=5)
    assert refused.codes == ["GP-BACK-001"]
    assert "tree 0.1" in refused.stderr
    assert "--no-rollback" in refused.stderr
    assert site.root(name, f"{VERSION} tree") == "0.1"
    assert (
        site.root(
            name, "ls -d /var/lib/gpuprov/owned.json /etc/apt/preferences.d/gpuprov.pref 2>&1 | grep -c 'No such'"
        )
        == "2\n"
    )
    assert touched(site.up("--no-rollback")) == {name: "changed"}
    assert site.root(name, f"{VERSION} tree") != "0.1"
