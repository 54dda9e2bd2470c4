"""Hosts that did not answer a comparison: EC2 says which of them somebody switched off."""

import pytest
from app_world import World

from gpuprov.app.site import Site
from gpuprov.app.switched_off import with_switched_off
from gpuprov.cloud.types import InstanceState
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import ignore_progress
from gpuprov.model.snapshot import NotObserved


@pytest.fixture
def asked(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often the account was opened; train-b was stopped by a call, train-a by itself."""
    opened: list[str] = []

    def open_account(*_: object) -> object:
        opened.append("account")
        return world.account

    world.up()
    first, second = (world.stack.resources[f"instance.{name}"].id for name in ("train-a", "train-b"))
    world.account.states[first] = InstanceState.STOPPED
    world.account.switch([second], on=False, seconds=1, report=ignore_progress)
    monkeypatch.setattr("gpuprov.app.cloud_site.read_stack", lambda _site: world.stack.state())
    monkeypatch.setattr("gpuprov.cloud.account.open_account", open_account)
    return opened


def missing(*names: str, code: str = "GP-SSH-001") -> tuple[NotObserved, ...]:
    return tuple(NotObserved(host=name, code=code, reason="no answer") for name in names)


def codes(site: Site | None, *names: str, code: str = "GP-SSH-001") -> list[tuple[str, str]]:
    return [(one.host, one.code) for one in with_switched_off(site, missing(*names, code=code))]


def test_only_a_host_that_was_switched_off_has_that_as_its_reason(world: World, asked: list[str]) -> None:
    found = codes(world.site, "train-a", "rack-1", "train-b")
    assert found == [("train-a", "GP-SSH-001"), ("rack-1", "GP-SSH-001"), ("train-b", "GP-CLOUD-088")]
    assert asked == ["account"]


@pytest.mark.parametrize(
    ("names", "code"), [((), "GP-SSH-001"), (("rack-1",), "GP-SSH-001"), (("train-b",), "GP-PAR-004")]
)
def test_the_account_is_not_asked_without_need(
    world: World, asked: list[str], names: tuple[str, ...], code: str
) -> None:
    assert codes(world.site, *names, code=code) == [(name, code) for name in names]
    assert codes(None, *names, code=code) == [(name, code) for name in names]
    assert asked == []


def test_where_the_account_cannot_be_asked_nothing_is_made_up(
    world: World, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object) -> object:
        asked.append("refused")
        raise GpuprovError(Diagnostic(code="GP-CLOUD-003", summary="no credentials"))

    monkeypatch.setattr("gpuprov.cloud.account.open_account", closed)
    assert codes(world.site, "train-b") == [("train-b", "GP-SSH-001")]
    assert asked == ["refused"]
