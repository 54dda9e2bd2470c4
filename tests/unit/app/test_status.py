"""`preview` and `status`: what would be made is a difference; what up would refuse is refused."""

from pathlib import Path
from typing import Any

import pytest
from app_world import World
from ground_builders import BOTH
from host_builders import fresh, satisfied

from gpuprov.app import preview as preview_module
from gpuprov.app.access import Access
from gpuprov.app.ground import Found, Ground, UpRequest
from gpuprov.app.hosts import Fleet, wants_of
from gpuprov.app.preview import preview
from gpuprov.app.status import status
from gpuprov.cloud.types import InstanceState
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import ignore_progress
from gpuprov.model.status import ExitStatus


@pytest.fixture
def seen(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The world with hosts that can be observed without a network."""

    def observe(hosts: Any, fleet: Fleet, *_: Any) -> dict[str, Any]:
        wants = {host.name: fleet.wants[host.name] for host in hosts}
        return {name: satisfied(want) if name in world.wanted else fresh(want) for name, want in wants.items()}

    monkeypatch.setattr(preview_module, "observe", observe)
    monkeypatch.setattr(preview_module, "foresee", lambda planned, _fleet, **_: planned)
    return world


def look(world: World, **request: Any) -> Any:
    return preview(UpRequest(spec=world.site.path, access=Access(), **request), ignore_progress)


def test_before_anything_is_made_everything_is_a_difference(seen: World) -> None:
    found = look(seen)
    assert len(found.planned.plan.resources.new_hosts) == 2
    assert found.status(expect_no_changes=False) is ExitStatus.DONE
    assert found.status(expect_no_changes=True) is ExitStatus.DIFFERENT
    assert status(seen.site.path, Access(), ignore_progress).status is ExitStatus.DIFFERENT
    assert "apply" not in seen.stack.calls


def test_after_up_everything_is_as_wanted(seen: World) -> None:
    seen.up()
    assert look(seen).status(expect_no_changes=True) is ExitStatus.DONE
    assert status(seen.site.path, Access(), ignore_progress).status is ExitStatus.DONE


def test_what_up_would_refuse_preview_shows_and_refuses(seen: World) -> None:
    seen.up()
    seen.rewrite("train-a")
    found = look(seen)
    assert [c.address for c in found.planned.plan.resources.changes] == ["volume.scratch/train-b", "instance.train-b"]
    assert found.status(expect_no_changes=False) is ExitStatus.REFUSED
    assert look(seen, replace=("train-b", "scratch")).status(expect_no_changes=False) is ExitStatus.DONE


def test_a_stopped_instance_is_not_observed(seen: World) -> None:
    seen.up()
    seen.account.states[seen.stack.resources["instance.train-b"].id] = InstanceState.STOPPED
    found = status(seen.site.path, Access(), ignore_progress)
    assert list(found.planned.not_observed) == ["train-b"]
    assert found.status is ExitStatus.INCOMPLETE
    assert look(seen).status(expect_no_changes=False) is ExitStatus.FAILED


def test_an_instance_that_somebody_switched_off_is_told_and_is_no_trouble(seen: World) -> None:
    seen.up()
    seen.account.switch([seen.stack.resources["instance.train-b"].id], on=False, seconds=1, report=ignore_progress)
    found = status(seen.site.path, Access(), ignore_progress)
    (off,) = found.planned.not_observed.values()
    assert (off.host, off.code, off.off, "gpuprov start train-b" in off.hint) == ("train-b", "GP-CLOUD-088", True, True)
    assert found.status is ExitStatus.DONE
    assert "GP-CLOUD-088" not in [told.code for told in found.diagnostics], "it is told once"
    assert look(seen).status(expect_no_changes=True) is ExitStatus.DONE


def test_a_limit_names_hosts_or_pools_of_the_cloud(seen: World) -> None:
    seen.up()
    limited = UpRequest(spec=seen.site.path, access=Access(limit="train-b"))
    assert [h.host for h in preview(limited, ignore_progress).planned.plan.hosts] == ["train-b"]
    with pytest.raises(GpuprovError) as caught:
        preview(UpRequest(spec=seen.site.path, access=Access(limit="nobody")), ignore_progress)
    assert [d.code for d in caught.value.diagnostics] == ["GP-CLOUD-026"]


def test_a_limit_that_would_leave_a_new_host_bare_is_refused(seen: World) -> None:
    with pytest.raises(GpuprovError) as caught:
        preview(UpRequest(spec=seen.site.path, access=Access(limit="train-b")), ignore_progress)
    assert [d.code for d in caught.value.diagnostics] == ["GP-RUN-004"]


class Rack:
    """A rack with one host."""

    target = "onprem"
    lock = "sha256:lock"
    lock_text = ""

    def __init__(self, world: World, name: str) -> None:
        from ground_builders import cloud_lock  # noqa: PLC0415

        host = Host(name=name, pool="train", target="onprem", connection=Connection(host=name, address=name))
        self.fleet = Fleet(hosts=(host,), wants=wants_of(world.site, cloud_lock(), [host]), warnings=())

    def look(self, _report: object) -> Found:
        return Found(fleet=self.fleet)


@pytest.mark.parametrize(("name", "shared"), [("rack-1", False), ("train-a", True)])
def test_status_looks_at_both_targets(seen: World, monkeypatch: pytest.MonkeyPatch, name: str, *, shared: bool) -> None:
    seen.up()
    seen.rewrite(text=BOTH)
    Path(seen.site.path.parent / "site.yml").write_text("", encoding="utf-8")
    opened = preview_module.open_ground

    def open_one(site: Any, request: UpRequest, **more: Any) -> Ground:
        if request.target == "onprem":
            return Rack(seen, name)  # type: ignore[return-value]
        return opened(site, request, **more)

    monkeypatch.setattr(preview_module, "open_ground", open_one)
    if shared:
        with pytest.raises(GpuprovError) as caught:
            status(seen.site.path, Access(), ignore_progress)
        assert [d.code for d in caught.value.diagnostics] == ["GP-INV-005"]
        return
    found = status(seen.site.path, Access(), ignore_progress)
    assert [plan.host for plan in found.planned.plan.hosts] == ["rack-1", "train-a", "train-b"]
    assert found.status is ExitStatus.DIFFERENT
    assert found.planned.plan.resources.unchanged == 6
