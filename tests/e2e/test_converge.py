"""The play by itself on a real node: check mode, repetition, what is refused, and what is repaired."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gpuprov.app.access import Access
from gpuprov.app.hosts import open_fleet
from gpuprov.app.site import open_lock, open_site
from gpuprov.converge.locate import find_playbooks
from gpuprov.converge.runner import converge
from gpuprov.converge.types import HostOutcome, HostStatus, RunDocuments
from gpuprov.model.host import Host
from gpuprov.model.progress import ignore_progress
from gpuprov.plan.removal import Removal
from gpuprov.want.empty import empty_want
from gpuprov.want.types import FileWant, HostWant, Merge, PackageWant
from tests.e2e.site import LabSite

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]


@dataclass(frozen=True, kw_only=True)
class Play:
    """One node without GPUs, its want, and the play on it."""

    site: LabSite
    host: Host
    want: HostWant
    folder: Path

    def run(self, want: HostWant | None = None, removal: Removal | None = None, *, check: bool = False) -> HostOutcome:
        """Run the play; what it did on the node."""
        result = converge(
            [(self.host, want or self.want, removal or Removal())],
            playbooks=find_playbooks(),
            folder=self.folder,
            check=check,
            documents=RunDocuments(spec="name: {{ text, no template }}\n", lock="{}\n"),
            report=ignore_progress,
        )
        print(result.log.read_text(encoding="utf-8")[-4000:])  # noqa: T201
        return result.hosts[self.host.name]

    def root(self, command: str, *, check: bool = True) -> str:
        """Run a shell command on the node."""
        return self.site.root(self.host.name, command, check=check).strip()

    def with_package(self, name: str) -> HostWant:
        """The want with one more package of the OS archive, at the version that the archive has."""
        version = self.root(f"apt-cache policy {name} | awk '/Candidate:/{{print $2}}'")
        row = PackageWant(name=name, version=version, arch="amd64", source="os", sha256="")
        pool = replace(self.want.pool, packages=(*self.want.pool.packages, row))
        return replace(self.want, pool=pool)


@pytest.fixture
def play(fresh_lab: Callable[..., LabSite], tmp_path: Path) -> Play:
    """A node that nobody has touched but to fetch its package lists, and what it should be."""
    site = fresh_lab("play", train=0, cpu=1)
    site.root(site.names[0], "apt-get update -qq >&2")
    site.run("lock")
    opened = open_site(site.folder / "gpuprov.yaml")
    lock, _ = open_lock(opened)
    fleet = open_fleet(opened, lock, Access())
    (host,) = fleet.hosts
    return Play(site=site, host=host, want=fleet.wants[host.name], folder=tmp_path)


FINGERPRINT = (
    "dpkg-query -W | sha256sum; dpkg --get-selections | sha256sum;"
    " find /etc /usr /var/lib -xdev -newer /tmp/mark -type f"
    " ! -path '/var/lib/dpkg/lock*' ! -path '/var/lib/systemd/*' ! -name '*.pyc'"
)
STATE = "dpkg-query -W | sha256sum; sha256sum /etc/apt/preferences.d/gpuprov.pref /var/lib/gpuprov/*.json"
FOREIGN = '{"data-root": "/srv/docker", "runtimes": {"kata": {"path": "/k"}}}'
CONTROL = r"Package: site-monitor\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.com>\nDescription: x\n"
HOLDER = "import fcntl,time; f=open('/var/lib/dpkg/lock-frontend','w'); fcntl.lockf(f,fcntl.LOCK_EX); time.sleep(20)"
STATUS = "dpkg-query -W -f '${db:Status-Status}'"


def test_the_life_of_a_host_under_the_play(play: Play) -> None:
    # In this order: each step stands on the one before, and a node of its own for each would cost minutes.
    looking_touches_nothing_and_the_play_does_what_it_said(play)
    a_second_time_nothing_changes(play)
    another_file_under_a_locked_version_is_refused(play)
    a_broken_record_is_told_and_left_alone(play)
    a_restart_is_not_lost_when_a_later_step_fails(play)
    a_transaction_that_would_remove_the_operators_package_is_refused(play)
    the_lock_of_another_program_is_waited_for(play)
    what_gpuprov_brought_goes_and_what_was_there_stays(play)
    a_power_cut_in_the_transaction_is_repaired_by_the_next_run(play)
    a_hand_back_leaves_packages_and_takes_the_rest(play)


def looking_touches_nothing_and_the_play_does_what_it_said(play: Play) -> None:
    play.root(f"mkdir -p /etc/docker; echo '{FOREIGN}' > /etc/docker/daemon.json; touch /tmp/mark; sleep 1")
    before = play.root(FINGERPRINT)
    checked = play.run(check=True)
    assert checked.status is HostStatus.OK, checked.diagnostics
    assert checked.changed > 0
    assert play.root(FINGERPRINT) == before
    first = play.run()
    assert first.status is HostStatus.OK, first.diagnostics
    owned = {package.name for package in play.want.pool.packages}
    assert set(first.packages) == set(checked.packages)
    assert {move.split()[0] for move in first.packages} == owned == set(play.root("apt-mark showhold").split())
    engine = play.root("docker info --format '{{json .Runtimes}} {{.DockerRootDir}}'")
    assert [word for word in ("kata", "nvidia", "/srv/docker") if word not in engine] == []


def a_second_time_nothing_changes(play: Play) -> None:
    started = play.root("systemctl show -p ActiveEnterTimestamp docker")
    again = play.run()
    assert (again.status, again.changed, again.packages) == (HostStatus.OK, 0, ())
    assert play.root("systemctl show -p ActiveEnterTimestamp docker") == started
    assert play.run(check=True).changed == 0


def another_file_under_a_locked_version_is_refused(play: Play) -> None:
    want = play.with_package("tree")
    *others, tree = want.pool.packages
    wrong = replace(want, pool=replace(want.pool, packages=(*others, replace(tree, sha256="0" * 64))))
    before = play.root(STATE)
    for check in (True, False):
        found = play.run(wrong, check=check)
        assert [diagnostic.code for diagnostic in found.diagnostics] == ["GP-PLAN-003"]
        assert f"tree {tree.version}" in found.diagnostics[0].summary
    assert play.root(STATE) == before


def a_broken_record_is_told_and_left_alone(play: Play) -> None:
    path = "/var/lib/gpuprov/owned.json"
    play.root(f"cp -p {path} /tmp/owned.json; : > {path}")
    found = play.run(play.with_package("tree"))
    assert [diagnostic.code for diagnostic in found.diagnostics] == ["GP-CONV-001"]
    assert path in found.diagnostics[0].summary
    assert f"mv {path}" in found.diagnostics[0].hint
    assert play.root(f"stat -c %s {path}; {STATUS} tree 2>/dev/null || echo no").split() == ["0", "no"]
    play.root(f"mv /tmp/owned.json {path}")


def a_restart_is_not_lost_when_a_later_step_fails(play: Play) -> None:
    want = play.with_package("tree")
    services = tuple(
        replace(service, packages=(*service.packages, "tree")) if service.name == "docker" else service
        for service in want.pool.services
    )
    bad = FileWant(path="/etc/gpuprov-test", text="x", owner="nobody-such")
    pool = replace(want.pool, services=services, files=(*want.pool.files, bad))
    started = play.root("systemctl show -p ActiveEnterTimestampMonotonic docker")
    found = play.run(replace(want, pool=pool))
    assert "nobody-such" in found.diagnostics[0].summary
    assert [move.split()[0] for move in found.packages] == ["tree"]
    assert play.root("systemctl show -p ActiveEnterTimestampMonotonic docker") != started
    assert play.root("systemctl is-active docker") == "active"
    assert play.run(removal=Removal(packages=("tree",))).status is HostStatus.OK


def a_transaction_that_would_remove_the_operators_package_is_refused(play: Play) -> None:
    want = play.with_package("tree")
    control = f"mkdir -p /tmp/s/DEBIAN; printf '{CONTROL}Conflicts: tree\\n' > /tmp/s/DEBIAN/control"
    play.root(f"{control}; dpkg-deb -b /tmp/s /tmp/s.deb; dpkg -i /tmp/s.deb")
    before = play.root(STATE)
    found = play.run(want)
    assert [diagnostic.code for diagnostic in found.diagnostics] == ["GP-PLAN-002"]
    assert "site-monitor" in found.diagnostics[0].summary
    assert play.root(STATE) == before
    play.root("dpkg -r site-monitor")


def the_lock_of_another_program_is_waited_for(play: Play) -> None:
    want = play.with_package("tree")
    play.root(f'systemd-run --quiet --unit=holder --remain-after-exit python3 -c "{HOLDER}"')
    found = play.run(want)
    assert found.status is HostStatus.OK, found.diagnostics
    # The holder ended by itself, and before the play did.
    assert play.root("systemctl show -p Result -p SubState holder").split() == ["Result=success", "SubState=exited"]


def what_gpuprov_brought_goes_and_what_was_there_stays(play: Play) -> None:
    assert play.root(f"{STATUS} adduser") == "installed"
    found = play.run(removal=Removal(packages=("tree", "adduser")))
    assert [move.split()[0] for move in found.packages] == ["tree"]
    assert "adduser stays: gpuprov did not install it" in found.notes
    assert play.root(f"{STATUS} tree", check=False) != "installed"
    assert play.root(f"{STATUS} adduser") == "installed"


def a_power_cut_in_the_transaction_is_repaired_by_the_next_run(play: Play) -> None:
    want = play.with_package("g++")
    node = play.site.node(play.host.name)
    lines = int(play.root("wc -l < /var/log/dpkg.log"))

    def cut() -> None:
        deadline = time.monotonic() + 300
        while int(play.root("wc -l < /var/log/dpkg.log")) < lines + 40 and time.monotonic() < deadline:
            time.sleep(0.1)
        node.power_off()

    cutter = threading.Thread(target=cut)
    cutter.start()
    lost = play.run(want)
    cutter.join()
    assert lost.status is not HostStatus.OK
    node.start()
    node.wait_ssh()
    assert play.root("dpkg --audit") != ""
    found = play.run(want)
    assert found.status is HostStatus.OK, found.diagnostics
    assert play.root("dpkg --audit") == ""
    assert play.run(want).changed == 0


def a_hand_back_leaves_packages_and_takes_the_rest(play: Play) -> None:
    pool = play.want.pool
    held = tuple(sorted(play.root("apt-mark showhold").split()))
    files = tuple(file.path for file in pool.files if file.merge is Merge.REPLACE)
    gone = Removal(files=files, sources=tuple(source.name for source in pool.sources), release=held)
    empty = HostWant(host=play.host.name, pool=empty_want(pool.pool, pool.target, pool.os, pool.arch), digest="")
    found = play.run(empty, gone)
    assert found.status is HostStatus.OK, found.diagnostics
    assert play.root("apt-mark showhold") == ""
    assert [note for note in found.notes if note.startswith("installed as before, no longer held: ")]
    assert play.root(f"{STATUS} docker.io") == "installed"
    ours = "/etc/apt/*/gpuprov* /etc/modprobe.d/gpuprov* /var/lib/gpuprov/* /var/cache/gpuprov"
    assert play.root(f"ls -d {ours} 2>/dev/null", check=False) == ""
    assert play.root("systemctl is-active docker") == "active"
    again = play.run(empty)
    assert (again.status, again.changed) == (HostStatus.OK, 0)
