"""An AWS account: who the caller is there, and what is asked of it besides what the engine does."""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import boto3

from gpuprov.cloud import (
    buckets,
    capacity_aws,
    images_aws,
    importable,
    instances_aws,
    lookup,
    networks_aws,
    own_images,
    roles_aws,
)
from gpuprov.cloud.aws_errors import code_of, translated
from gpuprov.cloud.by_hand import opened_by_hand
from gpuprov.cloud.credentials import CONFIG, FreshEnvironment, engine_environment, is_listed, open_session
from gpuprov.cloud.decide.surroundings import Surroundings
from gpuprov.cloud.existing_aws import FoundInstance, instances_with
from gpuprov.cloud.image_facts import ImageFacts, image_facts
from gpuprov.cloud.importing import Import
from gpuprov.cloud.new_groups import finish_taken_over
from gpuprov.cloud.orphans import Tagged, tagged
from gpuprov.cloud.state import StackState
from gpuprov.cloud.types import Document, Image, InstanceHealth, Reservation
from gpuprov.lock.types import LockedImage
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report, ignore_progress
from gpuprov.spec.base_image import base_of
from gpuprov.spec.cloud import CloudSpec

_HOME_REGIONS: Final = {"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}
"""A region of each partition that every account may use."""


class Account:
    """The account of a spec, with the caller known and checked.

    Every method raises GpuprovError with a GP-CLOUD code when AWS refuses or does not answer.

    Args:
        session: boto3's, with credentials and region.
        cloud: targets.cloud of the spec.
        number: the account's number, twelve digits.
        arn: the caller's.
    """

    def __init__(self, session: boto3.Session, cloud: CloudSpec, *, number: str, arn: str) -> None:
        self._session = session
        self._cloud = cloud
        self._clients: dict[str, Any] = {}
        self.number = number
        self.arn = arn
        self.region = cloud.region

    @property
    def environment(self) -> Mapping[str, str]:
        """What the engine gets besides this process's own environment: its keys are fresh at each use."""
        return FreshEnvironment(lambda: engine_environment(self._session, self._cloud))

    def offerings(self, types: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The zones of the region that offer each instance type, sorted; none for a type that is unknown there."""
        with self._asking("targets.cloud.region"):
            return instances_aws.offerings(self._client("ec2"), types)

    def reservations(self, id_: str, group: str) -> tuple[Reservation, ...]:
        """The capacity reservations of an id, or of a resource group; none where the account has none so."""
        with self._asking(id_ or group):
            groups = self._client("resource-groups") if group else None
            return capacity_aws.reservations(self._client("ec2"), groups, id_=id_, group=group)

    def quota(self, code: str) -> int | None:
        """The account's value of one of EC2's quotas in the region; None where Service Quotas does not know it."""
        with self._asking(f"quota {code}"):
            return capacity_aws.quota(self._client("service-quotas"), code)

    def vcpus_in_use(self, types: Mapping[str, tuple[str, int]]) -> dict[tuple[str, str], int]:
        """(family, on-demand | spot) -> vCPUs that run; `types` says the family and the vCPUs of each instance type."""
        with self._asking("instances"):
            return capacity_aws.in_use(self._client("ec2"), types)

    def surroundings(self) -> Surroundings:
        """What the spec's network names in the account: one that is there, services with endpoints.

        Raises:
            GpuprovError: GP-CLOUD-030 and GP-CLOUD-031 for a network that is not there, or not one.
        """
        with self._asking("targets.cloud.network"):
            return networks_aws.surroundings(self._client("ec2"), self._cloud.network, self.region)

    def health(self, ids: Collection[str]) -> dict[str, InstanceHealth]:
        """What EC2 says of instances; those that it does not know (any more, or yet) are left out."""
        with self._asking("instances"):
            return instances_aws.health(self._client("ec2"), ids)

    def console(self, instance_id: str) -> str:
        """The console output of an instance as far as EC2 keeps it (the last 64 KiB); empty while there is none."""
        with self._asking(instance_id):
            return instances_aws.console(self._client("ec2"), instance_id)

    def instance_profile(self, role: str) -> str:
        """The instance profile by which hosts act as a role that the account has already.

        Raises:
            GpuprovError: GP-CLOUD-040 (no such role), 041 (EC2 may not take it on), 042 (not one profile).
        """
        with self._asking(role):
            return roles_aws.profile_of(self._client("iam"), role)

    def switch(self, ids: Collection[str], *, on: bool, seconds: float, report: Report = ignore_progress) -> None:
        """Start instances, or stop them, and wait until they run, or have stopped; GP-CLOUD-024 when not in time."""
        with self._asking("instances"):
            instances_aws.switch(self._client("ec2"), ids, on=on, seconds=seconds, report=report)

    def stop(self, instance_id: str, *, seconds: float, report: Report = ignore_progress) -> None:
        """Stop an instance and wait until it has stopped; GP-CLOUD-024 when it has not in time."""
        with self._asking(instance_id):
            instances_aws.switch(self._client("ec2"), [instance_id], on=False, seconds=seconds, report=report)

    def instances_with(self, tags: Mapping[str, str]) -> tuple[FoundInstance, ...]:
        """Instances that have all of these tags, whoever made them; those that are gone are left out."""
        with self._asking("instances"):
            return instances_with(self._client("ec2"), tags)

    def importable_bucket(self, document: Document, name: str, bucket: str) -> tuple[Import, ...]:
        """A bucket of the account as the storage `name` of a document; GP-CLOUD-075 when it does not fit."""
        with self._asking(bucket):
            return importable.find_bucket(self._client, document, name, bucket, self.region)

    def importable_network(self, document: Document, vpc: str) -> tuple[Import, ...]:
        """A VPC of the account, with what belongs to it, as a document's network; GP-CLOUD-075 as above."""
        with self._asking(vpc):
            return importable.find_network(self._client, document, vpc)

    def importable_role(self, document: Document, name: str) -> tuple[Import, ...]:
        """A role of the account, with its instance profile, as one of a document's; GP-CLOUD-075 as above."""
        with self._asking(name):
            return importable.find_role(self._client, document, name)

    def find(self, type_token: str, key: str) -> str | None:
        """The physical id of a resource that an earlier run may have made.

        Args:
            type_token: Pulumi's, such as `aws:ec2/vpc:Vpc`.
            key: the value of its tag `gpuprov:id`, or its natural key where its type takes no tags.

        Raises:
            GpuprovError: GP-CLOUD-015 when more than one fits.
        """
        with self._asking(key):
            return lookup.find(self._client, type_token, key)

    def taken_over(self, type_token: str, identity: str) -> None:
        """Finish what was cut off with the making of a resource that recovery takes over."""
        with self._asking(identity):
            finish_taken_over(self._client, type_token, identity)

    def tagged(self, spec_name: str) -> tuple[Tagged, ...]:
        """Everything in the account that carries a spec's tag, whichever stack it is of."""
        with self._asking(spec_name):
            return tagged(self._client, spec_name)

    def opened_by_hand(self, state: StackState) -> tuple[Diagnostic, ...]:
        """A warning for each rule and policy that stands beside a stack's own, which the engine does not see."""
        with self._asking("by hand"):
            return opened_by_hand(self._client, state)

    def empty_bucket(self, name: str, *, report: Report = ignore_progress) -> int:
        """Delete every object, version and unfinished upload of a bucket; returns how many."""
        with self._asking(name):
            return buckets.empty(self._client("s3"), name, report=report)

    def find_base_image(self, os: str, arch: str) -> LockedImage:
        """The base image of an operating system: the spec's own, else the vendor's newest in the region.

        GP-CLOUD-018 when there is none; GP-CLOUD-070 when it is of another architecture.
        """
        with self._asking(f"image of {os} ({arch})"):
            own = base_of(self._cloud.image.bases, os, arch)
            if own is not None:
                return own_images.find(self._client, own, os, arch, self.region)
            return images_aws.find_base(self._client("ec2"), os, arch, self.region)

    def image_exists(self, image_id: str) -> bool:
        """Whether the caller may start instances from an image, as far as its existence goes."""
        with self._asking(image_id):
            return images_aws.exists(self._client("ec2"), image_id)

    def images(self, spec_name: str) -> tuple[Image, ...]:
        """The images that gpuprov baked for a spec in this account and region, oldest first, finished or not."""
        with self._asking("images"):
            return images_aws.listed(self._client("ec2"), spec_name, self.region)

    def image_facts(self, spec_name: str) -> tuple[ImageFacts, ...]:
        """The same images with what EC2 says of each: state, architecture, snapshots, and whether it is public."""
        with self._asking("images"):
            return image_facts(self._client("ec2"), spec_name, self.region)

    def images_in_use(self, spec_name: str) -> frozenset[str]:
        """Ids of the images that instances of the spec run from, and of its images that any instance runs from.

        Stopped ones included. Another spec's hosts, or a person's own, may have been started from an image of this one.
        """
        with self._asking("instances"):
            ec2 = self._client("ec2")
            ours = [image.id for image in images_aws.listed(ec2, spec_name, self.region)]
            return instances_aws.images_in_use(ec2, spec_name, ours)

    def make_image(self, instance_id: str, image: Image, *, spec_name: str) -> str:
        """Begin to make an image of a stopped instance, tagged as `image` says; returns its id at once."""
        with self._asking(instance_id):
            return images_aws.make(self._client("ec2"), instance_id, image, spec_name=spec_name)

    def wait_for_image(self, image_id: str, *, seconds: float, report: Report = ignore_progress) -> tuple[str, ...]:
        """Wait until an image is available; returns its snapshots. GP-CLOUD-010 when it failed, 024 when it is late."""
        with self._asking(image_id):
            return images_aws.wait(self._client("ec2"), image_id, seconds=seconds, report=report)

    def mark_checked(self, image_id: str) -> None:
        """Tag an image: an instance booted from it was probed and held the baked part."""
        with self._asking(image_id):
            images_aws.mark_checked(self._client("ec2"), image_id)

    def remove_image(self, image_id: str) -> None:
        """Deregister an image and delete its snapshots; one that is gone already is no error."""
        with self._asking(image_id):
            images_aws.remove(self._client("ec2"), image_id)

    def orphan_snapshots(self, spec_name: str, *, settled: str) -> tuple[str, ...]:
        """Ids of snapshots of baked images that are gone: what a killed `image prune` leaves.

        Args:
            spec_name: whose images.
            settled: UTC time, ISO; a snapshot that began later may be one of an image that is just being made.
        """
        with self._asking("snapshots"):
            return images_aws.orphan_snapshots(self._client("ec2"), spec_name, settled)

    def remove_snapshot(self, snapshot: str) -> None:
        """Delete a snapshot; one that is gone already is no error."""
        with self._asking(snapshot):
            images_aws.remove_snapshot(self._client("ec2"), snapshot)

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = _client(self._session, service, self.region)
        return self._clients[service]

    @contextmanager
    def _asking(self, address: str) -> Iterator[None]:
        with translated(address, profile=self._cloud.profile):
            yield


def open_account(cloud: CloudSpec, environment: Mapping[str, str]) -> Account:
    """Find credentials, ask AWS who they are, and compare with the spec.

    Args:
        cloud: targets.cloud of the spec.
        environment: this process's own, which boto3 reads too (AWS_PROFILE, AWS_ENDPOINT_URL, keys).

    Raises:
        GpuprovError: GP-CLOUD-003 (no credentials), 004 (expired or refused), 005 (another account), 006 (region),
            007 (role denied), 025 (not reachable).
    """
    profile = cloud.profile or environment.get("AWS_PROFILE")
    session = open_session(cloud)
    try:
        caller = _who(session, cloud, cloud.region, profile)
    except GpuprovError as error:
        raise _explain(error, session, cloud, profile) from error
    account = Account(session, cloud, number=str(caller["Account"]), arn=str(caller["Arn"]))
    if account.number != cloud.account:
        raise GpuprovError(_other_account(account, cloud))
    if not is_listed(session, cloud.region):
        _refuse_unknown_region(session, cloud)
    return account


def _client(session: boto3.Session, service: str, region: str) -> Any:
    try:
        return session.client(service, region_name=region, config=CONFIG)
    except ValueError as error:  # botocore's word for an AWS_ENDPOINT_URL that is no URL
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-025",
                address=os.environ.get("AWS_ENDPOINT_URL", service),
                summary="the address of AWS's API cannot be used",
                detail=str(error),
                hint="check AWS_ENDPOINT_URL and endpoint_url in the AWS configuration",
            )
        ) from error


