"""The hosts' end."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from app_world import World, make_world
from click.testing import CliRunner
from ground_builders import SPEC

from gpuprov.app import expiry
from gpuprov.app.ground import UpRequest
from gpuprov.cli.commands import destroy
from gpuprov.model.diagnostic import GpuprovError, Severity

TTL = SPEC.replace("region: us-east-1\n", "region: us-east-1\n    ttl: 12h\n")
MADE = "2026-11-30T07:00:00.24159568Z"
OLDER = "2026-11-01T07:00:00Z"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = make_world(tmp_path, monkeypatch, text=TTL)
    world.up()
    # Buckets and volumes are older: they outlive hosts, and do not count.
    for address, row in world.stack.resources.items():
        created = MADE if address.startswith(("instance", "vpc")) else OLDER
        world.stack.resources[address] = replace(row, created=created)
    monkeypatch.setattr(expiry, "read_stack", lambda _site: world.stack.state())
    return world


@pytest.mark.parametrize(
    ("now", "due", "severity", "words"),
    [
        ("2026-11-30T18:59:59", False, Severity.NOTE, "until 2026-11-30T19:00:00Z"),
        ("2026-11-30T19:00:01", True, Severity.WARNING, "over since 2026-11-30T19:00:00Z"),
    ],
)
def test_the_end_is_counted_from_the_first_host(
    world: World, monkeypatch: pytest.MonkeyPatch, now: str, due: object, severity: Severity, words: str
) -> None:
    moment = datetime.fromisoformat(f"{now}+00:00").timestamp()
    monkeypatch.setattr("gpuprov.app.expiry.time.time", lambda: moment)
    end = expiry.look_at_end(world.site.path, None)
    assert end is not None
    assert end.due is due
    (told,) = [d for d in world.up().diagnostics if d.code == "GP-CLOUD-059"]
    assert told.severity is severity
    assert words in told.summary
    ran: list[UpRequest] = []

    def apply(request: UpRequest, **_: Any) -> int:
        ran.append(request)
        return 0

    monkeypatch.setattr(destroy, "apply", apply)
    done = CliRunner().invoke(destroy.command, ["-f", str(world.site.path), "--expired"], standalone_mode=False)
    assert done.return_value == 0
    assert [(request.release, request.target) for request in ran] == ([(True, "cloud")] if due else [])


def test_without_hosts_nothing_is_due(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.stack.resources = {a: r for a, r in world.stack.resources.items() if a.startswith(("bucket", "volume"))}
    monkeypatch.setattr(destroy, "apply", lambda *_, **__: pytest.fail("it was not due"))
    assert expiry.look_at_end(world.site.path, "cloud") is None
    done = CliRunner().invoke(destroy.command, ["-f", str(world.site.path), "--expired"], standalone_mode=False)
    assert done.return_value == 0
    assert "nothing is due" in done.output


@pytest.mark.parametrize(("text", "target"), [(TTL, "onprem"), (SPEC, None)])
def test_a_rack_and_a_spec_without_a_ttl_have_no_end(world: World, text: str, target: str | None) -> None:
    world.rewrite(text=text)
    with pytest.raises(GpuprovError) as caught:
        expiry.look_at_end(world.site.path, target)
    assert [d.code for d in caught.value.diagnostics] == ["GP-RUN-004"]
