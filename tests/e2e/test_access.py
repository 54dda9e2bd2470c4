"""Accounts on real hosts: people log in with their keys, may what the spec says, and lose it when the spec drops it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.reading import differences
from tests.e2e.site import LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]


class People:
    """Keys of people, and what happens when they log in to one host."""

    def __init__(self, site: LabSite, name: str, folder: Path) -> None:
        self.site, self.name, self.folder = site, name, folder
        inventory = yaml.safe_load((site.folder / "inventory" / "site.yml").read_text(encoding="utf-8"))
        self.address, self.options = _address(inventory, name)

    def key(self, owner: str) -> str:
        """Make a key; returns the public one."""
        path = self.folder / owner
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", owner, "-f", str(path)], check=True)
        return path.with_suffix(".pub").read_text(encoding="utf-8").strip()

    def says(self, user: str, key: str, command: str) -> tuple[int, str]:
        """Run a command as a user with a key."""
        argv = ["ssh", "-i", str(self.folder / key), "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none"]
        argv += ["-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
        argv += ["-o", "LogLevel=ERROR", "-F", "none", *self.options, f"{user}@{self.address}", command]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL)
        return done.returncode, (done.stdout + done.stderr).strip()


def _address(node: Any, name: str) -> tuple[str, list[str]]:
    for group in node.values() if isinstance(node, dict) else ():
        hosts = (group or {}).get("hosts") or {}
        if name in hosts:
            row = hosts[name] or {}
            port = ["-p", str(row["ansible_port"])] if "ansible_port" in row else []
            return str(row.get("ansible_host", name)), port
        found = _address((group or {}).get("children") or {}, name)
        if found[0]:
            return found
    return "", []


def test_who_is_in_the_spec_gets_in_and_who_is_taken_out_does_not(site: LabSite, tmp_path: Path) -> None:
    path, name = site.folder / "gpuprov.yaml", site.names[-1]
    plain = path.read_text(encoding="utf-8")
    people = People(site, name, tmp_path)
    keys = {owner: people.key(owner) for owner in ("ana", "ana-old", "bob")}

    def spec(ana: list[str], members: list[str], *, sudo: bool) -> str:
        rows = [{"name": who, "keys": [keys[k] for k in (ana if who == "ana" else [who])]} for who in members]
        ml: dict[str, Any] = {"gid": 2345, "members": rows}
        if sudo:
            ml["sudo"] = ["/usr/bin/id -u"]
        more = {
            "access": {"groups": {"ml": ml}},
            "tuning": {"limits": {"nofile": 4096}, "sysctl": {"net.core.somaxconn": "4097"}},
        }
        return plain + yaml.safe_dump(more)

    # Somebody of the host's own, with a key of her own, in the same group.
    site.root(name, "useradd -m eve && groupadd -g 2345 ml && gpasswd -a eve ml >/dev/null")
    try:
        path.write_text(spec(["ana", "ana-old"], ["ana", "bob"], sudo=True), encoding="utf-8")
        plan = " ".join(site.run("preview", "--target", "onprem", "-l", name).stdout.split())
        told = ("add ana a user", "join bob in ml", "write /etc/sudoers.d/gpuprov-ml", "%u (spec: access)")
        assert [words for words in told if words not in plan] == [], plan
        assert site.root(name, "getent passwd ana || echo none").strip() == "none", "a preview touches nothing"
        assert touched(site.up("-l", name)) == {name: "changed"}
        assert differences(site, name) == [], "users, groups, sudo, limits and kernel settings, read by testinfra"
        assert people.says("ana", "ana", "id -nG")[1].split() == ["ana", "ml"]
        assert people.says("ana", "ana-old", "sudo -n /usr/bin/id -u; ulimit -Hn") == (0, "0\n4096")
        assert people.says("bob", "bob", "sudo -n /usr/bin/id")[0] != 0, "only the command that is named"
        assert touched(site.up("-l", name)) == {name: "satisfied"}

        # One key, one user and one rule of sudo go; what is left works on, and no data goes.
        people.says("bob", "bob", "echo work > ~/work")
        path.write_text(spec(["ana"], ["ana"], sudo=False), encoding="utf-8")
        assert touched(site.up("-l", name)) == {name: "changed"}
        assert people.says("ana", "ana", "id -un") == (0, "ana")
        assert people.says("ana", "ana-old", "id -un")[0] == 255
        assert people.says("bob", "bob", "id -un")[0] == 255
        assert people.says("ana", "ana", "sudo -n /usr/bin/id -u")[0] != 0
        # Also a key of his own in his home does not open a locked account.
        site.root(
            name,
            f"install -d -o bob -m 700 ~bob/.ssh && echo '{keys['bob']}' >~bob/.ssh/authorized_keys"
            " && chown bob ~bob/.ssh/authorized_keys",
        )
        refused = people.says("bob", "bob", "id -un")
        assert refused[0] != 0
        assert site.root(name, "cat ~bob/work; id -nG eve").split() == ["work", "eve", "ml"]
    finally:
        path.write_text(plain, encoding="utf-8")
        last = touched(site.up("-l", name))
    assert last == {name: "changed"}
    left = "ls /etc/ssh/gpuprov /etc/sudoers.d /etc/ssh/sshd_config.d /etc/security/limits.d | grep -i gpuprov; true"
    assert [row for row in site.root(name, left).split() if not row.startswith("/")] == []
    assert people.says("ana", "ana", "id -un")[0] == 255
    assert site.root(name, "id -nG eve; getent group ml").split() == ["eve", "ml", "ml:x:2345:eve"]
    assert site.drift().status == 0
    site.root(name, "userdel -r ana; userdel -r bob; userdel -r eve; groupdel ml", check=False)


@pytest.mark.matrix
def test_what_this_kernel_refuses_fails_by_its_name_and_leaves_nothing(site: LabSite) -> None:
    """A node may not set the machine's own kernel settings, nor raise its limits (lab-facts, 4)."""
    path, name = site.folder / "gpuprov.yaml", site.names[-1]
    plain = path.read_text(encoding="utf-8")
    before = site.root(name, "cat /proc/sys/vm/swappiness").strip()
    more = {"sysctl": {"vm.swappiness": str(int(before) + 1)}, "limits": {"memlock": "unlimited"}}
    path.write_text(plain + yaml.safe_dump({"tuning": more}), encoding="utf-8")
    try:
        ended = site.up("-l", name, expect=4)
        assert ended.codes == ["GP-CONV-001"]
        assert "vm.swappiness: the kernel refuses" in ended.stderr
        assert "memlock: the kernel refuses" in ended.stderr
        files = "ls /etc/sysctl.d/99-gpuprov.conf /etc/security/limits.d/99-gpuprov.conf 2>/dev/null || true"
        assert site.root(name, files) == ""
        assert json.loads(site.root(name, "cat /var/lib/gpuprov/tuning.json || echo {}")) == {}, "nothing to put back"
    finally:
        path.write_text(plain, encoding="utf-8")
    assert touched(site.up("-l", name)) == {name: "satisfied"}
