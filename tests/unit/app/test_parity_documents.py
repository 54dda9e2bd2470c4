"""`parity` without a host: --static, two locks, and the spec against a lock, a snapshot or a folder."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ground_builders import BOTH, RACK, cloud_lock, make_site
from host_builders import VERSIONS, edit, make_lock, make_want, satisfied

from gpuprov.app import parity as module
from gpuprov.app import parity_sides
from gpuprov.app.access import Access
from gpuprov.app.parity import ParityRequest, parity
from gpuprov.app.site import Site
from gpuprov.document.snapshot_text import write_snapshot
from gpuprov.lock.text import write_lock
from gpuprov.lock.types import Lock
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.fact import Known
from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import ignore_progress
from gpuprov.model.status import ExitStatus
from gpuprov.parity.types import Parity

STACK = '  cuda: "13.0"\n  container: {toolkit: "1.18.*"}\n  packages: [docker.io]\n'
SPEC = BOTH.replace('stack: {driver: {version: "580.*"}}', 'stack:\n  driver: {version: "580.*"}\n' + STACK)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site with a rack and a cloud, and a lock in memory."""
    monkeypatch.chdir(tmp_path)
    racked = tuple(
        Host(name=name, pool="train", target="onprem", connection=Connection(host=name, address=name))
        for name in ("rack-1", "rack-2")
    )
    monkeypatch.setattr(parity_sides, "pool_hosts", lambda _site, _access: (racked, ()))
    use(monkeypatch, cloud_lock())
    return make_site(tmp_path, text=SPEC)


def use(monkeypatch: pytest.MonkeyPatch, lock: Lock) -> None:
    monkeypatch.setattr(module, "open_lock", lambda _site: (lock, "lock"))
    monkeypatch.setattr(module, "refuse_stale_lock", lambda _site, _lock: None)


def compare(site: Site | None, *operands: str, **more: Any) -> Parity:
    request = ParityRequest(**{"operands": operands, "against_lock": False, "site": site, "access": Access(), **more})
    return parity(request, ignore_progress)


def found(verdict: Parity) -> dict[str, tuple[str, ...]]:
    return {f"{row.finding.kind}: {row.finding.address}": row.hosts for row in verdict.rows}


def test_static_says_that_both_targets_get_the_same(site: Site) -> None:
    verdict = compare(site, static=True)
    assert (verdict.hosts, verdict.status) == (("pool:train",), ExitStatus.DONE)
    assert verdict.between == ("onprem", "cloud")
    assert verdict.facets > len(VERSIONS)


def test_static_finds_an_instance_type_with_other_gpus(site: Site) -> None:
    other = site.path.read_text().replace("p5.48xlarge", "p4d.24xlarge")
    verdict = compare(make_site(site.path.parent, text=other), static=True)
    assert found(verdict) == {"different: gpu.models": ("pool:train",)}
    (row,) = verdict.rows
    assert row.finding.sides == ("onprem", "cloud")
    assert verdict.status is ExitStatus.DIFFERENT


def test_static_does_not_call_an_unknown_instance_type_the_same(site: Site) -> None:
    other = site.path.read_text().replace("p5.48xlarge", "p99.48xlarge")
    verdict = compare(make_site(site.path.parent, text=other), static=True)
    assert set(found(verdict)) == {"unknown: gpu.count", "unknown: gpu.models", "unknown: host.arch"}
    assert verdict.status is ExitStatus.INCOMPLETE


def test_static_tells_of_a_pool_on_one_target_and_compares_nothing(site: Site) -> None:
    alone = site.path.read_text().replace("    onprem: {group: train}\n", "")
    verdict = compare(make_site(site.path.parent, text=alone), static=True)
    assert verdict.status is ExitStatus.INCOMPLETE
    assert [d.code for d in verdict.diagnostics] == ["GP-PAR-004", "GP-PAR-004"]


def test_two_locks_are_compared_by_what_moves(tmp_path: Path) -> None:
    newer = {**VERSIONS, "libcuda1": "580.105.08-1", "htop": "3.2-1"}
    del newer["docker.io"]
    (tmp_path / "a.lock").write_text(write_lock(make_lock()))
    (tmp_path / "b.lock").write_text(write_lock(make_lock(newer)))
    verdict = compare(None, str(tmp_path / "a.lock"), str(tmp_path / "b.lock"))
    assert found(verdict) == {
        'different: package["libcuda1"].version': ("pool:train",),
        'missing: package["docker.io"].version': ("pool:train",),
    }
    assert [f.address for f in verdict.findings if not f.counts] == ['package["htop"].version']
    assert verdict.status is ExitStatus.DIFFERENT


def test_pools_that_only_one_lock_has_are_not_compared(tmp_path: Path) -> None:
    lock = make_lock()
    more = replace(lock, pools={**lock.pools, "infer": replace(lock.pools["train"], pool="infer")})
    (tmp_path / "a.lock").write_text(write_lock(lock))
    (tmp_path / "b.lock").write_text(write_lock(more))
    verdict = compare(None, str(tmp_path / "a.lock"), str(tmp_path / "b.lock"))
    assert verdict.hosts == ("pool:train",)
    assert [(host.host, host.reason) for host in verdict.not_compared] == [
        ("pool:infer", f"{tmp_path / 'a.lock'} has no such pool")
    ]
    assert verdict.status is ExitStatus.INCOMPLETE


