"""A site's part of the cloud: its account and its stack."""

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gpuprov.app.cloud_builders import Builder, builder_places
from gpuprov.app.site import Site
from gpuprov.cloud.decide.surroundings import Surroundings
from gpuprov.cloud.events import PHASE
from gpuprov.cloud.existing_aws import FoundInstance
from gpuprov.cloud.files import StateFiles
from gpuprov.cloud.moved import refuse_moved
from gpuprov.cloud.state import StackState, read_state
from gpuprov.cloud.types import Applied, Document, Image, InstanceHealth, Reservation, StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress, Report
from gpuprov.model.resource import ResourcePlan
from gpuprov.model.stack_record import Orphan
from gpuprov.spec.cloud import CloudSpec

if TYPE_CHECKING:
    from gpuprov.cloud.orphans import Tagged  # it loads boto3, which whoever only reads a state does not wait for


class Account(Protocol):
    """What `up` and `destroy` ask of the account; see `gpuprov.cloud.account`."""

    def offerings(self, types: Collection[str]) -> Mapping[str, tuple[str, ...]]:
        """Instance type -> zones of the region that offer it."""

    def reservations(self, id_: str, group: str) -> tuple[Reservation, ...]:
        """The capacity reservations of an id, or of a resource group."""

    def quota(self, code: str) -> int | None:
        """The account's value of a quota of EC2; None where it is not known."""

    def vcpus_in_use(self, types: Mapping[str, tuple[str, int]]) -> Mapping[tuple[str, str], int]:
        """(family, on-demand | spot) -> vCPUs that run."""

    def surroundings(self) -> Surroundings:
        """What the spec's network names in the account."""

    def health(self, ids: Collection[str]) -> Mapping[str, InstanceHealth]:
        """What EC2 says about instances; one that it does not know is missing."""

    def switch(self, ids: Collection[str], *, on: bool, seconds: float, report: Report) -> None:
        """Start instances, or stop them, and wait."""

    def console(self, instance_id: str) -> str:
        """The console output of an instance."""

    def instances_with(self, tags: Mapping[str, str]) -> Sequence[FoundInstance]:
        """Instances of the account that have all of these tags."""

    def find(self, type_token: str, key: str) -> str | None:
        """The physical id of a resource, for recovery."""

    def taken_over(self, type_token: str, identity: str) -> None:
        """Finish what was cut off with the making of a resource that recovery takes over."""

    def instance_profile(self, role: str) -> str:
        """The instance profile of a role that the account has already."""

    def tagged(self, spec_name: str) -> "Sequence[Tagged]":
        """Everything in the account that carries a spec's tag."""

    def opened_by_hand(self, state: StackState) -> tuple[Diagnostic, ...]:
        """What stands beside a stack's own rules and policies."""

    def empty_bucket(self, name: str, *, report: Report) -> int:
        """Delete every version of every object of a bucket."""

    def image_exists(self, image_id: str) -> bool:
        """Whether a machine image can be started from."""

    def images(self, spec_name: str) -> Sequence[Image]:
        """The machine images of a spec."""


