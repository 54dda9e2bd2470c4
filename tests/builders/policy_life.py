"""The whole life of a spec in the lab's account, without nodes: what `up`, `image build` and `destroy` ask of AWS."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aws_modules import load_modules
from cloud_builders import KEYS, cloud_lock, cloud_network, cloud_pool, cloud_spec
from lab_account import IMAGE, REGION, TYPE, Cloud, lab_account
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.cloud.account import Account, open_account
from gpuprov.cloud.bucket_files import BucketFiles
from gpuprov.cloud.decide.document import builder_document, data_document, stack_document, standing_document
from gpuprov.cloud.decide.grants import Ground
from gpuprov.cloud.decide.standing import Standing, standing_of
from gpuprov.cloud.engine import Engine, find_engine
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import Document, Image, StackPlace
from gpuprov.lab.aws.plugin.server import PluginServer
from gpuprov.lock.types import Lock
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import ignore_progress
from gpuprov.spec.cloud import CloudImageSpec
from gpuprov.spec.market import RESERVED
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.types import Spec

BUILDER = "c7i.2xlarge"
ADMIN = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
BOUNDARY = f"arn:aws:iam::{DEFAULT_ACCOUNT_ID}:policy/team"
STORAGE = {
    "data": StorageSpec(kind="object"),
    "secret": StorageSpec(kind="object", pools=("train",), write=False),
    "scratch": StorageSpec(kind="volume", size="10GiB"),
}


def the_spec(
    *,
    size: str = "10GiB",
    hosts: tuple[str, ...] = ("train-a",),
    buckets: bool = True,
    secret_of: str = "train",  # noqa: S107 - a pool
) -> Spec:
    """Two pools, one of them with a bucket of its own, and a volume on each host."""
    pools = (cloud_pool(hosts=hosts, instance=TYPE), cloud_pool("web", hosts=("web-a",), instance=TYPE))
    storage = {
        "scratch": replace(STORAGE["scratch"], size=size),
        **({"data": STORAGE["data"], "secret": replace(STORAGE["secret"], pools=(secret_of,))} if buckets else {}),
    }
    return cloud_spec(
        *pools,
        storage=storage,
        account=DEFAULT_ACCOUNT_ID,
        network=cloud_network(),
        permissions_boundary=BOUNDARY,
        image=CloudImageSpec(builder=BUILDER),
    )


def the_lock(*pools: str) -> Lock:
    """A lock of these pools, else of the two, with the lab's base image."""
    lock = cloud_lock(*(pools or ("train", "web")))
    return replace(lock, images=tuple(replace(image, id=IMAGE) for image in lock.images))