def _who(session: boto3.Session, cloud: CloudSpec, region: str, profile: str | None) -> Mapping[str, Any]:
    with translated("targets.cloud.assume_role" if cloud.assume_role else "targets.cloud", profile=profile):
        answer: Mapping[str, Any] = _client(session, "sts", region).get_caller_identity()
        return answer


def _explain(error: GpuprovError, session: boto3.Session, cloud: CloudSpec, profile: str | None) -> GpuprovError:
    """A region that is not enabled refuses good credentials, and one that does not exist has no address."""
    code = error.diagnostics[0].code
    if code == "GP-CLOUD-025" and not is_listed(session, cloud.region) and "AWS_ENDPOINT_URL" not in os.environ:
        return GpuprovError(_no_region(cloud, "no region of that name is known, and nothing answers there"))
    home = _HOME_REGIONS.get(session.get_partition_for_region(cloud.region), cloud.region)
    if code != "GP-CLOUD-004" or home == cloud.region:
        return error
    try:
        _who(session, cloud, home, profile)
    except GpuprovError:
        return error
    return GpuprovError(_no_region(cloud, f"the same credentials are accepted in {home}: it is not enabled"))


def _refuse_unknown_region(session: boto3.Session, cloud: CloudSpec) -> None:
    home = _HOME_REGIONS.get(session.get_partition_for_region(cloud.region), cloud.region)
    ec2 = _client(session, "ec2", home)
    with translated("targets.cloud.region"):
        try:
            found = ec2.describe_regions(AllRegions=True, RegionNames=[cloud.region])["Regions"]
        except ec2.exceptions.ClientError as error:
            if code_of(error) != "InvalidParameterValue":
                raise
            found = []
    if not found:
        raise GpuprovError(_no_region(cloud, f"AWS knows no region of that name (asked in {home})"))


def _no_region(cloud: CloudSpec, detail: str) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-006",
        address="targets.cloud.region",
        summary=f"the region {cloud.region} is unknown, or not enabled for this account",
        detail=detail,
        hint="`aws ec2 describe-regions --all-regions` lists regions and whether they are enabled",
    )


def _other_account(account: Account, cloud: CloudSpec) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-005",
        address="targets.cloud.account",
        summary=f"the credentials are for the account {account.number}, the spec is for {cloud.account}",
        detail=f"the caller is {account.arn}; nothing was asked of that account",
        hint="use another profile or role (targets.cloud.profile, targets.cloud.assume_role, AWS_PROFILE), or correct"
        " targets.cloud.account",
    )
