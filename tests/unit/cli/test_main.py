"""The entry point."""

import tomllib
from pathlib import Path

import pytest

from gpuprov.cli.main import main

PROJECT = next(p for p in Path(__file__).parents if p.name == "tests").parent / "pyproject.toml"


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"gpuprov {tomllib.loads(PROJECT.read_text())['project']['version']}\n"