def test_a_lock_holds_what_its_spec_asks(site: Site) -> None:
    for operands in (("spec", "lock"), ("./gpuprov.yaml", "lock"), ("lock", "spec")):
        verdict = compare(site, *operands)
        assert (verdict.hosts, verdict.status) == (("pool:train",), ExitStatus.DONE), found(verdict)
        assert verdict.facets > 8


def test_a_lock_that_holds_something_else_than_the_spec_asks(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {**VERSIONS, "nvidia-container-toolkit": "1.17.8-1", "cuda-toolkit-12-8": "12.8.1-1"}
    del versions["cuda-toolkit-13-0"]
    del versions["docker.io"]
    use(monkeypatch, make_lock(versions, driver="570.124.06"))
    verdict = compare(site, "spec", "lock")
    assert set(found(verdict)) == {
        "different: stack.driver.on_disk",
        "different: stack.driver.loaded",
        "different: stack.driver.nvml",
        "different: stack.cuda.toolkits",
        "different: stack.container.toolkit",
        'missing: package["docker.io"].version',
    }
    assert {row.finding.sides for row in verdict.rows} == {("spec", "pool:train")}
    assert {row.finding.origin for row in verdict.rows} >= {"spec: stack.cuda", "spec: stack.packages"}


def test_a_snapshot_is_held_against_the_spec_before_there_is_a_lock(site: Site) -> None:
    seen = satisfied(make_want(host="rack-1"))
    seen = edit(seen, {"stack.cuda.toolkits": Known(["13.0.2"]), "stack.container.toolkit": Known("1.18.0")})
    Path("rack-1.json").write_text(write_snapshot(seen))
    assert compare(site, "spec", "./rack-1.json").status is ExitStatus.DONE
    moved = edit(seen, {"stack.driver.loaded": Known("570.124.06"), "gpu.count": Known(7)})
    Path("rack-1.json").write_text(write_snapshot(moved))
    verdict = compare(site, "spec", "./rack-1.json")
    assert set(found(verdict)) == {"reboot pending: stack.driver.loaded", "different: gpu.count"}
    assert verdict.drivers[0].state == "reboot pending"


def test_a_folder_against_the_lock_tells_which_hosts_of_the_spec_it_lacks(site: Site) -> None:
    racked = make_site(site.path.parent, text=RACK)
    Path("s").mkdir()
    Path("s/rack-1.json").write_text(write_snapshot(satisfied(make_want(host="rack-1"))))
    verdict = compare(racked, "./s", against_lock=True)
    assert verdict.hosts == ("rack-1",)
    assert [(host.host, host.reason) for host in verdict.not_compared] == [("rack-2", "./s has no snapshot of it")]
    assert verdict.drivers[0].state == "equal"
    assert found(verdict) == {'unexpected: file["/etc/motd"].sha256': ("rack-1",)}


def test_folders_of_two_targets_are_compared_pool_by_pool(site: Site) -> None:
    more = site.path.read_text().replace("storage:\n", "  login: {gpu: none, onprem: {group: login}}\nstorage:\n")
    both = make_site(site.path.parent, text=more)
    for folder, name in (("rack", "rack-1"), ("rack", "rack-2"), ("cloud", "train-a"), ("cloud", "stranger")):
        Path(folder).mkdir(exist_ok=True)
        moved = {"gpu.count": Known(7)} if name == "train-a" else {}
        Path(f"{folder}/{name}.json").write_text(write_snapshot(edit(satisfied(make_want(host=name)), moved)))
    verdict = compare(both, "./rack", "./cloud")
    assert verdict.hosts == ("rack-2", "train-a")
    assert found(verdict) == {"different: gpu.count": ("train-a",)}
    assert [host.host for host in verdict.not_compared] == ["stranger"]
    assert [d.address for d in verdict.diagnostics] == ["pools.login"]


def test_in_a_folder_alone_the_only_host_of_its_pool_is_compared_with_nothing(site: Site) -> None:
    Path("s").mkdir()
    for name in ("rack-1", "train-a", "stranger"):
        Path(f"s/{name}.json").write_text(write_snapshot(satisfied(make_want(host=name))))
    verdict = compare(site, "./s")
    assert verdict.hosts == ("train-a",)
    assert [(host.host, host.reason) for host in verdict.not_compared] == [
        ("stranger", "./s has no other host to compare it with, so there is nothing to compare")
    ]
    assert verdict.status is ExitStatus.INCOMPLETE


def test_a_host_that_no_pool_has_is_refused(site: Site) -> None:
    Path("x.json").write_text(write_snapshot(satisfied(make_want(host="stranger"))))
    with pytest.raises(GpuprovError) as caught:
        compare(site, "spec", "./x.json")
    assert "in no pool" in caught.value.diagnostics[0].summary


def test_the_spec_that_is_an_operand_is_the_site(site: Site) -> None:
    assert compare(None, "./gpuprov.yaml", "lock").status is ExitStatus.DONE
    Path("other.yaml").write_text(site.path.read_text())
    with pytest.raises(GpuprovError) as caught:
        compare(site, "./other.yaml", "lock")
    assert "two specs" in caught.value.diagnostics[0].summary
