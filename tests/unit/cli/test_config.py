"""`gpuprov config`, and that a setting reaches what it sets and is gone after the run."""

import json
import os
from pathlib import Path
from typing import Any

import click
import pytest

from gpuprov.app.access import Access
from gpuprov.cli.commands import status as status_command
from gpuprov.cli.main import gpuprov, main
from gpuprov.render.terminal import open_terminal
from gpuprov.store.cache import cache_folder
from gpuprov.store.setting_table import SETTINGS
from gpuprov.store.settings import source_timeout, user_file


@pytest.fixture
def file() -> Path:
    path = user_file(os.environ)
    path.parent.mkdir(parents=True)
    return path


def test_every_setting_has_a_flag_and_every_flag_is_a_setting() -> None:
    flags = {option for parameter in gpuprov.params for option in parameter.opts} - {"--version"}
    assert flags == {setting.flag for setting in SETTINGS}


def test_config_shows_which_layer_won(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("forks: 8\nprobe_timeout: 90\n")
    monkeypatch.setenv("GPUPROV_FORKS", "9")
    monkeypatch.setenv("GPUPROV_CACH", "/c")
    assert main(["--colour", "never", "config"]) == 0
    shown = capsys.readouterr()
    rows = {line.split()[0]: line.split()[1:] for line in shown.out.splitlines()}
    assert rows["forks"] == ["9", "GPUPROV_FORKS"]
    assert rows["probe_timeout"] == ["90", f"{file}:2"]
    assert rows["colour"] == ["never", "--colour"]
    assert rows["source_timeout"] == ["30", "default"]
    assert "GPUPROV_CACH is set" in shown.err
    assert main(["config", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["file"], body["file_exists"], body["strangers"]) == (str(file), True, ["GPUPROV_CACH"])
    assert [row["name"] for row in body["settings"]] == [setting.name for setting in SETTINGS]


def test_a_wrong_file_stops_every_command(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("forks: many\n")
    assert main(["validate", "--json"]) == 2
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["code"], found["file"], found["line"], found["column"]) == ("GP-RUN-007", str(file), 1, 8)
    assert main(["--version"]) == 0


def test_settings_reach_what_they_set_and_are_gone_afterwards(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}

    def look(spec: Path, access: Access, *_: object, **__: object) -> None:
        seen.update(forks=access.forks, probe=access.probe_seconds, cache=cache_folder(), source=source_timeout())
        seen.update(colour=open_terminal().out.is_terminal)
        raise click.Abort

    file.write_text(f"forks: 8\nprobe_timeout: 90\nsource_timeout: 5\ncolour: always\ncache: {tmp_path}/c\n")
    monkeypatch.setattr(status_command, "status", look)
    assert main(["status"]) == 8
    assert seen == {"forks": 8, "probe": 90.0, "cache": tmp_path / "c", "source": 5.0, "colour": True}
    assert main(["--forks", "7", "status", "--probe-timeout", "6"]) == 8
    assert (seen["forks"], seen["probe"]) == (7, 6.0)
    assert [name for name in os.environ if name.startswith("GPUPROV_") and "TEST" not in name] == []
    assert source_timeout() == 30.0
