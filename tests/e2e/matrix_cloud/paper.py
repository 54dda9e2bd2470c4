"""Another gpuprov as a process of its own, to be struck: its account, stack and engine are real, its hosts on paper.

A host is as the lock wants it once its instance was made: what runs on hosts has a matrix of its own. Called as
`paper VERB SPEC [NAME...]`; prints the codes that were told, as JSON, and ends with the status of the command.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ground_builders import KEY, cloud_lock
from host_builders import satisfied
from lab_account import CLOUD, IMAGE, REGION, TYPE

from gpuprov.app import cloud_ground, image, image_build, image_shop, image_steps, late_storage, up
from gpuprov.app.access import Access
from gpuprov.app.ground import UpRequest
from gpuprov.app.hosts import Fleet
from gpuprov.app.image_build import BuildRequest, build_image
from gpuprov.app.planning import plan_fleet
from gpuprov.app.recover import recover
from gpuprov.cli.ending import leave_nobody_waiting
from gpuprov.lock.types import Lock
from gpuprov.model.change import HostPlan, Plan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, status_of
from gpuprov.model.planned import Planned
from gpuprov.model.progress import ignore_progress
from gpuprov.model.run import HostResult, HostState
from gpuprov.provision import cloud as waiting
from tests.e2e.matrix_cloud.elsewhere import INTERRUPTED

SPEC = f"""\
apiVersion: gpuprov/v1
name: train
os: debian-12
stack: {{driver: {{version: "580.*"}}}}
pools:
  train:
    gpu: {{model: L4, per_host: 1}}
    cloud: {{instance: {TYPE}, hosts: [train-a]}}
storage:
  datasets: {{kind: object}}
  scratch: {{kind: volume, size: 10GiB}}
targets:
  cloud:
    account: "{CLOUD.account}"
    region: {REGION}
    network: {{cidr: 10.20.0.0/16, ranges: {{office: ["203.0.113.0/24"]}}, ssh_from: [office]}}
    login_keys: [key.pub]
"""
Told = tuple[Diagnostic, ...]
_BOOT_SECONDS = 60.0


def write_site(folder: Path) -> Path:
    """Write a spec of one host with a bucket and a volume, and the login key that it names; gives the spec's path."""
    folder.mkdir()
    folder.joinpath("key.pub").write_text(f"ssh-ed25519 {KEY} me\n", encoding="utf-8")
    path = folder / "gpuprov.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def main(words: list[str]) -> int:
    """Run one command."""
    verb, path, *names = words
    put_hosts_on_paper()
    try:
        told = VERBS[verb](Path(path), tuple(names))
    except GpuprovError as error:
        told = error.diagnostics
    except KeyboardInterrupt:
        leave_nobody_waiting(INTERRUPTED, [threading.main_thread()])
        return INTERRUPTED
    rows = [[d.code, d.address, str(d.severity), d.summary, d.detail] for d in told]
    sys.stdout.write(f"{json.dumps(rows)}\n")
    return int(status_of(told))


def _up(path: Path, replace: tuple[str, ...]) -> Told:
    request = UpRequest(spec=path, access=Access(), target="cloud", replace=replace)
    return up.up(request, ask=lambda *_: True, report=ignore_progress).diagnostics


def _destroy(path: Path, data: tuple[str, ...]) -> Told:
    request = UpRequest(spec=path, access=Access(), target="cloud", release=True, delete_data=data)
    return up.up(request, ask=lambda *_: True, report=ignore_progress).diagnostics


def _recover(path: Path, _names: tuple[str, ...]) -> Told:
    return recover(path, ignore_progress, agree=lambda _: True).diagnostics


def _build(path: Path, _names: tuple[str, ...]) -> Told:
    return build_image(BuildRequest(spec=path, again=True), report=ignore_progress).diagnostics


def _prune(path: Path, _names: tuple[str, ...]) -> Told:
    """What is unchecked goes at once here, and not only after the time that a build may take."""
    image.BUILD_SECONDS = -60  # type: ignore[misc]
    return image.prune_images(path, keep=1, ask=lambda *_: True, report=ignore_progress).diagnostics


VERBS: Mapping[str, Callable[[Path, tuple[str, ...]], Told]] = {
    "up": _up,
    "destroy": _destroy,
    "recover": _recover,
    "image": _build,
    "prune": _prune,
}


def _lock() -> Lock:
    """A lock of the pool, whose base image is the account's."""
    lock = cloud_lock()
    return replace(lock, images=tuple(replace(one, id=IMAGE, region=REGION) for one in lock.images))


def put_hosts_on_paper() -> None:
    """Have hosts that answer at once and are as wanted, and a lock that needs no package source."""
    for module in (cloud_ground, image_shop, image):
        _put(module, open_lock=lambda _site: (_lock(), "lock"))
    for module in (cloud_ground, image_shop):
        _put(module, refuse_stale_lock=lambda _site, _lock: None)
    for module in (up, late_storage):
        _put(module, look_and_plan=_look)
    _put(up, foresee=lambda planned, _fleet, **_: planned, converge_hosts=_converge, prove_hosts=_prove)
    _put(cloud_ground, wait_for_hosts=_wait)
    _put(image_steps, wait_for_hosts=_wait, look_and_plan=_look_at_builder, converge_hosts=_converge)
    _put(image_steps, connect=lambda _: _Line(), clean_host=lambda _: None)
    _put(image_build, check=lambda *_: None)


def _look(fleet: Fleet, *_: Any, lock: str, **more: Any) -> Planned:
    snapshots = {host.name: satisfied(fleet.wants[host.name]) for host in fleet.hosts}
    return plan_fleet(fleet, snapshots, {}, lock=lock, waivers=more.get("waivers", ()), terms=more.get("terms"))


def _wait(account: Any, made: Any, **_: Any) -> Told:
    """Wait for the instances alone: until they run and their checks have an answer."""
    told = []
    for host in made.hosts:
        until = time.monotonic() + _BOOT_SECONDS
        while (health := account.health([host.instance_id]).get(host.instance_id)) is None or (
            str(health.state) != "running" or health.checks == "initializing"
        ):
            assert time.monotonic() < until, health
            time.sleep(0.1)
        if health.checks == "impaired":
            told.append(waiting._impaired(host))  # what the real one says of it
    return tuple(told)


def _converge(work: Any, **_: Any) -> tuple[HostResult, ...]:
    plans = work.planned.plan.hosts
    return tuple(HostResult(host=plan.host, pool=plan.pool, state=HostState.SATISFIED) for plan in plans)


def _prove(work: Any, **_: Any) -> tuple[HostResult, ...]:
    return tuple(HostResult(host=h.name, pool=h.pool, state=HostState.SATISFIED) for h in work.fleet.hosts)


def _look_at_builder(fleet: Fleet, *_: Any, **__: Any) -> Planned:
    hosts = tuple(HostPlan(host=host.name, pool=host.pool, changes=()) for host in fleet.hosts)
    return Planned(plan=Plan(lock="", wants={}, hosts=hosts), snapshots={}, not_observed={})


class _Line:
    """A connection to a host on paper."""

    def close(self) -> None:
        """There is nothing to close."""


def _put(module: Any, **instead: Any) -> None:
    for name, value in instead.items():
        assert hasattr(module, name), f"{module.__name__} has no {name} any more"
        setattr(module, name, value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
