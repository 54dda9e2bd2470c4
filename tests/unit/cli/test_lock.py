"""`gpuprov lock` on signed repositories in a folder: what it writes, what moves it, and what its checks say."""

import json
from pathlib import Path

import pytest
from lock_site import LockSite

from gpuprov.lock.text import read_lock

OS = [
    {"is": "libc6 2.36-9"},
    {"is": "htop 3.2.2-2", "depends": "libc6 (>= 2.34)"},
    {"is": "docker.io 20.10-1", "depends": "libc6"},
    {"is": "containerd 1.6-1"},
    {"is": "runc 1.1-1"},
]
SITE = [{"is": "tool 1.0-1", "depends": "libc6, libtool2"}, {"is": "libtool2 1.0-1"}, {"is": "unused 1.0-1"}]
STACK = "{packages: [htop, tool]}"


@pytest.fixture
def site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> LockSite:
    found = LockSite(folder=tmp_path, output=capsys)
    found.publish("os", OS)
    found.publish("site", SITE)
    found.spec(STACK, sources=("os", "site"))
    status, _, told = found.run()
    assert status == 0, told
    return found


def test_a_second_run_and_another_order_of_sources_change_no_byte(site: LockSite) -> None:
    first = site.lock.read_bytes()
    assert site.run()[0] == 0
    assert site.lock.read_bytes() == first
    site.spec(STACK, sources=("site", "os"))
    site.lock.unlink()
    assert site.run()[0] == 0
    assert site.lock.read_bytes() == first


def test_a_newer_package_moves_one_row_when_it_is_asked_for(site: LockSite) -> None:
    before = site.lock.read_text(encoding="utf-8").splitlines()
    site.publish("site", [*SITE, {"is": "tool 1.1-1", "depends": "libc6, libtool2"}, {"is": "libtool2 1.1-1"}])
    assert site.run()[1].splitlines()[-2:] == ["nothing moved", f"{site.lock}: not written"]
    assert site.lock.read_text(encoding="utf-8").splitlines() == before
    (move,) = site.json("--upgrade", "tool", "--dry-run")["moves"]
    assert (move["name"], move["before"], move["after"], move["why"]) == ("tool", "1.0-1", "1.1-1", "--upgrade")
    assert site.lock.read_text(encoding="utf-8").splitlines() == before
    status, shown, _ = site.run("--upgrade", "tool")
    assert (status, shown.splitlines()[0]) == (0, "  ~ tool  1.0-1 -> 1.1-1  site  --upgrade")
    after = site.lock.read_text(encoding="utf-8").splitlines()
    changed = [line for line in after if line not in before]
    assert [line for line in changed if '"digest"' not in line and '"tool"' not in line] == []
    assert len(changed) == 2


def test_one_lock_holds_pools_of_two_systems_each_from_its_own_sources(site: LockSite) -> None:
    for system in ("12", "13"):
        site.publish(f"os-{system}", [{"is": f"libc6 2.4{system}"}, {"is": f"htop 3+deb{system}", "depends": "libc6"}])
        site.publish(f"site-{system}", [{"is": "tool 2", "depends": "libtool2", "sha256": system * 32}, SITE[1]])
    sources = [f"{name}-{system} , systems: [debian-{system}]" for system in ("13", "12") for name in ("site", "os")]
    pools = "{old: {gpu: none, onprem: {group: a}}, new: {os: debian-13, gpu: none, onprem: {group: b}}}"
    site.spec(STACK, sources=sources, pools=pools)
    site.lock.unlink()
    status, _, told = site.run()
    assert status == 0, told
    lock = read_lock(site.lock.read_text(encoding="utf-8"), "gpuprov.lock")
    for name, system in (("old", "12"), ("new", "13")):
        rows = {row.name: row for row in lock.pools[name].packages}
        assert rows["htop"].version == f"3+deb{system}"
        assert {row.source for row in rows.values()} == {f"os-{system}", f"site-{system}"}
        assert rows["tool"].sha256 == system * 32
    assert site.run("--check")[0] == 0
    site.publish("os-13", [{"is": "libc6 2.413"}, {"is": "htop 4+deb13", "depends": "libc6"}])
    assert _reason(site, "withdrawn")[0] == "pools.new: htop"


