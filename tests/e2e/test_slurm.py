"""Hosts that work for a real Slurm: drained one after another, no job killed, and nobody else's drain ended."""

import re
from collections.abc import Callable

import pytest

from tests.e2e.site import Ended, LabSite, touched, vendor_gone
from tests.e2e.slurm import UNTIL_DRAINED, Cluster

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1800)]

HUNDRED = '    rollout:\n      batch: "100%"\n'
WORKED = "cat /var/tmp/job-{0}"
LONG = 1800.0
"""Seconds for a run over four hosts, one after the other."""
BOOT = "cat /proc/sys/kernel/random/boot_id"


def with_steps(site: LabSite, steps: str) -> None:
    """Give the first pool, which has the GPUs, another rollout."""
    path = site.folder / "gpuprov.yaml"
    text = path.read_text(encoding="utf-8")
    assert HUNDRED in text
    path.write_text(text.replace(HUNDRED, f"    rollout: {steps}\n", 1), encoding="utf-8")


def test_nodes_are_drained_one_by_one_and_only_our_own_drains_are_ended(site: LabSite) -> None:
    plain = (site.folder / "gpuprov.yaml").read_text(encoding="utf-8")
    (controller,) = set(site.names) - set(site.train)
    first, second = site.train
    try:
        with Cluster(site=site, controller=controller, nodes=site.train) as cluster:
            with_steps(site, f"{{batch: 1, drain: {{by: slurm, on: {controller}, wait: 5m}}}}")
            with (site.folder / "gpuprov.yaml").open("a", encoding="utf-8") as spec:
                spec.write('files: {"/etc/docker/daemon.json": {text: "{\\"debug\\": true}"}}\n')
            plan = site.run("preview", "--target", "onprem").stdout
            assert f"one after another: {first}, {controller} | {second}" in plan
            assert f"work goes off first, by slurm, up to 5m: {first}, {second}" in plan
            jobs = {name: cluster.submit(name, "sleep 6") for name in site.train}
            cluster.wait(lambda: {cluster.job(number) for number in jobs.values()} == {"RUNNING"})
            cluster.ask(f"scontrol update nodename={second} state=drain reason='bad DIMM'")
            with cluster.watch() as watcher:
                result = {host["host"]: host for host in site.up().body["hosts"]}
            assert [result[name]["state"] for name in site.train] == ["changed", "changed"]
            assert {cluster.job(number) for number in jobs.values()} == {"COMPLETED"}
            assert any(look[first].startswith("drain") for look in watcher.looks), "it was out of service meanwhile"
            assert cluster.states() == {first: "idle", second: "drained"}
            assert [note for note in result[second]["notes"] if "bad DIMM" in note]
            assert "bad DIMM" in cluster.ask(f"scontrol show node {second}")
    finally:
        (site.folder / "gpuprov.yaml").write_text(plain, encoding="utf-8")
        site.root(first, "rm -f /etc/docker/daemon.json")
        site.root(second, "rm -f /etc/docker/daemon.json")
        site.up()


@pytest.mark.matrix
@pytest.mark.timeout(3600)
def test_a_driver_upgrade_and_its_way_back_kill_no_job_and_take_one_node_at_a_time(
    fresh_lab: Callable[..., LabSite],
) -> None:
    site = fresh_lab("slurm4", train=4, cpu=1, nodes=6)
    (controller,) = set(site.names) - set(site.train)
    releases, branch = site.lab.description.driver_releases, site.lab.description.driver_branch
    old, new = releases[0], releases[-1]
    with_the_driver_alone(site)
    site.edit(f'version: "{branch}.*"', f'version: "{old}"')
    site.run("lock")
    site.up(seconds=LONG)
    with_steps(site, "{batch: 1, drain: slurm}")
    site.edit(f'version: "{old}"', f'version: "{new}"')
    site.run("lock")
    with Cluster(site=site, controller=controller, nodes=site.train) as cluster:
        one_after_another(cluster, new, lambda: site.up(seconds=LONG))
        with vendor_gone(site):
            back = ("rollback", "--target", "onprem", "--yes", "--json", "-l", "train")
            one_after_another(cluster, old, lambda: site.run(*back, seconds=LONG))


def with_the_driver_alone(site: LabSite) -> None:
    """Leave away what the move is not about, and takes minutes on four hosts."""
    path = site.folder / "gpuprov.yaml"
    text = path.read_text(encoding="utf-8")
    for part in (r"  cuda: .*\n", r"  container:\n(?:    .*\n)+", r"  dcgm: .*\n", r"monitoring:\n(?: .*\n)+"):
        text, found = re.subn(f"^{part}", "", text, flags=re.MULTILINE)
        assert found == 1, (part, text)
    path.write_text(text, encoding="utf-8")


def one_after_another(cluster: Cluster, driver: str, move: Callable[[], Ended]) -> None:
    """Every node has a job that ends only some time after its node was drained; then the move brings the driver."""
    site = cluster.site
    boots = {name: site.root(name, BOOT).strip() for name in site.train}
    jobs = {name: cluster.submit(name, UNTIL_DRAINED) for name in site.train}
    cluster.wait(lambda: {cluster.job(number) for number in jobs.values()} == {"RUNNING"})
    with cluster.watch() as watcher:
        ended = move()
    result = touched(ended)
    assert {result[name] for name in site.train} == {"changed"}, ended.stderr
    assert watcher.most == 1, watcher.looks
    for name in site.train:
        assert any(look[name].startswith("draining") for look in watcher.looks), "it was waited for its job"
    assert {cluster.job(number) for number in jobs.values()} == {"COMPLETED"}
    worked = {name: site.root(name, WORKED.format(number)).strip() for name, number in jobs.items()}
    assert worked == boots, "each job ended by itself, before its host rebooted"
    now = {name: site.root(name, BOOT).strip() for name in site.train}
    assert not set(now.values()) & set(boots.values()), "every host has rebooted"
    assert {site.root(name, "cat /sys/module/nvidia/version").strip() for name in site.train} == {driver}
    assert set(cluster.states().values()) == {"idle"}
    assert re.search(r"gpuprov", cluster.ask("scontrol show nodes")) is None, "no mark of ours is left"
