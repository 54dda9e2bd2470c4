"""Hosts that cannot be reached, refuse, or are full: one clear error, nothing half written; the next `up` goes on."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.lab import lab as labs
from gpuprov.lab.seed import draw
from tests.e2e.conftest import SEED, say, small
from tests.e2e.site import Ended, LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.network, pytest.mark.timeout(900)]

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "bad-input" / "hosts.yaml").read_text(encoding="utf-8"))
PASSWORD = "open sesame"
PASSWORD_VARIABLE = "GPUPROV_BECOME_PASSWORD"
PACKAGE = "figlet"
"""A package of the OS archive that needs nothing else and is larger than the small file system below (130 KiB)."""
SPEC = """\
apiVersion: gpuprov/v1
name: bad
os: {os}
stack: {{packages: [{package}]}}
files: {{"/etc/gpu-host": {{text: "GPU host\\n"}}}}
pools:
  train: {{gpu: none, onprem: {{group: train}}, rollout: {{batch: "100%"}}}}
  cpu: {{gpu: none, onprem: {{group: cpu}}, rollout: {{batch: "100%"}}}}
targets: {{onprem: {{inventory: inventory/site.yml}}}}
"""
STATE = (
    "dpkg-query -W -f='${Package} ${Version} ${db:Status-Abbrev}\\n'; apt-mark showhold;"
    " find /etc /var/lib/gpuprov -xdev -type f ! -name '.*' ! -path '*/transactions/*' -exec sha256sum {} + | sort -k 2"
)
"""What a failed run may not change on a host: packages, holds, configuration, gpuprov's record (but for its log)."""


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabSite]:
    """Two hosts, brought up; sudo asks for a password on the first. The sudo password stands in the environment."""
    lab = small(draw(SEED, nodes=4, cloud=False), "bad", train=1, cpu=1)
    first, second = (replace(node, gpu=None) for node in lab.nodes)
    folder = tmp_path_factory.mktemp("bad")
    labs.down(lab.id, say)  # what a killed test run left
    state = labs.up(replace(lab, nodes=(replace(first, sudo_password=PASSWORD), second)), folder, say)
    try:
        site = LabSite(lab=state, env={PASSWORD_VARIABLE: PASSWORD})
        (folder / "gpuprov.yaml").write_text(SPEC.format(os=first.os, package=PACKAGE), encoding="utf-8")
        site.run("lock")
        assert set(touched(site.up()).values()) == {"changed"}
        yield site
    finally:
        labs.down(state.id, say)


def test_the_right_sudo_password_from_the_environment_does(bad: LabSite) -> None:
    again = bad.up()
    assert touched(again) == dict.fromkeys(bad.names, "satisfied")
    assert sum(host["tasks"] for host in again.body["hosts"]) == 0
    assert bad.drift().status == 0
    assert PASSWORD not in again.stdout + again.stderr
    files = [path for path in bad.folder.rglob("*") if path.is_file() and path.name != "lab.json"]
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == [], "the password was written down"


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case["id"], marks=[pytest.mark.matrix] * case.get("matrix", False)) for case in CASES],
)
def test_a_bad_host_gives_one_clear_error_and_the_next_up_goes_on(case: dict[str, Any], bad: LabSite) -> None:
    hosts = dict(zip("ab", bad.names, strict=True))
    for side in case.get("drift", []):
        bad.root(hosts[side], f"apt-mark unhold {PACKAGE} && apt-get remove -qq -y {PACKAGE}")
    before = {side: bad.root(name, STATE) for side, name in hosts.items()}
    files = site_files(bad.folder)
    with ExitStack() as broken:
        for name in case.get("break", []):
            broken.enter_context(BREAKS[name](bad, hosts["a"]))
        ended = run(case, hosts, bad)
    after = {side: bad.root(name, STATE) for side, name in hosts.items()}
    said = ended.stdout + ended.stderr
    assert ended.status == case["status"], said
    assert [word for word in case["words"] if word.format(**hosts) not in said] == [], said
    assert "Traceback" not in said
    assert {side for side in hosts if before[side] != after[side]} == set(case.get("changes", [])), said
    assert site_files(bad.folder) == files
    told(case, ended)
    left = set(case.get("drift", [])) - set(case.get("changes", []))
    assert touched(bad.up()) == {name: "changed" if side in left else "satisfied" for side, name in hosts.items()}