def test_packages_of_another_architecture_are_none(site: LockSite) -> None:
    newer = {"is": "tool 9", "depends": "libtool2"}
    site.publish("site", [*SITE, {**newer, "arch": "arm64"}])
    assert site.run("--upgrade")[1].splitlines()[-2] == "nothing moved"
    site.publish("site", [*SITE, {**newer, "arch": "all"}])
    assert [move["after"] for move in site.json("--upgrade", "--dry-run")["moves"]] == ["9"]


def test_a_name_that_is_not_locked_is_no_upgrade(site: LockSite) -> None:
    before = site.lock.read_bytes()
    status, _, told = site.run("--upgrade", "tol")
    assert status == 6
    assert "GP-LOCK-009" in told
    assert "Did you mean tool?" in told
    assert site.lock.read_bytes() == before


def test_locked_refuses_what_would_move_and_writes_nothing(site: LockSite) -> None:
    before = site.lock.read_bytes()
    assert site.run("--locked")[0] == 0
    site.spec("{packages: [htop]}", sources=("os", "site"))
    status, shown, told = site.run("--locked")
    assert status == 5, told
    assert "GP-LOCK-010" in told
    assert "tool: 1.0-1 -> not locked" in told
    assert "no longer asked for" in shown
    assert site.lock.read_bytes() == before
    site.lock.unlink()
    assert site.run("--locked")[0] == 5
    assert not site.lock.exists()


def test_frozen_asks_no_source(site: LockSite) -> None:
    for path in (*site.folder.glob("*/InRelease"), *site.folder.glob("*/Packages")):
        path.unlink()
    status, shown, _ = site.run("--frozen")
    assert (status, shown) == (0, "the lock fits spec and catalog; no source was asked\n")
    assert site.run("--check")[0] == 4
    site.spec("{packages: [htop]}", sources=("os", "site"))
    assert site.run("--frozen")[0] == 5


@pytest.mark.parametrize(
    "words",
    [("--check", "--upgrade"), ("--frozen", "--dry-run"), ("--check", "--locked"), ("--locked", "--upgrade", "tool")],
)
def test_words_that_do_not_go_together_are_refused(site: LockSite, words: tuple[str, ...]) -> None:
    assert site.run(*words)[0] == 2


def test_a_fresh_lock_with_something_newer_is_fresh_and_says_so(site: LockSite) -> None:
    site.publish("site", [*SITE, {"is": "tool 1.1-1"}, {"is": "other 9"}])
    status, shown, told = site.run("--check")
    assert (status, shown) == (0, "the lock is fresh\n")
    assert "note[GP-LOCK-011]" in told
    assert "tool: the lock has 1.0-1, offered is 1.1-1" in told
    body = site.json("--check")
    assert (body["fresh"], body["reasons"]) == (True, [])
    assert body["newer"] == [{"pool": "train", "name": "tool", "locked": "1.0-1", "offered": "1.1-1"}]


def test_what_a_lock_does_not_depend_on_leaves_it_fresh(site: LockSite) -> None:
    site.path.write_text(f"# a comment\n{site.path.read_text()}files: {{/etc/motd: {{text: hello}}}}\n")
    site.publish("site", [*SITE[:2], {"is": "unused 2.0-1", "depends": "libc6"}])
    assert site.run("--check")[0] == 0


def _reason(site: LockSite, kind: str) -> tuple[str, str, str]:
    status, _, told = site.run("--check")
    assert status == 5, told
    assert "GP-LOCK-004" in told
    reasons = [reason for reason in site.json("--check")["reasons"] if reason["kind"] == kind]
    return reasons[-1]["address"], reasons[-1]["locked"], reasons[-1]["found"]


