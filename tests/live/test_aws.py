"""The cloud half on a real AWS account: what only AWS can show.

The first four checks make nothing. The others need GPUPROV_LIVE_SPEND and share one instance; a quota of four vCPUs
for G instances is enough, but a replacement may need eight (old and new at once).
"""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpuprov.catalog.find import image as image_row
from gpuprov.cloud.account import Account as ProductAccount
from gpuprov.cloud.account import open_account
from gpuprov.cloud.console import find_host_keys
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.cloud import CloudSpec
from tests.e2e.site import touched
from tests.live.account import LiveAccount
from tests.live.conftest import GPU_TYPES
from tests.live.site import HOST, OS, LiveSite, add_nvidia

pytestmark = [pytest.mark.live, pytest.mark.timeout(7200)]
FORBIDDEN = {
    "another prefix": "echo x | aws s3 cp - s3://{bucket}/other/x",
    "all buckets": "aws s3 ls",
    "instances": "aws ec2 describe-instances --region {region}",
    "roles": "aws iam list-roles",
}
"""What the hosts' role must not do."""
DENIALS = ("AccessDenied", "UnauthorizedOperation")
"""How S3 and IAM, and EC2, call a refusal (their API references, Common Errors, 2026-11-30)."""


def test_the_caller_is_known_and_another_account_or_region_is_refused(
    cloud_target: CloudSpec, product_account: ProductAccount
) -> None:
    assert product_account.number == cloud_target.account
    assert f":{cloud_target.account}:" in product_account.arn
    others = {
        "GP-CLOUD-005": replace(cloud_target, account="000000000001"),
        "GP-CLOUD-006": replace(cloud_target, region="xx-nowhere-1"),
    }
    for code, other in others.items():
        with pytest.raises(GpuprovError) as refused:
            open_account(other, os.environ)
        assert [d.code for d in refused.value.diagnostics] == [code]


def test_the_base_image_is_debians_own(product_account: ProductAccount, account: LiveAccount) -> None:
    found = product_account.find_base_image(OS, "amd64")
    row = image_row(OS, "amd64")
    assert row is not None
    image = account.client("ec2").describe_images(ImageIds=[found.id])["Images"][0]
    assert image["OwnerId"] == row.owner == found.owner
    assert image["Name"] == found.name
    assert image["Name"].startswith("debian-12-amd64-")
    assert "daily" not in image["Name"]
    assert (image["Architecture"], image["RootDeviceName"], image["Public"]) == ("x86_64", row.root_device, True)


def test_offerings_are_zones_of_the_region(
    product_account: ProductAccount, account: LiveAccount, cloud_target: CloudSpec
) -> None:
    zones = {z["ZoneName"] for z in account.client("ec2").describe_availability_zones()["AvailabilityZones"]}
    offered = product_account.offerings([*GPU_TYPES, "g9.nothing"])
    assert any(offered.get(name) for name in GPU_TYPES), f"{cloud_target.region} offers no small GPU type"
    assert {zone for found in offered.values() for zone in found} <= zones
    assert not offered.get("g9.nothing")


def test_a_preview_with_the_real_provider_makes_nothing(cloud_site: LiveSite, account: LiveAccount) -> None:
    held = account.listing()
    resources = cloud_site.run("preview", "--target", "cloud", "--json").body["plan"]["resources"]
    assert {change["action"] for change in resources["changes"]} == {"create"}
    assert f"instance.{HOST}" in {change["address"] for change in resources["changes"]}
    assert [host["host"] for host in resources["new_hosts"]] == [HOST]
    assert account.listing() == held


def test_up_makes_one_instance_that_equals_the_lock(made: Any, cloud_site: LiveSite, account: LiveAccount) -> None:
    assert {host["host"]: host["state"] for host in made["hosts"]} == {HOST: "changed"}
    assert list(account.instances_of(cloud_site.spec["name"]).values()) == [HOST]
    assert cloud_site.run("parity").status == 0


def test_a_second_up_changes_nothing(made: Any, cloud_site: LiveSite) -> None:
    """The provider's reads give back what was asked for: no difference by defaults, order of lists or tags."""
    second = cloud_site.up()
    assert second["resources"]["changed"] == []
    assert [(host["state"], host["tasks"]) for host in second["hosts"]] == [("satisfied", 0)]


def test_the_instance_is_closed(made: Any, cloud_site: LiveSite, account: LiveAccount) -> None:
    ids = list(account.instances_of(cloud_site.spec["name"]))
    ec2 = account.client("ec2")
    for instance in (account.instances()[identity] for identity in ids):
        assert instance["MetadataOptions"]["HttpTokens"] == "required"
        assert "KeyName" not in instance
    attached = {"Name": "attachment.instance-id", "Values": ids}
    volumes = ec2.describe_volumes(Filters=[attached])["Volumes"]
    assert len(volumes) == 2, "the root volume and the spec's own"
    assert all(volume["Encrypted"] for volume in volumes)


