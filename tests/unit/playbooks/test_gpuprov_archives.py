"""Kept archives, with the real dpkg-deb; and that the real apt installs from them without any other source."""

import os
import subprocess
from pathlib import Path

import pytest
from ansible.module_utils import gpuprov_apt as apt
from ansible.module_utils.gpuprov_archives import Archives
from ansible.module_utils.gpuprov_root import AptRoot
from apt_simulation import read_simulation


def run(argv: list[str]) -> tuple[int, str, str]:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    return done.returncode, done.stdout, done.stderr


def make_deb(folder: Path, name: str, version: str, depends: str = "") -> Path:
    """A package file, named as apt names it."""
    tree = folder / f"tree-{name}-{version}"
    (tree / "DEBIAN").mkdir(parents=True)
    fields = {"Package": name, "Version": version, "Architecture": "amd64", "Maintainer": "x <x@example.com>"}
    fields |= {"Depends": depends} if depends else {}
    text = "".join(f"{key}: {value}\n" for key, value in fields.items())
    (tree / "DEBIAN" / "control").write_text(f"{text}Description: one line\n and one more\n")
    path = folder / f"{name}_{version.replace(':', '%3a')}_amd64.deb"
    subprocess.run(["dpkg-deb", "-b", "--root-owner-group", str(tree), str(path)], check=True, capture_output=True)
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with two releases of one package, and one that needs the older."""
    debs = tmp_path / "debs"
    debs.mkdir()
    archives = Archives(run, tmp_path / "store")
    for name, version, depends in (("gpa", "1:1.0-1", ""), ("gpa", "1:2.0-1", ""), ("gpb", "1.0", "gpa (= 1:1.0-1)")):
        assert archives.take(make_deb(debs, name, version, depends))
    archives.save()
    return tmp_path / "store"


def test_what_was_kept_is_found_by_the_next_run(store: Path) -> None:
    found = Archives(run, store).find("gpa", "1:1.0-1")
    assert found is not None
    assert (found.arch, found.file) == ("amd64", "gpa_1%3a1.0-1_amd64.deb")
    assert Archives(run, store).find("gpa", "3") is None
    assert Archives(run, store).size() == sum(path.stat().st_size for path in (store / "archives").iterdir())


@pytest.mark.parametrize("harm", ["changed", "gone", "another digest wanted"])
def test_an_archive_that_is_not_as_it_came_is_not_handed_out(store: Path, harm: str) -> None:
    path = store / "archives" / "gpb_1.0_amd64.deb"
    if harm == "changed":
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    elif harm == "gone":
        path.unlink()
    archives = Archives(run, store)
    # A mere look does not read the file.
    assert archives.lists("gpb", "1.0", "f" * 64 if harm == "another digest wanted" else "") is (harm == "changed")
    assert archives.find("gpb", "1.0", "f" * 64 if harm == "another digest wanted" else "") is None
    archives.publish()
    assert ("Package: gpb" in (store / "Packages").read_text()) is (harm == "another digest wanted")


def test_another_file_than_the_lock_named_is_not_taken(tmp_path: Path) -> None:
    archives = Archives(run, tmp_path / "store")
    path = make_deb(tmp_path, "gpa", "1.0")
    assert archives.take(path, "0" * 64) is False
    assert archives.find("gpa", "1.0") is None
    assert not (tmp_path / "store").exists()


def test_only_what_is_asked_for_stays(store: Path) -> None:
    archives = Archives(run, store)
    archives.prune({("gpa", "1:1.0-1")})
    assert [path.name for path in (store / "archives").iterdir()] == ["gpa_1%3a1.0-1_amd64.deb"]
    assert Archives(run, store).find("gpa", "1:2.0-1") is None


def test_apt_installs_from_the_kept_archives_and_from_nothing_else(store: Path, tmp_path: Path) -> None:
    archives = Archives(run, store)
    archives.publish()
    root = AptRoot(root=tmp_path / "apt", host_etc=tmp_path / "none", host_lists=tmp_path / "none")
    pins = "Package: gpa\nPin: version 1:1.0-1\nPin-Priority: 1001\n"
    root.write([], pins, archives.line)
    (tmp_path / "status").touch()
    options = ["-o", f"Dir::State::status={tmp_path}/status", "-o", "APT::Sandbox::User=root"]
    hooks = [f"APT::Update::{when}::=touch {tmp_path}/hook" for when in ("Pre-Invoke", "Post-Invoke")]
    options += [word for hook in hooks for word in ("-o", hook)]
    update = ["apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any", *options]
    status, out, err = run([*update, *root.update_ours])
    assert status == 0, out + err
    assert not (tmp_path / "hook").exists()
    install = ["apt-get", "install", "-y", "-q", *root.options, *options, "gpa=1:1.0-1", "gpb=1.0"]
    status, out, err = run([*install, "-s"])
    assert status == 0, out + err
    assert {line.split()[1] for line in out.splitlines() if line.startswith("Inst ")} == {"gpa", "gpb"}
    # What apt itself would say to a file that is not the listed one.
    path = store / "archives" / "gpb_1.0_amd64.deb"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    status, out, err = run([*install, "--download-only"])
    assert status != 0
    assert "Hash Sum mismatch" in out + err


INSTALLED = """Package: gpa
Status: {gpa}
Version: 1:2.0-1
Architecture: amd64
Maintainer: x <x@example.com>
Description: x