@dataclass
class Life:
    """An account, a stack and a builder's stack in it."""

    cloud: Cloud
    folder: Path
    account: Account
    stack: CloudStack
    builder: CloudStack
    lock: Lock
    place: StackPlace
    """Of `stack`."""
    engine: Engine

    @property
    def standing(self) -> Standing:
        """What the stack holds."""
        return standing_of({address: row.inputs for address, row in self.stack.state().resources.items()})

    def document(self, spec: Spec, images: Mapping[str, str] | None = None) -> Document:
        """The document of a spec."""
        return stack_document(
            spec,
            self.lock,
            zones=self.account.offerings({pool.cloud.instance for pool in spec.pools.values() if pool.cloud}),
            login_keys=KEYS,
            images=images or {},
            standing=self.standing,
            **self.asked_for(spec),
        )

    def asked_for(self, spec: Spec) -> dict[str, Any]:
        """What a document needs to know of the account: roles, reserved capacity, what the network names."""
        clouds = {name: pool.cloud for name, pool in spec.pools.items() if pool.cloud is not None}
        held = {name: cloud.market for name, cloud in clouds.items() if cloud.market.kind in RESERVED}
        return {
            "profiles": {one.role: self.account.instance_profile(one.role) for one in clouds.values() if one.role},
            "reservations": {name: self.account.reservations(one.id, one.group) for name, one in held.items()},
            "around": self.account.surroundings(),
        }

    def apply(self, stack: CloudStack, document: Document, *, refresh: bool = False) -> None:
        """Preview, and make it so."""
        stack.preview(document, report=ignore_progress, refresh=refresh)
        raise_all(stack.apply(document, report=ignore_progress, refresh=refresh).diagnostics)

    def up(self, spec: Spec, images: Mapping[str, str] | None = None, *, refresh: bool = False) -> None:
        """As `gpuprov up`: recover, look, make, and see what came up."""
        document = self.document(spec, images)
        self.stack.recover(self.account.find, ignore_progress, document=document, taken_over=self.account.taken_over)
        self.account.tagged(spec.name)
        self.account.quota("L-DB2E81BA")
        self.account.vcpus_in_use({TYPE: ("g", 4)})
        if refresh:
            self.account.opened_by_hand(self.stack.state())
        self.apply(self.stack, document, refresh=refresh)
        hosts = self.stack.state().made.hosts
        assert set(self.account.health([host.instance_id for host in hosts])) == {host.instance_id for host in hosts}
        for host in hosts:
            self.account.console(host.instance_id)

    def change_by_hand(self) -> None:
        """As somebody with all rights: other tags, settings, a rule, a bound."""
        ec2, iam = self.cloud.client("ec2"), self.cloud.client("iam")
        rows = self.stack.state().resources
        extra = [{"Key": "extra", "Value": "x"}]
        ec2.modify_subnet_attribute(SubnetId=rows[f"subnet.{REGION}a"].id, MapPublicIpOnLaunch={"Value": True})
        ec2.create_tags(Resources=[rows["vpc.main"].id], Tags=extra)
        ec2.modify_instance_metadata_options(InstanceId=rows["instance.web-a"].id, HttpPutResponseHopLimit=1)
        rule = rows["ingress.22/203.0.113.0/24"]
        ec2.modify_security_group_rules(
            GroupId=rows["security_group.main"].id,
            SecurityGroupRules=[
                {
                    "SecurityGroupRuleId": rule.id,
                    "SecurityGroupRule": {
                        "IpProtocol": "tcp",
                        "FromPort": 22,
                        "ToPort": 22,
                        "CidrIpv4": "203.0.113.0/24",
                        "Description": "by hand",
                    },
                }
            ],
        )
        role = rows["role.main"].id
        iam.tag_role(RoleName=role, Tags=extra)
        iam.tag_instance_profile(InstanceProfileName=rows["instance_profile.main"].id, Tags=extra)
        iam.put_role_permissions_boundary(RoleName=role, PermissionsBoundary=f"{BOUNDARY}-other")

    def fill(self) -> None:
        """As the hosts: an object, an older version of it, and an upload that nobody finishes."""
        s3, bucket = self.cloud.client("s3"), self.stack.state().made.buckets["data"]
        # moto holds every connection for one that the bucket's policy denies: it knows no TLS (5.2.5, 2026-11-30).
        s3.delete_bucket_policy(Bucket=bucket)
        for text in (b"1", b"2"):
            s3.put_object(Bucket=bucket, Key="runs/1", Body=text)
        s3.create_multipart_upload(Bucket=bucket, Key="runs/2")

    def switch(self) -> None:
        """As `gpuprov stop` and `gpuprov start`."""
        hosts = [host.instance_id for host in self.stack.state().made.hosts]
        for on in (False, True):
            self.account.switch(hosts, on=on, seconds=60)

    def image(self, spec: Spec) -> str:
        """As `gpuprov image build`; returns the image's id."""
        pool = spec.pools["train"]
        zones = self.account.offerings({BUILDER})
        around = self.account.surroundings()
        document = builder_document(spec, self.lock, pool, zones=zones, login_keys=KEYS, around=around)
        self.apply(self.builder, document)
        (host,) = self.builder.state().made.hosts
        self.account.console(host.instance_id)
        self.account.stop(host.instance_id, seconds=60)
        asked = Image(
            id="",
            name="train-1",
            pool="train",
            os="debian-12",
            arch="amd64",
            region=REGION,
            baked="sha256:0",
            base=IMAGE,
            made="2026-11-30T00:00:00Z",
        )
        made = self.account.make_image(host.instance_id, asked, spec_name=spec.name)
        self.account.wait_for_image(made, seconds=60)
        again = builder_document(spec, self.lock, pool, zones=zones, login_keys=KEYS, image=made, around=around)
        for row in again["instances"]:  # type: ignore[attr-defined]
            row["replace"] = True
        self.builder.preview(again, replace=("builder",), report=ignore_progress)
        raise_all(self.builder.apply(again, replace=("builder",), report=ignore_progress).diagnostics)
        self.account.mark_checked(made)
        self.builder.remove(report=ignore_progress)
        assert [image.id for image in self.account.images(spec.name)] == [made]
        self.account.images_in_use(spec.name)
        self.account.image_facts(spec.name)
        self.account.orphan_snapshots(spec.name, settled="2026-01-01T00:00:00Z")
        return made

    def destroy(self, spec: Spec, *, delete: tuple[str, ...] = ()) -> None:
        """As `gpuprov destroy`, with the data of what is named."""
        for name in delete:
            if name in self.stack.state().made.buckets:
                self.account.empty_bucket(self.stack.state().made.buckets[name])
        self.apply(self.stack, data_document(standing_document(spec, self.standing), delete=delete))
        if delete:
            self.stack.remove(report=ignore_progress)


