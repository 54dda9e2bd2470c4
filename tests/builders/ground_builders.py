"""A cloud in memory for tests of the use cases: an account, and a stack that makes what its document says."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from host_builders import make_lock

from gpuprov.app.cloud_site import CloudSite
from gpuprov.app.site import Site, open_site
from gpuprov.cloud.decide.surroundings import Surroundings
from gpuprov.cloud.existing_aws import FoundInstance
from gpuprov.cloud.orphans import Tagged, orphans
from gpuprov.cloud.state import BUCKET, INSTANCE, VOLUME, Pending, StackState, StateResource, made_of
from gpuprov.cloud.types import Applied, Document, Image, InstanceHealth, InstanceState, Reservation
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Report
from gpuprov.model.resource import ResourceAction, ResourceChange, ResourcePlan
from gpuprov.model.stack_record import Orphan

BASE = "ami-0base0000000000a"
BY_A_CALL = "Client.UserInitiatedShutdown: User initiated shutdown"
"""EC2's reason for an instance that was stopped by its API (EC2 API Reference, StateReason, read 2026-11-30)."""
CONSOLE = "-----BEGIN SSH HOST KEY KEYS-----\nssh-ed25519 {key} root@{name}\n-----END SSH HOST KEY KEYS-----\n"
KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
SPEC = """\
apiVersion: gpuprov/v1
name: site
os: debian-12
stack: {driver: {version: "580.*"}}
pools:
  train:
    gpu: {model: H100-SXM5-80GB, per_host: 8}
    cloud: {instance: p5.48xlarge, hosts: [HOSTS]}
storage:
  datasets: {kind: object}
  scratch: {kind: volume, size: 100GiB}
targets:
  cloud:
    account: "111122223333"
    region: us-east-1
    network: {cidr: 10.7.0.0/16, ranges: {office: ["203.0.113.0/24"]}, ssh_from: [office]}
    login_keys: [key.pub]
"""


def make_site(folder: Path, *hosts: str, text: str = SPEC) -> Site:
    """A site with a cloud target, and the public key that it names."""
    folder.joinpath("key.pub").write_text(f"ssh-ed25519 {KEY} me\n", encoding="utf-8")
    path = folder / "gpuprov.yaml"
    path.write_text(text.replace("HOSTS", ", ".join(hosts or ("train-a", "train-b"))), encoding="utf-8")
    return open_site(path)


def cloud_lock() -> Lock:
    """The lock of the pool `train`, with a base image."""
    base = LockedImage(
        os="debian-12", arch="amd64", region="us-east-1", owner="136693071363", name="debian-12-amd64", id=BASE
    )
    return replace(make_lock(), images=(base,))


