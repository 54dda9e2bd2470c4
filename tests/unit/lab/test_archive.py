from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.lab.archive import Archive, choose_suites, parse_options, read_archive
from gpuprov.model.diagnostic import GpuprovError

CASES = yaml.safe_load(Path("tests/cases/lab/archive_suites.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_suites_of_a_node_are_those_of_the_machine(case: dict[str, Any]) -> None:
    if case["suites"] is None:
        with pytest.raises(GpuprovError) as caught:
            choose_suites(case["rows"], own=case["own"], wanted=case["wanted"])
        assert case["own"] in caught.value.diagnostics[0].summary
    else:
        chosen = choose_suites(case["rows"], own=case["own"], wanted=case["wanted"])
        assert chosen == tuple(tuple(pair) for pair in case["suites"])


def test_the_sources_file_has_one_paragraph_per_address() -> None:
    archive = Archive(
        os="debian-12",
        codename="bookworm",
        suites=(
            ("http://a.example/", "bookworm"),
            ("http://b.example/", "bookworm-security"),
            ("http://a.example/", "x"),
        ),
        options=(("Acquire::http::Proxy", "http://proxy.example:3128"),),
    )
    assert archive.main_uri == "http://a.example/"
    assert archive.sources().count("Types: deb\n") == 2
    assert "URIs: http://a.example/\nSuites: bookworm x\nComponents: main\n" in archive.sources()
    assert "URIs: http://b.example/\nSuites: bookworm-security\nComponents: main\n" in archive.sources()
    assert archive.configuration() == 'Acquire::http::Proxy "http://proxy.example:3128";\n'


def test_only_options_that_a_node_needs_are_copied() -> None:
    lines = ["Acquire|", "Acquire::Check-Date|false", "Acquire::Languages::|none", "Acquire::http::Proxy|http://p:1"]
    assert parse_options(lines) == (("Acquire::http::Proxy", "http://p:1"), ("Acquire::Check-Date", "false"))
    assert parse_options(["Acquire::http::Proxy|"]) == ()


def test_an_os_that_a_node_cannot_have_is_refused() -> None:
    with pytest.raises(GpuprovError) as caught:
        read_archive("ubuntu-24.04")
    assert "debian-12" in caught.value.diagnostics[0].hint


def test_a_machine_of_another_distribution_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    release = {"ID": "fedora", "PRETTY_NAME": "Fedora 42"}
    monkeypatch.setattr("gpuprov.lab.archive.platform.freedesktop_os_release", lambda: release)
    with pytest.raises(GpuprovError) as caught:
        read_archive("debian-12")
    assert "Fedora 42" in caught.value.diagnostics[0].summary