def test_the_console_shows_the_host_key_that_is_trusted(
    made: Any, cloud_site: LiveSite, product_account: ProductAccount
) -> None:
    identity = cloud_site.run("output", "--json").body["hosts"][HOST]["instance_id"]
    shown = {key.text for key in find_host_keys(product_account.console(identity))}
    assert shown, "the console output holds no host key"
    lines = (cloud_site.folder / ".gpuprov/cloud/known_hosts").read_text(encoding="utf-8").splitlines()
    trusted = {line.partition(" ")[2] for line in lines if line and not line.startswith("#")}
    assert trusted == shown
    assert cloud_site.on_host("hostname").stdout.strip() == HOST


def test_the_role_reaches_its_prefix(made: Any, cloud_site: LiveSite) -> None:
    bucket = cloud_site.run("output", "--json").body["buckets"]["datasets"]
    cloud_site.on_host(f"echo seen | aws s3 cp - s3://{bucket}/runs/x")
    assert cloud_site.on_host(f"aws s3 cp s3://{bucket}/runs/x -").stdout == "seen\n"


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_role_is_denied(made: Any, cloud_site: LiveSite, what: str) -> None:
    bucket = cloud_site.run("output", "--json").body["buckets"]["datasets"]
    region = cloud_site.spec["targets"]["cloud"]["region"]
    denied = cloud_site.on_host(FORBIDDEN[what].format(bucket=bucket, region=region), expect=None)
    assert denied.status != 0
    assert any(word in denied.stderr for word in DENIALS), denied.stderr


@pytest.mark.parametrize("with_engine", [False, True], ids=["gpuprov alone", "its engine and plugin too"])
def test_killed_while_an_instance_is_made_there_is_one_instance_after(
    made: Any, cloud_site: LiveSite, account: LiveAccount, *, with_engine: bool
) -> None:
    """The kill comes when EC2 lists the new instance and the provider still waits for it to run."""
    spec = cloud_site.spec["name"]
    there = set(account.instances_of(spec))
    process = cloud_site.start("up", "--target", "cloud", "--yes", "--json", "--replace", HOST)
    try:
        deadline = time.monotonic() + 1200
        while not set(account.instances_of(spec)) - there:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "no new instance was seen"
            time.sleep(0.5)
        victims = descendants(process.pid) if with_engine else []
    finally:
        process.kill()
    for pid in victims:
        end(pid)
    process.communicate()
    cloud_site.up()
    assert list(account.instances_of(spec).values()) == [HOST]
    assert cloud_site.run("parity").status == 0


def test_an_image_is_built_and_from_it_no_package_moves(made: Any, cloud_site: LiveSite, account: LiveAccount) -> None:
    built = cloud_site.run("image", "build", "--json").body["image"]
    assert built["checked"]
    there = account.client("ec2").describe_images(ImageIds=[built["id"]])["Images"][0]
    assert (there["State"], there["Public"]) == ("available", False)
    assert list(account.instances_of(cloud_site.spec["name"]).values()) == [HOST], "the builder is still there"
    replaced = cloud_site.up("--replace", HOST)
    assert [host["packages"] for host in replaced["hosts"]] == [[]]
    assert cloud_site.run("output", "--json").body["hosts"][HOST]["image"] == built["id"]
    assert cloud_site.run("parity").status == 0


def test_nvidias_driver_runs_on_the_instance(made: Any, cloud_site: LiveSite) -> None:
    """NVIDIA's own repository, modules built and loaded on the real kernel, a real GPU, and a container on it."""
    add_nvidia(cloud_site)
    assert set(touched(cloud_site.run("up", "--target", "cloud", "--yes", "--json")).values()) == {"changed"}
    assert cloud_site.run("parity").status == 0
    assert cloud_site.on_host("nvidia-smi -L").stdout.startswith("GPU 0: ")
    assert "nvidia" in cloud_site.on_host("sudo docker info --format '{{json .Runtimes}}'").stdout


def test_destroy_leaves_data_and_then_nothing(
    made: Any, cloud_site: LiveSite, account: LiveAccount, before: frozenset[str]
) -> None:
    """The last check of the instance; what it leaves is removed by the fixture in any case."""
    named = cloud_site.run("destroy", "--target", "cloud", "--yes", "--json").body["resources"]["left"]
    assert set(named) == {"bucket.datasets", f"volume.scratch/{HOST}"}
    assert not account.instances_of(cloud_site.spec["name"])
    buckets = {line.partition(" ")[2] for line in account.listing() - before if line.startswith("bucket ")}
    assert buckets == {named["bucket.datasets"]}
    cloud_site.run("destroy", "--target", "cloud", "--yes", "--delete-data", "datasets", "--delete-data", "scratch")
    cloud_site.run("image", "prune", "--keep", "0", "--yes")
    assert account.settle(before) == frozenset()


def descendants(pid: int) -> list[int]:
    """All processes below one, whatever their sessions: the engine's session is its own."""
    parents: dict[int, list[int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        parents.setdefault(int(fields[1]), []).append(int(file.parent.name))
    found = list(parents.get(pid, ()))
    for child in found:
        found += parents.get(child, ())
    return found


def end(pid: int) -> None:
    """Kill a process, which may have ended by itself."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
