"""The folder of own rows on disk: relative to the spec, by the endings of its files."""

from pathlib import Path

import pytest

from gpuprov.app.own_rows import folder_reader
from gpuprov.model.diagnostic import GpuprovError


def test_a_folder_is_read_relative_to_the_spec(tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    for name in ("gpus.yaml", "branches.json", "README.md", "notes.txt"):
        (folder / name).write_text(name)
    (folder / "dcgm.yaml").mkdir()
    found = folder_reader(tmp_path / "gpuprov.yaml")("rows")
    assert found == {str(folder / "branches.json"): "branches.json", str(folder / "gpus.yaml"): "gpus.yaml"}


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GpuprovError) as caught:
        folder_reader(tmp_path / "gpuprov.yaml")("rows")
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-DOC-001", "catalog")]
    assert str(tmp_path / "rows") in caught.value.diagnostics[0].summary
