"""The machine's own sources, in both file forms; and the whole way against the real archive and apt."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuprov.lock.pool_input import Request
from gpuprov.lock.resolve import Problem, Resolution, resolve
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.sources.index import open_index
from gpuprov.sources.os_source import os_sources, parse_settings

KEYRING = "usr/share/keyrings/debian-archive-keyring.gpg"
DEB822 = """# The archive
Types: deb
# a comment between fields
URIs: http://user:secret@mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb deb-src
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Check-Valid-Until: no

Types: deb-src
URIs: http://mirror.example/source-only
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: http://mirror.example/off
Suites: bookworm
Components: main
"""
ONE_LINE = """# deb http://mirror.example/comment bookworm main
deb http://mirror.example/debian/ bookworm main   # the same again
deb [ arch=amd64 signed-by=/usr/share/keyrings/vendor.gpg ] https://vendor.example/apt bookworm stable
deb [signed-by=KEYS/debian-archive-bookworm-stable.gpg check-valid-until=no] @/backports bookworm-backports main
deb http://mirror.example/debian trixie main
deb-src http://mirror.example/debian bookworm main
""".replace("@", "http://mirror.example").replace("KEYS", "/usr/share/keyrings")


def _machine(tmp_path: Path, **files: str) -> Path:
    for name, text in {
        KEYRING: "main keys",
        "usr/share/keyrings/debian-archive-bookworm-stable.gpg": "one key",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    folder = tmp_path / "etc/apt/sources.list.d"
    folder.mkdir(parents=True)
    for name, text in files.items():
        target = folder.parent / "sources.list" if name == "main" else folder / name.replace("_", ".")
        target.write_text(text)
    return tmp_path


def test_both_file_forms_are_read_and_third_parties_left_out(tmp_path: Path) -> None:
    found = os_sources("debian-12", root=_machine(tmp_path, debian_sources=DEB822, extra_list=ONE_LINE))
    assert [(s.name, s.url.rpartition("@")[2], s.components, s.check_valid_until) for s in found] == [
        ("os/bookworm", "mirror.example/debian", ("main", "contrib"), True),
        ("os/bookworm-updates", "mirror.example/debian", ("main", "contrib"), True),
        ("os/bookworm-security", "http://mirror.example/debian-security", ("main",), False),
        ("os/bookworm", "http://mirror.example/debian/", ("main",), True),
        ("os/bookworm-backports", "http://mirror.example/backports", ("main",), False),
    ]
    assert [s.keys for s in found] == [b"main keys"] * 4 + [b"one key"]
    assert not any(s.on_host for s in found)
    assert "secret" not in repr(found)


def test_the_main_file_comes_first_and_the_same_source_counts_once(tmp_path: Path) -> None:
    found = os_sources("debian-12", root=_machine(tmp_path, main=ONE_LINE, again_list=ONE_LINE))
    assert [s.name for s in found] == ["os/bookworm", "os/bookworm-backports"]


def test_another_release_of_the_os_is_found_by_its_name(tmp_path: Path) -> None:
    root = _machine(tmp_path, debian_sources=DEB822, extra_list=ONE_LINE)
    assert [s.name for s in os_sources("debian-13", root=root)] == ["os/trixie"]


def test_an_embedded_key_is_taken(tmp_path: Path) -> None:
    text = (
        "Types: deb\nURIs: http://m.example\nSuites: bookworm\nComponents: main\n"
        "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abcd\n -----END PGP PUBLIC KEY BLOCK-----\n"
    )
    (found,) = os_sources("debian-12", root=_machine(tmp_path, a_sources=text))
    expected = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nabcd\n-----END PGP PUBLIC KEY BLOCK-----"
    assert found.keys.decode() == expected


@pytest.mark.parametrize(
    ("os_name", "says"), [("debian-13", "no source for trixie"), ("plan9-4", "knows the archives of")]
)
def test_a_machine_without_the_archive_is_told(tmp_path: Path, os_name: str, says: str) -> None:
    with pytest.raises(GpuprovError, match="GP-SRC-001") as caught:
        os_sources(os_name, root=_machine(tmp_path, debian_sources=DEB822))
    assert says in caught.value.diagnostics[0].summary


def test_the_machines_proxies_and_dates_are_read() -> None:
    dump = (
        'Acquire "";\nAcquire::http "";\nAcquire::http::Proxy "http://proxy.example:3128";\n'
        'Acquire::http::Proxy::direct.example "DIRECT";\nAcquire::https::Proxy "";\n'
        'Acquire::Check-Valid-Until "false";\n'
    )
    settings = parse_settings(dump)
    assert not settings.check_valid_until
    assert settings.for_url("http://mirror.example/debian") == {"http": "http://proxy.example:3128"}
    assert settings.for_url("http://direct.example/debian") == {}
    assert settings.for_url("https://mirror.example/debian") == {}
    assert parse_settings("").check_valid_until


def test_a_missing_keyring_is_told(tmp_path: Path) -> None:
    root = _machine(tmp_path, debian_sources=DEB822)
    (root / KEYRING).unlink()
    with pytest.raises(GpuprovError, match="GP-SRC-006"):
        os_sources("debian-12", root=root)


def _apt_plan(status: Path, names: list[str]) -> list[str]:
    options = [f"Dir::State::status={status}", "Dir::Cache::pkgcache=", "Dir::Cache::srcpkgcache="]
    argv = ["apt-get", *(word for option in options for word in ("-o", option))]
    argv += ["-s", "install", "--no-install-recommends", *names]
    text = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout
    lines = [line.split() for line in text.splitlines() if line.startswith("Inst ")]
    return sorted(f"{words[1]} {words[2].lstrip('(')}" for words in lines)


@pytest.mark.network
@pytest.mark.timeout(180)
@pytest.mark.parametrize("names", [["docker.io", "prometheus-node-exporter"], ["dkms", "nginx", "postfix"]])
def test_the_plan_over_the_real_archive_is_apts(
    names: list[str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    status = tmp_path / "status"
    status.touch()
    machine = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    os_name = f"{machine['ID']}-{machine['VERSION_ID'].strip(chr(34))}"
    cache = tmp_path_factory.getbasetemp() / "archive"
    with open_index(os_sources(os_name), arch="amd64", cache=cache, now=datetime.now(UTC)) as index:
        requests = tuple(Request(name=name, constraint="", source="os", address=name) for name in names)
        answer = resolve(Problem(index=index, requests=requests))
    assert isinstance(answer, Resolution)
    assert sorted(f"{s.name} {s.version}" for s in answer.chosen) == _apt_plan(status, names)