class FakeStack:
    """A stack in memory: it makes, replaces and deletes what the document says, and can fail at one resource."""

    def __init__(self) -> None:
        self.resources: dict[str, StateResource] = {}
        self.pending: tuple[Pending, ...] = ()
        self.refreshed: list[bool] = []
        self.unfinished = False
        self.recovered_with: list[bool] = []
        """Whether each recovery was given a document."""
        self.changed_by_hand: tuple[Diagnostic, ...] = ()
        self.fail_at = ""
        self.fails: dict[str, Diagnostic] = {}
        """Resources that fail, each with its error; the others go on where the caller says so."""
        self.full: set[str] = set()
        """Zones without capacity for instances."""
        self.calls: list[str] = []
        self.removed = False
        self._number = 0

    def state(self) -> StackState:
        """What it holds."""
        return StackState(
            exists=bool(self.resources or self.pending),
            made=made_of(tuple(self.resources.values())),
            pending=self.pending,
            resources=dict(self.resources),
            unfinished=self.unfinished,
        )

    def preview(self, document: Document, *, replace: Collection[str], report: Report, refresh: bool) -> ResourcePlan:
        """What is missing is created, what is not in the document deleted, what is named replaced."""
        del report
        self.calls.append("preview")
        self.refreshed.append(refresh)
        wanted = _wanted(document)
        changes = [_change(a, t, ResourceAction.CREATE) for a, (t, _) in wanted.items() if a not in self.resources]
        named = [a for a in wanted if a in self.resources and a.partition(".")[2] in replace]
        changes += [_change(a, wanted[a][0], ResourceAction.REPLACE) for a in named]
        gone = [a for a in self.resources if a not in wanted]
        changes += [_change(a, self.resources[a].type, ResourceAction.DELETE) for a in gone]
        return ResourcePlan(changes=tuple(changes), unchanged=len(self.resources) - len(named) - len(gone))

    def apply(
        self,
        document: Document,
        *,
        replace: Collection[str],
        report: Report,
        cancel: threading.Event,
        refresh: bool = False,
        keep_going: bool = False,
    ) -> Applied:
        """Do it, up to the resource that fails, or around those."""
        plan = self.preview(document, replace=replace, report=report, refresh=refresh)
        self.calls.append("apply")
        wanted, done = _wanted(document), []
        told: tuple[Diagnostic, ...] = ()
        for change in plan.changes:
            if change.address == self.fail_at:
                told = (Diagnostic(code="GP-CLOUD-008", address=change.address, summary="no capacity"),)
                break
            failure = self._failure(change, wanted)
            if failure is not None:
                told += (failure,)
                if not keep_going:
                    break
                continue
            if change.action is ResourceAction.DELETE:
                del self.resources[change.address]
            else:
                self._make(change, wanted[change.address][1])
            done.append(change)
        del cancel
        made = made_of(tuple(self.resources.values()))
        return Applied(made=made, changed=tuple(done), unchanged=plan.unchanged, diagnostics=told)

    def remove(self, *, report: Report) -> None:
        """Take it away; nothing but instances may be in it."""
        del report
        assert not [row for row in self.resources.values() if row.type in {BUCKET, VOLUME}]
        self.resources.clear()
        self.removed = True

    def by_hand(self, report: Report) -> tuple[Diagnostic, ...]:
        """What a test says of it."""
        del report
        self.calls.append("by_hand")
        return self.changed_by_hand

    def orphans(self, there: Collection[Tagged]) -> tuple[Orphan, ...]:
        """What of the account it does not know."""
        known = [{"urn": f"a::b::c::{row.address}", "id": row.id} for row in self.resources.values()]
        return orphans(there, known, "site")

    def take_in(self, found: Collection[Orphan], report: Report) -> bool:
        """Know them from now on."""
        del report
        for one in found:
            self.resources[one.address] = StateResource(address=one.address, urn="", type=one.type, id=one.id)
        return True

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
        """Ask the account about each pending operation and settle it."""
        del report, replace, thorough, taken_over
        self.recovered_with.append(document is not None)
        told = []
        for pending in self.pending:
            found = find(pending.type, f"site/{pending.address.replace('.', '/', 1)}")
            told.append(
                Diagnostic(
                    code="GP-CLOUD-023", address=pending.address, summary=f"found {found}", severity=Severity.NOTE
                )
            )
        self.pending = ()
        return tuple(told)

    def _failure(
        self, change: ResourceChange, wanted: Mapping[str, tuple[str, Mapping[str, Any]]]
    ) -> Diagnostic | None:
        if change.action is ResourceAction.DELETE or change.type != INSTANCE:
            return None
        if wanted[change.address][1]["zone"] in self.full:
            return Diagnostic(code="GP-CLOUD-008", address=change.address, summary="no capacity")
        return self.fails.get(change.address)

    def _make(self, change: ResourceChange, entry: Mapping[str, Any]) -> None:
        self._number += 1
        outputs = {"ami": entry.get("image"), "instanceType": entry.get("type"), "availabilityZone": entry.get("zone")}
        outputs |= {"privateIp": f"10.7.0.{self._number}", "publicIp": f"198.18.0.{self._number}"}
        outputs |= {"bucket": entry.get("bucket")}
        inputs = {"tags": entry.get("tags", {}), "availabilityZone": entry.get("zone"), "size": entry.get("size_gib")}
        inputs |= {"instanceType": entry.get("type"), "bucket": entry.get("bucket"), **_bought(entry.get("market"))}
        self.resources[change.address] = StateResource(
            address=change.address,
            urn=change.urn,
            type=change.type,
            id=f"id-{self._number}",
            inputs=inputs,
            outputs={key: value for key, value in outputs.items() if value},
        )