@contextmanager
def life(folder: Path, spec: Spec | None = None, *, before: Callable[[Cloud], None] = lambda _: None) -> Iterator[Life]:
    """The lab's account with an engine before it.

    Args:
        folder: an empty one.
        spec: says which account, and where the stack's state is; `the_spec` when left out.
        before: makes what is there already.
    """
    load_modules()
    spec = spec or the_spec()
    with lab_account(folder) as cloud:
        before(cloud)
        server = PluginServer(endpoint=cloud.endpoint, region=REGION)
        server.start()
        variables = {
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": cloud.endpoint,
            "PULUMI_DEBUG_PROVIDERS": f"aws:{server.port}",
        }
        try:
            with patch.dict(os.environ, variables):
                target = spec.cloud
                assert target is not None
                account = open_account(target, os.environ)
                engine = find_engine(os.environ)
                kept = target.state.bucket()
                places = [
                    StackPlace(
                        name=name,
                        folder=folder / "cloud",
                        environment=account.environment,
                        region=REGION,
                        bucket=BucketFiles(target, *kept) if kept is not None else None,
                        secrets=target.state.secrets,
                    )
                    for name in ("train", "train-image-train")
                ]
                stack, builder = (CloudStack(place, engine, grace=0.0) for place in places)
                yield Life(cloud, folder, account, stack, builder, the_lock(*spec.pools), places[0], engine)
        finally:
            server.stop()


Rights = Callable[[str], AbstractContextManager[None]]
"""Puts the policy of one of gpuprov's commands alone in force, or, for nothing, all rights."""


def whole_life(life: Life, rights: Rights) -> None:
    """Everything that an operator does, and between it what others do."""
    two = the_spec(size="11GiB", hosts=("train-a", "train-b"))
    with rights("up"):
        life.up(the_spec(buckets=False))
        life.up(two)
    with rights(""):
        life.change_by_hand()
    with rights("preview"):
        life.stack.preview(life.document(two), report=ignore_progress, refresh=True)
    with rights("up"):
        life.up(two, refresh=True)
    with rights("stop"):
        life.switch()
    with rights("image"):
        image = life.image(the_spec())
    with rights("up"):
        life.up(the_spec(size="11GiB", hosts=("train-a", "train-b", "train-c"), secret_of="web"), {"train": image})
    with rights(""):
        life.fill()
    with rights("destroy"):
        life.destroy(the_spec())
        life.destroy(the_spec(), delete=tuple(STORAGE))
    with rights("image"):
        life.account.remove_image(image)


def the_ground(*, delete_data: bool = True) -> Ground:
    """What the operator's policy of the spec is about, whichever of the pools has the bucket of its own."""
    bucket = f"{DEFAULT_ACCOUNT_ID}-{REGION}"
    roles = {name for pool in ("train", "web") for name in _role_names(the_spec(secret_of=pool))}
    return Ground(
        spec="train",
        account=DEFAULT_ACCOUNT_ID,
        region=REGION,
        types=(TYPE,),
        builder=BUILDER,
        images=(IMAGE,),
        volumes=True,
        buckets=(f"train-data-{bucket}", f"train-secret-{bucket}"),
        roles=tuple(sorted(roles)),
        boundary=BOUNDARY,
        delete_data=delete_data,
    )


def _role_names(spec: Spec) -> list[str]:
    document = stack_document(
        spec, the_lock(), zones={TYPE: (f"{REGION}a",)}, login_keys=KEYS, images={}, standing=Standing()
    )
    roles = [document["identity"], *document["pool_identities"]]  # type: ignore[misc]
    return [role["name"] for role in roles]


def raise_all(diagnostics: tuple[Diagnostic, ...]) -> None:
    """Raise what an update ended with."""
    if diagnostics:
        raise GpuprovError(*diagnostics)
