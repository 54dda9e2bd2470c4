"""`gpuprov init` and `gpuprov schema`: what an editor needs lies beside the spec."""

import json
from pathlib import Path

import jsonschema
import pytest

from gpuprov.cli.main import main


def test_init_writes_a_spec_that_names_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--dir", str(tmp_path), "--json"]) == 0
    written = [str(tmp_path / name) for name in ("gpuprov.yaml", "gpuprov.schema.json", "inventory/site.yml")]
    assert json.loads(capsys.readouterr().out) == {"written": written}
    first = (tmp_path / "gpuprov.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=gpuprov.schema.json"
    assert main(["validate", "-f", str(tmp_path / "gpuprov.yaml")]) == 0
    capsys.readouterr()
    assert main(["schema"]) == 0
    printed = capsys.readouterr().out
    assert printed == (tmp_path / "gpuprov.schema.json").read_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(printed))


def test_init_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gpuprov.schema.json").write_text("mine")
    assert main(["init", "--dir", str(tmp_path)]) == 4
    assert "gpuprov.schema.json" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["gpuprov.schema.json"]
