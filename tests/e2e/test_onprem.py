"""One spec onto bare metal: idempotence, drift made by hand, removal. An upgrade and the hand-back: test_upgrade.py."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.reading import differences
from tests.e2e.site import LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

DRIFT = yaml.safe_load((Path(__file__).parents[1] / "cases" / "drift" / "by-hand.yaml").read_text(encoding="utf-8"))
ROUNDS = [DRIFT[first : first + 4] for first in range(0, len(DRIFT), 4)]
"""Two a host of the session's lab that has GPUs."""


def test_a_second_up_runs_no_task_and_says_so(site: LabSite) -> None:
    again = site.up()
    assert set(touched(again).values()) == {"satisfied"}
    assert all(host["tasks"] == 0 and host["changed"] == 0 for host in again.body["hosts"])
    assert again.body["run"] == "", "a run that does nothing is not journalled"
    text = site.run("up", "--target", "onprem", "--yes").stdout
    assert "0 tasks run, 0 changes" in text
    assert site.drift().status == 0


def test_who_shares_nothing_with_the_probe_reads_the_same(site: LabSite) -> None:
    """Read by testinfra: packages, holds, services, files, ports and the driver are as spec and lock say."""
    assert {name: differences(site, name) for name in site.names} == {name: [] for name in site.names}
    name = site.train[0]
    site.root(name, "apt-mark unhold libcuda1 && systemctl disable docker")
    try:
        assert differences(site, name) == ["libcuda1 is not held", "docker runs: True, is enabled: False"]
    finally:
        site.root(name, "apt-mark hold libcuda1 && systemctl enable docker")


def test_the_record_on_a_host_is_no_evidence(site: LabSite) -> None:
    """Without the record nothing is done anew; with it intact, a drift is found (the cases below)."""
    name = site.train[0]
    site.root(name, "cp -a /var/lib/gpuprov /var/lib/gpuprov.aside && rm -r /var/lib/gpuprov")
    try:
        assert touched(site.up())[name] == "satisfied"
    finally:
        site.root(name, "rm -rf /var/lib/gpuprov && mv /var/lib/gpuprov.aside /var/lib/gpuprov")


@pytest.mark.parametrize("cases", ROUNDS, ids=[", ".join(case["id"] for case in cases) for cases in ROUNDS])
def test_a_drift_made_by_hand_is_found_named_and_repaired_alone(site: LabSite, cases: Sequence[dict[str, Any]]) -> None:
    """Two on each host, of different kinds: what one run says and does of a host knows nothing of the other's."""
    drifts = [(site.train[number % len(site.train)], case) for number, case in enumerate(cases)]
    for name, case in drifts:
        site.root(name, f"export DEBIAN_FRONTEND=noninteractive; {case['command']}")
    found = site.drift()
    assert found.status == 7, found.stdout + found.stderr
    counted = {(f["host"], f["address"]) for f in found.body["findings"]}
    assert {(name, case["address"]) for name, case in drifts} <= counted
    moved = {name for name, _ in drifts}
    assert {host for host, _ in counted} == moved
    repaired = site.up()
    assert touched(repaired) == {name: "changed" if name in moved else "satisfied" for name in site.names}
    assert site.drift().status == 0


def test_a_foreign_key_of_daemon_json_survives(site: LabSite) -> None:
    name = site.train[-1]
    foreign = {"log-opts": {"max-size": "10m"}, "runtimes": {"kata": {"path": "/usr/bin/kata-runtime"}}}
    site.root(name, f"printf '%s' '{json.dumps(foreign)}' > /etc/docker/daemon.json")
    assert touched(site.up("-l", name))[name] == "changed"
    merged = json.loads(site.root(name, "cat /etc/docker/daemon.json"))
    assert merged["log-opts"] == foreign["log-opts"]
    assert merged["runtimes"]["kata"] == {"path": "/usr/bin/kata-runtime"}
    assert merged["runtimes"]["nvidia"]["path"] == "nvidia-container-runtime"
    site.root(name, "rm /etc/docker/daemon.json && systemctl restart docker")
    site.up("-l", name)


def test_what_the_spec_no_longer_holds_goes_and_nothing_else(site: LabSite) -> None:
    path, name = site.folder / "gpuprov.yaml", site.train[0]
    plain = path.read_text(encoding="utf-8")
    more = (
        plain.replace("packages: []", "packages: [tree]")
        + 'files: {"/etc/gpu-host": {text: "GPU host\\n", mode: "0644"}}\n'
    )
    assert more.count("[tree]") == 1
    path.write_text(more, encoding="utf-8")
    site.run("lock")
    site.up("-l", name)
    assert site.root(name, "cat /etc/gpu-host") == "GPU host\n"
    site.root(name, "dpkg-query -W tree && apt-get install -qq -y bc >/dev/null")
    path.write_text(plain, encoding="utf-8")
    site.run("lock")
    plan = site.run("preview", "--target", "onprem", "-l", name).stdout
    assert "remove" in plan
    assert "tree" in plan
    assert "/etc/gpu-host" in plan
    site.up("-l", name)
    state = "dpkg-query -W -f='${db:Status-Abbrev}' "
    assert site.root(name, f"{state} tree 2>/dev/null || echo gone", check=False).strip() in {"gone", "un", "rc"}
    assert site.root(name, "test -e /etc/gpu-host || echo gone").strip() == "gone"
    assert site.root(name, f"{state} bc").strip() == "ii", "what we did not make stays"
    assert site.drift().status == 0


def test_the_smallest_use_needs_no_spec(site: LabSite, tmp_path: Path) -> None:
    first, second = site.train[:2]
    same = site.run("parity", f"host:{first}", f"host:{second}", "-i", str(site.folder / "inventory" / "site.yml"))
    assert same.status == 0
    drafted = site.run(
        "init", "--from", first, "-i", str(site.folder / "inventory" / "site.yml"), "--dir", str(tmp_path / "new")
    )
    assert drafted.status == 0
    assert site.run("validate", "-f", str(tmp_path / "new" / "gpuprov.yaml")).status == 0


def test_a_recording_gives_the_same_facts_without_the_host(site: LabSite, tmp_path: Path) -> None:
    name = site.train[0]
    live, played = tmp_path / "live.json", tmp_path / "played.json"
    site.run("snapshot", name, "--out", str(live), "--full", "--record", str(tmp_path / "recording.yaml"))
    site.run("snapshot", "--replay", str(tmp_path / "recording.yaml"), "--out", str(played))
    assert json.loads(live.read_text())["body"]["facts"] == json.loads(played.read_text())["body"]["facts"]
    assert site.run("parity", str(live), str(played)).status == 0
