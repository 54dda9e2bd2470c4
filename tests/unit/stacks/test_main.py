import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from cloud_builders import cloud_document

Run = Callable[[Any], Any]

VARIABLE = "GPUPROV_STACK_DOCUMENT"
PROJECT = Path(__file__).resolve().parents[3] / "stacks" / "aws" / "Pulumi.yaml"


def test_the_environment_names_the_document(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "stack.json"
    path.write_text(json.dumps(cloud_document()))
    monkeypatch.setenv(VARIABLE, str(path))
    outcome = run(path)
    assert "instance.train-a" in outcome.resources
    assert set(outcome.outputs["hosts"]) == {"train-a", "train-b"}


def test_the_projects_configuration_comes_first(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "stack.json"
    path.write_text(json.dumps(cloud_document()))
    monkeypatch.setenv(VARIABLE, str(tmp_path / "other.json"))
    monkeypatch.setattr(pulumi.Config, "get", lambda _, key: str(path) if key == "document" else None)
    assert "vpc.main" in run(path).resources


def test_without_a_document_it_says_how_to_name_one(run: Run) -> None:
    with pytest.raises(pulumi.RunError, match=f"`pulumi config set document FILE`, or set {VARIABLE}"):
        run(None)


@pytest.mark.parametrize("text", [None, "{", "\xff"])
def test_a_document_that_cannot_be_read_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    path = tmp_path / "stack.json"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    monkeypatch.setenv(VARIABLE, str(path))
    with pytest.raises(pulumi.RunError, match=r"the stack document .*stack.json cannot be read"):
        run(path)


def test_the_project_is_the_one_that_stands_in_every_urn() -> None:
    project = yaml.safe_load(PROJECT.read_text())
    assert (project["name"], project["runtime"]) == ("gpuprov-aws", "python")
    assert "document" in project["config"]