class Stack(Protocol):
    """What `up` and `destroy` ask of the stack; see `gpuprov.cloud.stack`."""

    def state(self) -> StackState:
        """What is recorded of it."""

    def preview(self, document: Document, *, replace: Collection[str], report: Report, refresh: bool) -> ResourcePlan:
        """What would change."""

    def apply(
        self,
        document: Document,
        *,
        replace: Collection[str],
        report: Report,
        cancel: threading.Event,
        refresh: bool,
        keep_going: bool = False,
    ) -> Applied:
        """Change it."""

    def remove(self, *, report: Report) -> None:
        """Take the empty stack away."""

    def recover(
        self,
        find: Callable[[str, str], str | None],
        report: Report,
        *,
        document: Document | None = None,
        replace: Collection[str] = (),
        thorough: bool = False,
        taken_over: Callable[[str, str], None] | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Settle what an interrupted run left."""

    def by_hand(self, report: Report) -> tuple[Diagnostic, ...]:
        """What of it was changed or deleted in the account by hand."""

    def orphans(self, there: "Collection[Tagged]") -> tuple[Orphan, ...]:
        """Which resources of the account are of this stack, and not in its state."""

    def take_in(self, found: Collection[Orphan], report: Report) -> bool:
        """Take orphans into the state."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudSite:
    """A site whose account was opened: the caller's account is the spec's."""

    site: Site
    cloud: CloudSpec
    account: Account
    stack: Stack
    builders: Mapping[str, Builder] = field(default_factory=dict)
    """Pool -> stack of its image builder, for those that have files: a killed `image build` left them."""

    @property
    def folder(self) -> Path:
        """`.gpuprov/cloud`: state, known hosts, engine output."""
        return cloud_folder(self.site)


def open_cloud(site: Site) -> CloudSite:
    """Open account and stack.

    Raises:
        GpuprovError: GP-CLOUD codes: no credentials, another account, no engine; GP-CLOUD-005 also for a stack that
            stands in another account.
    """
    from gpuprov.cloud.account import open_account  # noqa: PLC0415 - boto3 takes a while, and tests' fakes need none
    from gpuprov.cloud.engine import find_engine  # noqa: PLC0415 - the same for pulumi
    from gpuprov.cloud.stack import CloudStack  # noqa: PLC0415

    cloud = cloud_of(site)
    account = open_account(cloud, os.environ)
    place = place_of(site, account.environment)
    refuse_moved(place)
    refuse_other_account(read_state(place), cloud)
    engine = find_engine(os.environ)
    builders = {pool: CloudStack(where, engine) for pool, where in builder_places(site, place).items()}
    return CloudSite(site=site, cloud=cloud, account=account, stack=CloudStack(place, engine), builders=builders)


def refuse_other_account(state: StackState, cloud: CloudSpec) -> None:
    """Refuse a stack that was made in another account than the spec names now.

    In this account its ids mean nothing: they would be taken for resources that are gone, and those of the other
    account would be forgotten while they go on and cost money.

    Raises:
        GpuprovError: GP-CLOUD-005.
    """
    for row in state.resources.values():
        # arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE; a bucket's has no account.
        parts = str(row.outputs.get("arn") or "").split(":")
        number = parts[4] if len(parts) > 5 and parts[0] == "arn" else ""  # noqa: PLR2004 - the parts above
        if number.isdigit() and number != cloud.account:
            raise GpuprovError(
                Diagnostic(
                    code="GP-CLOUD-005",
                    address="targets.cloud.account",
                    summary=f"the stack stands in the account {number}, the spec is for {cloud.account}",
                    detail=f"{row.address} is {row.id} there; nothing was changed",
                    hint=f"for the other account use another folder, or another name of the spec; to give the stack up,"
                    f" write {number} back and run `gpuprov destroy --target cloud`",
                )
            )


def as_one_step(report: Report) -> Report:
    """A report for a preview, whose every resource would be a line: all of them are one step."""
    seen: set[str] = set()

    def tell(progress: Progress) -> None:
        if progress.phase == PHASE:
            seen.add(progress.subject)
            progress = Progress(phase="preview", text=f"{len(seen)} resource(s) looked at, the last {progress.subject}")
        report(progress)

    return tell


def read_stack(site: Site) -> StackState:
    """What is recorded of a site's stack, without its account or the engine.

    Raises:
        GpuprovError: GP-CLOUD-013 when the state is broken.
    """
    return read_state(place_of(site, {}))


def place_of(site: Site, environment: Mapping[str, str]) -> StackPlace:
    """Where a site's stack is.

    Args:
        site: the spec and what lies beside it.
        environment: the account's, for the engine.
    """
    cloud = cloud_of(site)
    return StackPlace(
        name=site.spec.name,
        folder=cloud_folder(site),
        environment=environment,
        region=cloud.region,
        bucket=_bucket(cloud),
        secrets=cloud.state.secrets,
    )


def _bucket(cloud: CloudSpec) -> StateFiles | None:
    found = cloud.state.bucket()
    if found is None:
        return None
    from gpuprov.cloud.bucket_files import BucketFiles  # noqa: PLC0415 - boto3 takes a while; most keep it in files

    return BucketFiles(cloud, *found)


def cloud_folder(site: Site) -> Path:
    """The folder of a site's stacks."""
    return site.state / "cloud"


def cloud_of(site: Site) -> CloudSpec:
    """The spec's cloud target.

    Raises:
        GpuprovError: GP-SPEC-008.
    """
    if site.spec.cloud is None:
        raise GpuprovError(
            Diagnostic(code="GP-SPEC-008", address="targets.cloud", summary="the spec has no target `cloud`")
        )
    return site.spec.cloud
