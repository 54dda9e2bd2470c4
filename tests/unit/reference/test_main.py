"""The committed pages are fresh, and a stale one is named."""

from pathlib import Path

import pytest

from gpuprov.reference.__main__ import FOLDER, main, stale


def test_committed_pages_are_fresh() -> None:
    assert stale(FOLDER) == [], "run `python -m gpuprov.reference --write`"


def test_check_names_what_is_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pages"
    assert main(["--check"], folder) == 1
    assert main(["--write"], folder) == 0
    assert main(["--check"], folder) == 0
    (folder / "codes.md").write_text("edited")
    (folder / "old.md").write_text("left over")
    capsys.readouterr()
    assert main(["--check"], folder) == 1
    assert [line.split(";")[0] for line in capsys.readouterr().err.splitlines()] == ["stale: codes.md", "stale: old.md"]
    assert main([], folder) == 2
