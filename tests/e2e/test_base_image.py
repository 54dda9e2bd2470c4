"""A newer base image between two runs, in an account on paper: nothing moves until somebody says so, then one host."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from lab_account import IMAGE, REGION, ZONE, Cloud, lab_account
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.app import cloud_ground, leaving
from gpuprov.app import lock as app_lock
from gpuprov.app.access import Access
from gpuprov.app.base_images import find_in_account
from gpuprov.app.cloud_ground import CloudGround
from gpuprov.app.cloud_site import open_cloud
from gpuprov.app.ground import Found
from gpuprov.app.lock import Intent
from gpuprov.app.site import open_site
from gpuprov.lab.aws import faults
from gpuprov.lab.aws.plugin.server import PluginServer
from gpuprov.lock.index import MemoryIndex
from gpuprov.model.progress import ignore_progress
from gpuprov.model.resource import ResourceAction

SPEC = f"""\
apiVersion: gpuprov/v1
name: images
os: debian-12
pools:
  login:
    gpu: none
    cloud: {{instance: m7i.large, hosts: [login-a, login-b]}}
    rollout: {{drain: {{command: "echo $GPUPROV_HOST >> drained", back: "true", wait: 5s}}}}
targets:
  cloud:
    account: "{DEFAULT_ACCOUNT_ID}"
    region: {REGION}
    network:
      {{cidr: 10.61.0.0/16, public: true, zones: [{ZONE}], ranges: {{office: [203.0.113.0/24]}}, ssh_from: [office]}}
    login_keys: [key.pub]
"""
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me\n"


class NoPackages(MemoryIndex):
    """An index without a package, which can be closed: the spec locks none."""

    selectors: ClassVar[dict[str, str]] = {}

    def close(self) -> None:
        """Nothing is open."""


class Link:
    """A host that takes the mark of a drain."""

    def run(self, *_: Any, **__: Any) -> None: ...

    def put(self, *_: Any, **__: Any) -> None: ...

    def close(self) -> None: ...


@dataclass(kw_only=True)
class Site:
    """A spec in a folder, and the account that it is for."""

    folder: Path
    cloud: Cloud

    def lock(self, *upgrade: str) -> list[tuple[str, str, str]]:
        """Lock; what moved."""
        made = app_lock.make(
            self.folder / "gpuprov.yaml",
            upgrade=frozenset(upgrade),
            intent=Intent.WRITE,
            report=ignore_progress,
            find_images=find_in_account,
        )
        return [(move.name, move.before.partition(" ")[0], move.after.partition(" ")[0]) for move in made.moves]

    def up(self, *replace: str, go_on: bool = True) -> Found:
        """The provision of `up`: recovery, the look, and what that shows."""
        ground = CloudGround(open_cloud(open_site(self.folder / "gpuprov.yaml")), Access(), replace=replace)
        ground.settle(ignore_progress)
        found = ground.look(ignore_progress)
        assert found.refused == ()
        if go_on and not found.resources.empty:
            grown = ground.make(ignore_progress, threading.Event())
            assert grown.diagnostics == ()
        return found

    def instances(self) -> dict[str, tuple[str, str]]:
        """Name -> id and image of what runs, asked past gpuprov."""
        rows = self.cloud.client("ec2").describe_instances(
            Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}]
        )["Reservations"]
        found = [row for reservation in rows for row in reservation["Instances"]]
        names = [next(tag["Value"] for tag in row["Tags"] if tag["Key"] == "Name") for row in found]
        assert len(set(names)) == len(names)
        return {name: (row["InstanceId"], row["ImageId"]) for name, row in zip(names, found, strict=True)}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    (tmp_path / "gpuprov.yaml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "key.pub").write_text(KEY, encoding="utf-8")
    (tmp_path / "account").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(app_lock, "_open", lambda *_: ((), {("debian-12", "amd64"): NoPackages.of([])}))
    monkeypatch.setattr(cloud_ground, "wait_for_hosts", lambda *_, **__: ())  # no node boots here
    monkeypatch.setattr(leaving, "connect", lambda _connection: Link())
    with lab_account(tmp_path / "account") as cloud:
        server = PluginServer(endpoint=cloud.endpoint)
        server.start()
        given = {
            "AWS_ENDPOINT_URL": cloud.endpoint,
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "none",
            "PULUMI_DEBUG_PROVIDERS": f"aws:{server.port}",
        }
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("AWS_PROFILE", raising=False)
        yield Site(folder=tmp_path, cloud=cloud)
        server.stop()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_newer_base_image_moves_nothing_but_the_one_host_that_is_named(site: Site) -> None:
    assert site.lock() == [("base image debian-12 amd64", "", IMAGE)]
    assert not site.up().resources.empty
    first = site.instances()
    assert {image for _, image in first.values()} == {IMAGE}
    text = (site.folder / "gpuprov.lock").read_text(encoding="utf-8")

    newer = faults.publish_image(os.environ["AWS_ENDPOINT_URL"])
    assert site.lock() == []
    assert (site.folder / "gpuprov.lock").read_text(encoding="utf-8") == text
    assert site.lock("image") == [("base image debian-12 amd64", IMAGE, newer)]

    found = site.up()
    assert found.resources.empty
    assert [(d.code, d.address) for d in found.diagnostics] == [
        ("GP-CLOUD-020", "login-a"),
        ("GP-CLOUD-020", "login-b"),
    ]
    assert site.instances() == first

    replaced = site.up("login-a")
    assert {(c.address, c.action) for c in replaced.resources.changes} == {("instance.login-a", ResourceAction.REPLACE)}
    assert replaced.drains == {"login-a": "command, up to 5s"}
    assert (site.folder / "drained").read_text(encoding="utf-8") == "login-a\n"
    after = site.instances()
    assert after["login-b"] == first["login-b"]
    assert after["login-a"][1] == newer
    assert after["login-a"][0] != first["login-a"][0]
