"""`gpuprov explain`: what it prints for people and for programs, with and without a spec at hand."""

import json
from pathlib import Path
from typing import Any

import click
import pytest

from gpuprov.app.explain import explain_subject
from gpuprov.cli.commands.explain import command
from gpuprov.cli.main import main
from gpuprov.model.facets import FACETS

SPEC = """\
apiVersion: gpuprov/v1
name: t
os: debian-12
stack: {driver: {version: "580.*"}}
pools: {a: {gpu: none, stack: {driver: {version: "595.*"}}}}
"""


def body(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["explain", *words, "--json"]) == 0
    read: dict[str, Any] = json.loads(capsys.readouterr().out)
    return read


def test_the_spec_at_hand_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert body(capsys, "stack.driver.version")["field"]["here"] == []
    (tmp_path / "gpuprov.yaml").write_text(SPEC)
    here = body(capsys, "stack.driver.version")["field"]["here"]
    assert [(row["value"], row["layer"], row["line"]) for row in here] == [("580.*", "spec", 4)]
    here = body(capsys, "pools.a.stack.driver")["field"]["here"]
    assert [(row["address"], row["value"], row["layer"]) for row in here] == [
        ("pools.a.stack.driver.version", "595.*", "override"),
        ("pools.a.stack.driver.modules", "open", "default"),
        ("pools.a.stack.driver.source", "nvidia", "default"),
    ]
    assert main(["explain", "pools.a.stack.driver.version"]) == 0
    shown = capsys.readouterr().out
    assert '"595.*"  gpuprov.yaml:5:50, in place of stack.driver.version' in shown
    assert "reboot into it, batch by batch" in shown


def test_a_spec_that_is_not_sound_is_no_reason_to_say_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.yaml").write_text("apiVersion: gpuprov/v1\n")
    assert main(["explain", "stack.cuda", "-f", str(tmp_path / "s.yaml")]) == 0
    assert "the spec is not sound" in capsys.readouterr().out
    assert main(["explain", "stack.cuda", "-f", str(tmp_path / "none.yaml")]) == 2


def test_a_facet_names_what_observes_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = body(capsys, "file[/etc/motd].mode")
    assert found["subject"] == 'file["/etc/motd"].mode'
    assert "/etc/motd" in found["facet"]["command"]
    assert found["facet"]["class"] == "must-equal"
    assert "files" in found["facet"]["fields"]


def test_every_facet_has_a_command_that_observes_it() -> None:
    for facet in FACETS:
        found = explain_subject(facet.pattern, None)
        assert found.command, facet.pattern


def test_a_rule_has_its_text_its_sources_and_what_satisfies_it(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = body(capsys, "gp-rule-001")["codes"]
    assert "Refused below the lowest driver" in code["rule"]["asks"]
    assert any("CUDA Compatibility" in source for source in code["rule"]["catalog"]["toolkits.min_driver"])
    assert "older stack.cuda" in code["rule"]["satisfies"]
    assert main(["explain", "GP-RULE-001"]) == 0
    shown = capsys.readouterr().out
    assert "more: `gpuprov catalog show`" in shown
    assert "satisfied by  a driver at or above" in shown


def test_a_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert body(capsys, "GP-DOC-003")["codes"] == [
        {
            "code": "GP-DOC-003",
            "group": "Documents",
            "status": 2,
            "title": "a YAML construct that is not allowed in gpuprov's documents",
            "rule": None,
        }
    ]


def test_everything_there_is_to_ask_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("apiVersion", "host.os", "GP-INT-001"))


def test_a_name_that_means_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "stack.drivr"]) == 6
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "did you mean stack.driver?" in shown.err


def test_a_shell_completes_names() -> None:
    subject = next(parameter for parameter in command.params if parameter.name == "subject")
    found = [item.value for item in subject.shell_complete(click.Context(command), "stack.driver.m")]
    assert found == ["stack.driver.modules"]
    assert "GP-SPEC-003" in [item.value for item in subject.shell_complete(click.Context(command), "GP-SPEC")]
