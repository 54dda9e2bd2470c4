"""`gpuprov import`: what reaches the use case, and what comes out."""

import json
from typing import Any

import pytest

from gpuprov.app.importing import Imported, ImportRequest
from gpuprov.cli.commands import import_ as module
from gpuprov.cli.main import main
from gpuprov.cloud.importing import Import
from gpuprov.model.resource import ResourceAction, ResourceChange

ONE = Import(address="bucket.datasets", type="aws:s3/bucket:Bucket", id="theirs")
CHANGE = ResourceChange(
    address=ONE.address, type=ONE.type, action=ResourceAction.CREATE, urn="u", changes=("tags.team",)
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ImportRequest]:
    """A use case that asks once; returns its requests."""
    seen: list[ImportRequest] = []

    def take_in(request: ImportRequest, *, ask: Any, report: Any) -> Imported:
        del report
        seen.append(request)
        return Imported(resources=(ONE,), changes=(CHANGE,), done=ask((ONE,), (CHANGE,)), run="r")

    monkeypatch.setattr(module, "take_in", take_in)
    return seen


def run(*words: str) -> int:
    try:
        return main(["import", *words])
    except SystemExit as end:
        return int(end.code or 0)


def test_the_plan_is_shown_before_and_json_says_what_was_done(
    asked: list[ImportRequest], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("bucket.datasets", "theirs", "--yes", "--json") == 0
    assert [(one.what, one.id) for one in asked] == [("bucket.datasets", "theirs")]
    printed = capsys.readouterr()
    assert "= bucket.datasets  theirs" in printed.err
    assert "~ tags.team" in printed.err
    body = json.loads(printed.out)
    assert (body["done"], body["resources"][0]["changes"]) == (True, ["tags.team"])


def test_without_a_terminal_and_without_yes(asked: list[ImportRequest], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("bucket.datasets", "theirs") == 2
    assert "GP-RUN-002" in capsys.readouterr().err
    assert len(asked) == 1
