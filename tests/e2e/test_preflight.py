"""Before anything is touched: what is wrong with a host is told with the way out; the look itself leaves no trace."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e import runfile
from tests.e2e.reading import differences
from tests.e2e.site import Ended, LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "preflight" / "hosts.yaml").read_text(encoding="utf-8"))
STATE = (
    "find /etc /boot /var/lib/apt /var/lib/dpkg /var/cache/apt /var/cache/gpuprov /var/lib/gpuprov /usr/bin -xdev"
    " -type f -printf '%p %s %T@\\n' 2>/dev/null | grep -v '/lock[^/]* ' | sort"
)
"""What a look may not change: every file of the configuration and of the package system, with its time."""
Look = tuple[Ended, dict[str, str]]


@pytest.fixture(scope="module")
def moving(site: LabSite) -> Iterator[LabSite]:
    """The site with another driver locked: every host with GPUs has a package transaction and a reboot ahead."""
    files = [site.folder / name for name in ("gpuprov.yaml", "gpuprov.lock")]
    before = {path: path.read_bytes() for path in files}
    site.edit(f'version: "{site.lab.description.driver_branch}.*"', f'version: "{old(site)}"')
    site.run("lock")
    yield site
    for path, text in before.items():
        path.write_bytes(text)


def old(site: LabSite) -> str:
    return str(site.lab.description.driver_releases[0])


@contextmanager
def broken(site: LabSite, scene: str) -> Iterator[dict[str, str]]:
    """Do what a scene says on its hosts, and undo it: host of the case -> its name."""
    hosts = dict(zip("ab", site.train, strict=False))
    record = "/var/lib/gpuprov/owned.json"
    with ExitStack() as undo:
        for name in hosts.values():
            site.root(name, f"cp -p {record} /root/owned.json")
            undo.callback(site.root, name, f"mv /root/owned.json {record}")
        for case in CASES[scene]:
            undo.callback(site.root, hosts[case["host"]], case["heal"] or "true")
            site.root(hosts[case["host"]], case["break"].replace("{old}", f"{old(site)}-1"), check=False)
        yield hosts


def look(site: LabSite, scene: str, *argv: str) -> Look:
    """One look at a scene; no host may be another one after it."""
    with broken(site, scene) as hosts:
        limit = ",".join(hosts.values())
        before = {name: site.root(name, STATE) for name in hosts.values()}
        ended = site.run("preview", "--target", "onprem", "--json", "-l", limit, *argv, expect=None)
        assert {name: site.root(name, STATE) for name in hosts.values()} == before
    return ended, hosts


@pytest.fixture(scope="module")
def facts(moving: LabSite) -> Look:
    return look(moving, "facts")


@pytest.fixture(scope="module")
def apt(moving: LabSite) -> Look:
    return look(moving, "apt")


def said(found: Look, case: dict[str, Any]) -> tuple[str, str]:
    """What was said of a case's host under its code: severity and text."""
    ended, hosts = found
    rows = [d for d in ended.body["diagnostics"] if d["address"] == hosts[case["host"]]]
    texts = [
        (row["severity"], " ".join(str(row[key]) for key in ("code", "summary", "detail", "hint"))) for row in rows
    ]
    return next(((severity, text) for severity, text in texts if case["code"] in text), ("nothing", str(texts)))


def judged(found: Look, case: dict[str, Any]) -> None:
    severity, text = said(found, case)
    assert severity == {"refused": "error", "warning": "warning"}[case["verdict"]], text
    assert [word for word in case["words"] if word not in text] == [], text
    ended, hosts = found
    planned = {host["host"] for host in ended.body["plan"]["hosts"]}
    assert (hosts[case["host"]] in planned) is (case["verdict"] == "warning")
    assert ended.status == 5


@pytest.mark.parametrize("case", CASES["facts"], ids=lambda case: case["id"])
def test_what_is_seen_on_a_host_is_told_with_the_way_out(case: dict[str, Any], facts: Look) -> None:
    judged(facts, case)


def test_up_leaves_a_refused_host_alone(moving: LabSite) -> None:
    with broken(moving, "facts") as hosts:
        before = moving.root(hosts["a"], STATE)
        ended = moving.up("-l", hosts["a"], expect=5)
        assert ended.codes == ["GP-PRE-001"]
        assert moving.root(hosts["a"], STATE) == before


@pytest.mark.parametrize("case", CASES["apt"], ids=lambda case: case["id"])
def test_what_apt_would_do_beside_the_plan_is_told_and_refused(case: dict[str, Any], apt: Look) -> None:
    judged(apt, case)


def test_a_take_over_is_shown_and_the_operators_own_package_stays_his(moving: LabSite) -> None:
    ended, hosts = look(moving, "apt", "--take-over", "--no-rollback")
    plans = {host["host"]: host for host in ended.body["plan"]["hosts"]}
    assert list(plans) == [hosts["b"]]
    changes = [c for c in plans[hosts["b"]]["changes"] if c["action"] == "take over"]
    assert [(c["subject"], c["before"]) for c in changes] == [("nvidia-driver-site", "1")]
    assert plans[hosts["b"]]["foreseen"]["download"] > 0


@pytest.mark.matrix
def test_a_take_over_removes_and_installs_in_one_transaction(fresh_lab: Callable[..., LabSite]) -> None:
    site = fresh_lab("take", train=0, cpu=1)
    site.run("lock")
    (name,) = site.names
    case = CASES["apt"][1]
    site.root(name, case["break"].replace("libcuda1 (= {old})", "docker.io"))
    assert site.up(expect=5).codes == ["GP-PRE-003"]
    assert touched(site.up("--take-over", "--no-rollback")) == {name: "changed"}
    states = "dpkg-query -W -f='${Package} ${db:Status-Status}\\n' nvidia-driver-site docker.io 2>/dev/null"
    assert site.root(name, states, check=False).splitlines() in (
        ["docker.io installed"],
        ["docker.io installed", "nvidia-driver-site not-installed"],
        ["docker.io installed", "nvidia-driver-site config-files"],
    )
    assert set(touched(site.up()).values()) == {"satisfied"}


@pytest.mark.matrix
def test_a_driver_from_a_run_file_goes_by_its_own_uninstaller(fresh_lab: Callable[..., LabSite]) -> None:
    site = fresh_lab("run", train=1)
    site.run("lock")
    (name,) = site.names
    runfile.install(site, name, old(site))
    assert site.root(name, "cat /sys/module/nvidia/version").strip() == old(site)
    assert site.up(expect=5).codes == ["GP-PRE-002"]
    assert site.up("--take-over", expect=5).codes == ["GP-BACK-001"]
    ended = site.up("--take-over", "--no-rollback")
    assert [(host["state"], host["rebooted"]) for host in ended.body["hosts"]] == [("changed", True)]
    assert site.root(name, "[ ! -e /usr/bin/nvidia-uninstall ] && [ ! -e /var/lib/nvidia ]") == ""
    assert differences(site, name) == []
    assert touched(site.up()) == {name: "satisfied"}
