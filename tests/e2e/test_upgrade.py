"""The driver moves on bare metal: an upgrade with its reboot, a reboot that somebody left pending, the hand-back.

On a lab of its own: another worker than that of the session's lab can run it (`SHARED_LAB` of tests/conftest.py).
"""

from collections.abc import Callable

import pytest

from tests.e2e.site import LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]


def test_an_upgrade_says_reboot_does_it_and_proves_it(fresh_lab: Callable[..., LabSite]) -> None:
    site = fresh_lab("upg", train=1, cpu=1)
    releases = site.lab.description.driver_releases
    old, new = releases[0], releases[-1]
    branch = site.lab.description.driver_branch
    site.edit(f'version: "{branch}.*"', f'version: "{old}"')
    site.run("lock")
    site.up()
    name = site.train[0]
    before = site.root(name, "cat /proc/sys/kernel/random/boot_id; cat /sys/module/nvidia/version").split()
    assert before[1] == old
    site.edit(f'version: "{old}"', f'version: "{new}"')
    assert site.up(expect=None).codes == ["GP-LOCK-004"], "a lock that the spec left behind is refused"
    site.run("lock")
    plan = site.run("preview", "--target", "onprem").stdout
    assert f"{old}" in plan
    assert f"{new}" in plan
    assert "reboot" in plan
    result = {host["host"]: host for host in site.up().body["hosts"]}
    assert result[name]["rebooted"]
    assert not any(host["rebooted"] for host in result.values() if host["host"] != name), "nothing is loaded there"
    after = site.root(name, "cat /proc/sys/kernel/random/boot_id; cat /sys/module/nvidia/version").split()
    assert after[0] != before[0]
    assert after[1] == new
    assert site.drift().status == 0
    a_reboot_that_is_pending_is_no_drift(site, name, loaded=new, locked=old)
    a_host_that_is_handed_back_keeps_its_packages(site, name, old)


def a_reboot_that_is_pending_is_no_drift(site: LabSite, name: str, *, loaded: str, locked: str) -> None:
    """Somebody moved the packages by hand to what is locked and did not reboot: right on disk, not loaded."""
    site.edit(f'version: "{loaded}"', f'version: "{locked}"')
    site.run("lock")
    packages = site.root(
        name, "dpkg-query -W -f='${Package} ${Version}\\n' | awk -v v='" + loaded + "' 'index($2, v) {print $1}'"
    ).split()
    moved = " ".join(f"{package}={locked}-1" for package in packages)
    site.root(
        name,
        "rm /etc/apt/preferences.d/gpuprov.pref; apt-get update -qq;"
        f" apt-get install -qq -y --allow-change-held-packages --allow-downgrades {moved}",
    )
    found = site.drift("-l", name)
    kinds = {f["address"]: f["kind"] for f in found.body["findings"]}
    assert found.status == 7
    assert kinds["stack.driver.loaded"] == "reboot pending"
    assert touched(site.up("-l", name)) == {name: "changed"}
    assert site.drift("-l", name).status == 0


def a_host_that_is_handed_back_keeps_its_packages(site: LabSite, name: str, version: str) -> None:
    site.run("destroy", "--target", "onprem", "--yes")
    left = site.root(
        name,
        "apt-mark showhold; ls /etc/apt/sources.list.d /etc/apt/preferences.d | grep gpuprov;"
        " ls /var/lib/gpuprov/owned.json 2>/dev/null; true",
    )
    assert left.strip() == "", "holds, pins, sources and the record are gone"
    assert version in site.root(name, "dpkg-query -W -f='${Version}' libcuda1"), "packages stay"