class FakeAccount:
    """An account in which every instance runs, but for those that a test says otherwise of."""

    def __init__(self) -> None:
        self.states: dict[str, InstanceState | None] = {}
        self.reasons: dict[str, str] = {}
        """Why an instance is in its state, as EC2 says it."""
        self.reserved: tuple[Reservation, ...] = ()
        self.quotas: dict[str, int] = {}
        self.quota_denied: GpuprovError | None = None
        self.used: dict[tuple[str, str], int] = {}
        self.switched: list[tuple[str, list[str]]] = []
        """Instances that were started (`on`) and stopped (`off`)."""
        self.emptied: list[str] = []
        self.asked: list[str] = []
        self.lost: dict[str, str] = {}
        """What stands in the account and in no state: tag `gpuprov:id` -> id."""
        self.opened: tuple[Diagnostic, ...] = ()
        self.there: tuple[Tagged, ...] = ()
        """What carries the spec's tags."""
        self.baked: tuple[Image, ...] = ()
        self.others: tuple[FoundInstance, ...] = ()
        """Instances that somebody else made."""

    def surroundings(self) -> Surroundings:
        return Surroundings()

    def offerings(self, types: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Everything is offered in two zones."""
        return dict.fromkeys(types, ("us-east-1a", "us-east-1b"))

    def reservations(self, id_: str, group: str) -> tuple[Reservation, ...]:
        """What the test reserved."""
        del group
        return tuple(one for one in self.reserved if id_ in {"", one.id})

    def quota(self, code: str) -> int | None:
        """What the test gave; unknown else."""
        if self.quota_denied is not None:
            raise self.quota_denied
        return self.quotas.get(code)

    def vcpus_in_use(self, types: Mapping[str, tuple[str, int]]) -> dict[tuple[str, str], int]:
        """Nothing, or what the test gave."""
        assert types
        return self.used

    def health(self, ids: Collection[str]) -> dict[str, InstanceHealth]:
        """The state that the test gave, else running."""
        states = {one: self.states.get(one, InstanceState.RUNNING) for one in ids}
        return {
            one: InstanceHealth(id=one, state=state, checks="ok", reason=self.reasons.get(one, ""))
            for one, state in states.items()
            if state is not None
        }

    def switch(self, ids: Collection[str], *, on: bool, seconds: float, report: Report) -> None:
        """Switch them at once."""
        del seconds, report
        self.switched.append(("on" if on else "off", sorted(ids)))
        self.states.update(dict.fromkeys(ids, InstanceState.RUNNING if on else InstanceState.STOPPED))
        self.reasons.update(dict.fromkeys(ids, "" if on else BY_A_CALL))

    def console(self, instance_id: str) -> str:
        """A console with one key."""
        return CONSOLE.format(key=KEY, name=instance_id)

    def instances_with(self, tags: Mapping[str, str]) -> Sequence[FoundInstance]:
        """Instances of somebody else with all of the tags."""
        return tuple(one for one in self.others if tags.items() <= one.tags.items())

    def taken_over(self, type_token: str, identity: str) -> None:
        """Nothing is cut off here."""

    def find(self, type_token: str, key: str) -> str | None:
        """Remember what was asked."""
        self.asked.append(f"{type_token} {key}")
        return self.lost.get(key)

    def opened_by_hand(self, state: StackState) -> tuple[Diagnostic, ...]:
        """What a test says of it."""
        del state
        return self.opened

    def tagged(self, spec_name: str) -> tuple[Tagged, ...]:
        """What a test put there."""
        return tuple(one for one in self.there if one.key.startswith(f"{spec_name}/"))

    def empty_bucket(self, name: str, *, report: Report) -> int:
        """Remember which."""
        del report
        self.emptied.append(name)
        return 3

    def image_exists(self, image_id: str) -> bool:
        """Whether it was baked."""
        return any(image.id == image_id for image in self.baked)

    def images(self, spec_name: str) -> Sequence[Image]:
        """What was baked."""
        del spec_name
        return self.baked


def make_place(
    site: Site, stack: FakeStack, account: FakeAccount, builders: Mapping[str, FakeStack] | None = None
) -> CloudSite:
    """The site's cloud with the fakes."""
    assert site.spec.cloud is not None
    return CloudSite(site=site, cloud=site.spec.cloud, account=account, stack=stack, builders=builders or {})


def _bought(market: Any) -> dict[str, Any]:
    """The inputs that say how an instance was bought, as the stack's program writes them."""
    if market is None:
        return {}
    inputs: dict[str, Any] = {}
    if market["kind"] != "reservation":
        spot = {"spotOptions": {"maxPrice": market["max_price"]}} if market["max_price"] else {}
        inputs["instanceMarketOptions"] = {"marketType": market["kind"], **spot}
    if market["reservation"]:
        target = {"capacityReservationId": market["reservation"]}
        inputs["capacityReservationSpecification"] = {"capacityReservationTarget": target}
    return inputs


def _wanted(document: Document) -> dict[str, tuple[str, Mapping[str, Any]]]:
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    if document["network"]:
        found["vpc.main"] = ("aws:ec2/vpc:Vpc", {})
    for key, kind, token in (
        ("buckets", "bucket", BUCKET),
        ("volumes", "volume", VOLUME),
        ("instances", "instance", INSTANCE),
    ):
        entries = document[key]
        assert isinstance(entries, list)
        found |= {f"{kind}.{entry['name']}": (token, entry) for entry in entries}
    return found


def _change(address: str, token: str, action: ResourceAction) -> ResourceChange:
    return ResourceChange(
        address=address,
        type=token,
        action=action,
        urn=f"urn:pulumi:site::gpuprov-aws::{token}::{address}",
        holds_data=token in {BUCKET, VOLUME, INSTANCE},
    )


BOTH = SPEC.replace(
    "cloud: {instance: p5.48xlarge, hosts: [HOSTS]}",
    "cloud: {instance: p5.48xlarge, hosts: [HOSTS]}\n    onprem: {group: train}",
).replace("targets:\n", "targets:\n  onprem: {inventory: site.yml}\n")
"""The same with a rack beside the cloud."""
RACK = BOTH.partition("storage:")[0].replace("    cloud: {instance: p5.48xlarge, hosts: [HOSTS]}\n", "") + (
    "targets:\n  onprem: {inventory: site.yml}\n"
)
"""A rack alone."""