def run(case: dict[str, Any], hosts: dict[str, str], bad: LabSite) -> Ended:
    """Run the case's command, with its environment in place of the site's."""
    command, *rest = [word.format(**hosts) for word in case["argv"]]
    target = ["--target", "onprem"] if command in {"up", "destroy"} else []
    env = {**bad.env, **case.get("env", {})}
    site = replace(bad, env={name: value for name, value in env.items() if value is not None})
    return site.run(command, *target, *rest, expect=None)


def told(case: dict[str, Any], ended: Ended) -> None:
    """A command that acts says its error once, on stderr; one that looks names the host with the reason's code."""
    if "code" not in case:
        assert ended.codes == []
    elif case["argv"][0] in {"up", "destroy"}:
        assert ended.codes == [case["code"]], ended.stderr
        assert "hint:" in ended.stderr
    else:
        assert case["code"] in ended.stdout, ended.stdout


def site_files(folder: Path) -> dict[str, bytes]:
    """All files of the site but gpuprov's own journal and state."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".gpuprov" not in path.parts)
    return {str(path): path.read_bytes() for path in found}


@contextmanager
def stop_sshd(site: LabSite, name: str) -> Iterator[None]:
    """Nobody listens on port 22."""
    site.root(name, "systemctl stop ssh.socket ssh.service 2>/dev/null || systemctl stop ssh.service")
    try:
        yield
    finally:
        site.root(name, "systemctl start ssh.service")
        site.node(name).wait_ssh()


@contextmanager
def cut_power(site: LabSite, name: str) -> Iterator[None]:
    """The host is off."""
    site.node(name).power_off()
    try:
        yield
    finally:
        site.node(name).start()
        site.node(name).wait_ssh()


@contextmanager
def new_host_key(site: LabSite, name: str) -> Iterator[None]:
    """The host was reinstalled, or somebody is in between: another key."""
    key = "/etc/ssh/ssh_host_ed25519_key"
    site.root(name, f"cp -p {key} /root/key; cp -p {key}.pub /root/key.pub; rm {key} {key}.pub")
    site.root(name, f"ssh-keygen -q -t ed25519 -N '' -f {key} && systemctl restart ssh")
    try:
        yield
    finally:
        site.root(name, f"mv /root/key {key}; mv /root/key.pub {key}.pub; systemctl restart ssh")
        site.node(name).wait_ssh()


@contextmanager
def forget_host_key(site: LabSite, name: str) -> Iterator[None]:
    """known_hosts has no line of the host."""
    path = site.folder / "known_hosts"
    text = path.read_text(encoding="utf-8")
    path.write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith(f"{name},")))
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")


@contextmanager
def refuse_key(site: LabSite, name: str) -> Iterator[None]:
    """The user's key is not among those that the host accepts."""
    site.root(name, "mv /home/admin/.ssh/authorized_keys /home/admin/.ssh/aside")
    try:
        yield
    finally:
        site.root(name, "mv /home/admin/.ssh/aside /home/admin/.ssh/authorized_keys")


@contextmanager
def covered(site: LabSite, name: str, folder: str, size: str, *, fill: bool) -> Iterator[None]:
    """A small file system over a folder, with what the folder held; filled up to its last byte where asked."""
    site.root(name, f"mkdir -p {folder} && cp -a {folder} /run/aside && mount -t tmpfs -o size={size} tmpfs {folder}")
    # Logs of earlier transactions would be tidied away, and make room again.
    site.root(name, f"rm -rf /run/aside/transactions; cp -a /run/aside/. {folder}/ && rm -r /run/aside")
    if fill:
        site.root(name, f"cat /dev/zero > {folder}/ballast 2>/dev/null || true")
    try:
        yield
    finally:
        site.root(name, f"umount {folder}")


def small_archives(site: LabSite, name: str) -> Any:
    """Room for the lists of packages, none for the packages."""
    return covered(site, name, "/var/cache/gpuprov/apt/cache/archives", "32k", fill=False)


def full_cache(site: LabSite, name: str) -> Any:
    """No room for the lists of packages."""
    return covered(site, name, "/var/cache/gpuprov", "512m", fill=True)


def full_record(site: LabSite, name: str) -> Any:
    """No room where gpuprov keeps its record."""
    return covered(site, name, "/var/lib/gpuprov", "4m", fill=True)


BREAKS = {
    function.__name__: function
    for function in (
        *(stop_sshd, cut_power, new_host_key, forget_host_key, refuse_key),
        *(small_archives, full_cache, full_record),
    )
}
