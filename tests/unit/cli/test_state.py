"""`state` at the command line: what it prints, what it asks, what it refuses without a terminal."""

import json
from pathlib import Path

import pytest
from ground_builders import make_site
from state_files import state_file

from gpuprov.app.cloud_site import place_of
from gpuprov.cli.main import main
from gpuprov.cloud.copies import back_up

WHOLE = (Path(__file__).parents[2] / "cases" / "cloud" / "states" / "whole.json").read_text(encoding="utf-8")


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """A spec whose stack is broken, with one whole copy."""
    site = make_site(tmp_path)
    place = place_of(site, {})
    path = state_file(place)
    path.parent.mkdir(parents=True)
    path.write_text(WHOLE)
    back_up(place)
    path.write_text("{")
    return str(site.path)


def test_a_record_is_shown_and_given_as_json(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "list", "-f", spec]) == 0
    assert "site: broken in " in capsys.readouterr().out
    assert main(["state", "list", "-f", spec, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["resources"], body["backend"], len(body["copies"])) == (None, "local", 1)


def test_a_copy_is_put_back_only_when_that_was_said(
    spec: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    assert main(["state", "restore", "-f", spec]) == 2
    told = capsys.readouterr()
    assert "back to " in told.out
    assert "GP-RUN-002" in told.err
    assert main(["state", "restore", "-f", spec, "--yes", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["done"], body["now_broken"], body["kept"].startswith("backups/site/")) == (True, True, True)
    assert main(["state", "list", "-f", spec]) == 0
    assert "unfinished" in capsys.readouterr().out


def test_nobody_to_unlock(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "unlock", "-f", spec]) == 0
    assert capsys.readouterr().out == "nobody holds the state\n"