def test_a_withdrawn_row_makes_the_lock_stale(site: LockSite) -> None:
    site.publish("site", [{"is": "tool 1.1-1", "depends": "libtool2"}, SITE[1]])
    assert _reason(site, "withdrawn") == ("pools.train: tool", "1.0-1 from site", "1.1-1 there")


def test_a_row_with_another_content_makes_the_lock_stale(site: LockSite) -> None:
    site.publish("site", [{**SITE[0], "sha256": "b" * 64}, SITE[1]])
    address, locked, found = _reason(site, "changed")
    assert address == "pools.train: tool"
    assert locked.startswith("1.0-1 with sha256 ")
    assert found == f"1.0-1 with sha256 {'b' * 64}"


def test_a_value_of_the_stack_makes_the_lock_stale(site: LockSite) -> None:
    site.spec('{packages: [htop, {name: tool, version: "2.*"}]}', sources=("os", "site"))
    assert _reason(site, "spec") == ("pools.train: stack.packages", "tool (any version)", "tool 2.*")


def test_a_package_in_front_of_others_changes_nothing_but_its_own_rows(site: LockSite) -> None:
    before = {line.rstrip(",") for line in site.lock.read_text(encoding="utf-8").splitlines()}
    site.spec("{packages: [unused, htop, tool]}", sources=("os", "site"))
    assert _reason(site, "spec") == ("pools.train: stack.packages", "no such request", "unused (any version)")
    assert site.run()[0] == 0
    after = {line.rstrip(",") for line in site.lock.read_text(encoding="utf-8").splitlines()}
    assert [line for line in after - before if '"unused"' not in line and "sha256:" not in line] == []


def test_a_catalog_row_that_was_used_makes_the_lock_stale(site: LockSite) -> None:
    site.spec("{container: {engine: docker}}", sources=("os", "site"))
    status, _, told = site.run()
    assert status == 0, told
    folder = site.folder / "catalog"
    folder.mkdir()
    source = 'sources: {own: {title: "our tests", url: "https://example.org", as_of: "2026-11"}}\n'
    rows = "rows: [{id: debian-12, engine: [containerd], sources: [own]}]\n"
    (folder / "systems.yaml").write_text(source + rows, encoding="utf-8")
    site.spec("{container: {engine: docker}}", sources=("os", "site"), more="catalog: catalog\n")
    address, locked, found = _reason(site, "catalog")
    assert address == "catalog.systems.debian-12"
    assert locked.startswith("engine: docker.io, containerd, runc; ")
    assert found.startswith("engine: containerd; ")
    assert {reason["kind"] for reason in site.json("--check")["reasons"]} == {"catalog"}
    (folder / "systems.yaml").write_text(
        source + "rows: [{id: debian-13, engine: [containerd], sources: [own]}]\n", encoding="utf-8"
    )
    status, _, told = site.run("--check")
    assert status == 0, told  # a row that the lock does not use


def test_a_lock_that_was_edited_is_stale_with_what_it_really_holds(site: LockSite) -> None:
    text = site.lock.read_text(encoding="utf-8")
    (digest,) = (
        row["sha256"] for row in json.loads(text)["body"]["pools"]["train"]["packages"] if row["name"] == "tool"
    )
    site.lock.write_text(text.replace(digest, "c" * 64), encoding="utf-8")
    assert _reason(site, "edited")[0] == "digest"
    assert _reason(site, "changed")[1] == f"1.0-1 with sha256 {'c' * 64}"
    status, _, told = site.run()
    assert status == 5, told
    assert "GP-DOC-006" in told
    assert "from version control" in told


def test_a_lock_of_another_release_is_stale(site: LockSite) -> None:
    text = site.lock.read_text(encoding="utf-8")
    site.lock.write_text(text.replace("gpuprov/v1", "gpuprov/v9"), encoding="utf-8")
    assert "v9" in "".join(_reason(site, "format"))


def test_a_lock_that_is_no_lock_is_told_apart(site: LockSite) -> None:
    site.lock.write_text("<<<<<<< HEAD\n", encoding="utf-8")
    status, _, told = site.run("--check")
    assert status == 2
    assert "GP-DOC-002" in told