Package: needs-new
Status: install ok installed
Version: 1
Architecture: all
Depends: gpa (>= 1:2.0-1)
Maintainer: x <x@example.com>
Description: x
"""


@pytest.mark.parametrize(
    ("gpa", "words", "moved"),
    [
        (
            "install ok installed",
            ["gpa=1:1.0-1", "gpb=1.0"],
            {("gpa", "1:2.0-1", "1:1.0-1"), ("gpb", None, "1.0"), ("needs-new", "1", None)},
        ),
        ("hold ok installed", ["gpa=1:1.0-1"], {("gpa", "1:2.0-1", "1:1.0-1"), ("needs-new", "1", None)}),
        ("install reinstreq half-installed", ["--fix-broken"], {("gpa", "1:2.0-1", "1:2.0-1")}),
        ("install ok installed", ["needs-new-"], {("needs-new", "1", None)}),
        ("install ok installed", ["gpa"], set()),
    ],
)
def test_apt_announces_what_it_would_simulate(
    store: Path, tmp_path: Path, gpa: str, words: list[str], moved: set[tuple[str, str | None, str | None]]
) -> None:
    archives = Archives(run, store)
    archives.publish()
    root = AptRoot(root=tmp_path / "apt", host_etc=tmp_path / "none", host_lists=tmp_path / "none")
    root.write([], "", archives.line)
    (tmp_path / "status").write_text(INSTALLED.format(gpa=gpa))
    options = ["-o", f"Dir::State::status={tmp_path}/status", "-o", "APT::Sandbox::User=root"]
    status, out, err = run(["apt-get", "update", "-q", *root.update_ours, *options])
    assert status == 0, out + err
    install = ["apt-get", "install", *apt.OPTIONS, *root.options, *options, "--allow-downgrades", *words]
    _, query, _ = run(["dpkg-query", f"--admindir={tmp_path}", "-W", "-f", apt.QUERY_FORMAT])
    known = apt.parse_status(query, "amd64")
    _, simulated, _ = run([*install, "-s"])
    status, out, err = run([*install, *root.announcing])
    assert status == 0, out + err
    announced = {(step.name, step.before, step.after) for step in apt.parse_announced(out, "amd64", known)}
    assert announced == moved
    # A simulation is silent about what dpkg asks for again.
    told = {(step.name, step.before, step.after) for step in read_simulation(simulated, "amd64")}
    assert {move for move in announced if move[1] != move[2]} == told
