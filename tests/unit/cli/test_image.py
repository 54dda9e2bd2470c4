"""`gpuprov image`: what reaches the use cases, and what comes out for programs."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gpuprov.app.image import Images, Pruned
from gpuprov.app.image_build import BuildRequest, Built
from gpuprov.app.image_verify import Verified, VerifyRequest
from gpuprov.cli.commands import image as module
from gpuprov.cli.main import main
from gpuprov.cloud.image_facts import VerifiedImage
from gpuprov.cloud.images import ImageStatus
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.run import HostResult, HostState

ONE = Image(
    id="ami-1",
    name="site-train-1",
    pool="train",
    os="debian-12",
    arch="amd64",
    region="us-east-1",
    baked="sha256:01",
    base="ami-0",
    made="2026-11-01T00:00:00Z",
    checked=True,
)
ROW = ImageStatus(image=ONE, in_account=True, in_list=True, current=True, used=False)


def run(*words: str) -> int:
    """Run a command; returns its status."""
    try:
        return main(["image", *words])
    except SystemExit as end:
        return int(end.code or 0)


def test_build(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[BuildRequest] = []

    def build(request: BuildRequest, *, report: Any) -> Built:
        asked.append(request)
        host = HostResult(host="builder", pool="train", state=HostState.CHANGED, tasks=9, packages=("a absent -> 1",))
        late = Diagnostic(code="GP-CLOUD-025", address="builder", summary="it could not be removed")
        return Built(image=ONE, made=True, path=Path("l.json"), host=host, seconds={"check": 1.0}, diagnostics=(late,))

    monkeypatch.setattr(module, "build_image", build)
    assert run("build", "train", "--again", "-f", "s.yaml", "--json") == 4
    assert (asked[0].pool, asked[0].again, asked[0].spec) == ("train", True, Path("s.yaml"))
    printed = capsys.readouterr()
    body = json.loads(printed.out)
    assert (body["image"]["id"], body["made"], body["tasks"], body["packages"]) == ("ami-1", True, 9, ["a absent -> 1"])
    assert "GP-CLOUD-025" in printed.err


def test_list(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(module, "list_images", lambda *_: Images(rows=(ROW,), path=Path("l.json")))
    assert run("list", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["images"]
    assert (row["id"], row["current"]) == ("ami-1", True)


@pytest.mark.parametrize(("problems", "status"), [((), 0), (("its snapshot snap-1 is gone",), 7)])
def test_verify(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], problems: tuple[str, ...], status: int
) -> None:
    asked: list[VerifyRequest] = []

    def verify(request: VerifyRequest, *, report: Any) -> Verified:
        del report
        asked.append(request)
        told = tuple(Diagnostic(code="GP-CLOUD-073", address="image.train/ami-1", summary=text) for text in problems)
        one = VerifiedImage(image=ONE, problems=problems, current=True, booted=request.boot)
        return Verified(images=(one,), diagnostics=told)

    monkeypatch.setattr(module, "verify_images", verify)
    assert run("verify", "train", "--boot", "--json") == status
    assert [(one.pool, one.boot) for one in asked] == [("train", True)]
    (row,) = json.loads(capsys.readouterr().out)["images"]
    assert (row["id"], row["problems"], row["booted"]) == ("ami-1", list(problems), True)
    assert run("verify") == status
    printed = capsys.readouterr().out
    assert (problems[0] if problems else "is what its record says") in printed


@pytest.fixture
def prune(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """`prune_images` that would remove one image; returns what was to be kept."""
    kept: list[int] = []

    def prune_images(
        spec: Path, *, keep: int, ask: Callable[[Sequence[Image], Sequence[Any]], bool], report: Any
    ) -> Pruned:
        kept.append(keep)
        return Pruned(removed=(ONE,) if ask((ONE,), (), ()) else (), snapshots=(), kept=())

    monkeypatch.setattr(module, "prune_images", prune_images)
    return kept


def test_prune_with_yes_asks_nobody(prune: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prune", "--keep", "0", "--yes", "--json") == 0
    printed = capsys.readouterr()
    assert [row["id"] for row in json.loads(printed.out)["removed"]] == ["ami-1"]
    assert "- ami-1" in printed.err
    assert prune == [0]


def test_prune_without_a_terminal_and_without_yes(prune: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prune") == 2
    printed = capsys.readouterr()
    assert "- ami-1" in printed.out
    assert "GP-RUN-002" in printed.err
    assert prune == [2]


def test_a_number_that_is_none(prune: list[int]) -> None:
    assert run("prune", "--keep", "-1") == 2
    assert prune == []
