"""`import`: a bucket, a network or a role that the account has already becomes the stack's own."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from gpuprov.app.access import Access
from gpuprov.app.cloud_ground import CloudGround
from gpuprov.app.cloud_records import standing_in
from gpuprov.app.cloud_site import CloudSite, cloud_of, open_cloud, place_of
from gpuprov.app.interrupt import cancelled_by_interrupt
from gpuprov.app.rolling import told_to_journal
from gpuprov.app.site import Site, open_site
from gpuprov.cloud.account import open_account
from gpuprov.cloud.decide.document import standing_document
from gpuprov.cloud.decide.standing import StandingBucket
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.importing import Import, Importing
from gpuprov.cloud.types import Document
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Report
from gpuprov.model.resource import ResourceAction, ResourceChange
from gpuprov.store.journal import open_journal
from gpuprov.store.lock import hold_site

NETWORK: Final = "network"
ROLE: Final = "role"
_BUCKET: Final = "bucket."

Ask = Callable[[Sequence[Import], Sequence[ResourceChange]], bool]
"""Shows what would be taken in, and what of it would be changed, and asks; raises GpuprovError when it cannot."""


class Account(Protocol):
    """What is asked of the account; see `gpuprov.cloud.account`."""

    def importable_bucket(self, document: Document, name: str, bucket: str) -> tuple[Import, ...]:
        """A bucket as a storage of a document."""

    def importable_network(self, document: Document, vpc: str) -> tuple[Import, ...]:
        """A VPC, with what belongs to it, as a document's network."""

    def importable_role(self, document: Document, name: str) -> tuple[Import, ...]:
        """A role, with its instance profile, as one of a document's."""


class Engine(Protocol):
    """What is asked of the engine; see `gpuprov.cloud.importing`."""

    def preview(self, document: Document, imports: tuple[Import, ...], report: Report) -> tuple[ResourceChange, ...]:
        """What would be changed of what would be taken in."""

    def apply(
        self, document: Document, imports: tuple[Import, ...], report: Report, cancel: threading.Event
    ) -> tuple[ResourceChange, ...]:
        """Take it in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """The way into a stack."""

    place: CloudSite
    account: Account
    engine: Engine


def open_gate(site: Site) -> Gate:
    """Open the account and the engine of a site.

    Raises:
        GpuprovError: as `open_cloud`.
    """
    place, account = open_cloud(site), open_account(cloud_of(site), os.environ)
    return Gate(
        place=place,
        account=account,
        engine=Importing(place_of(site, account.environment), find_engine(os.environ)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportRequest:
    """What `import` was asked."""

    spec: Path
    what: str
    """`bucket.STORAGE`, `network` or `role`."""
    id: str
    """The bucket's or role's name, or the VPC's id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """What came of it."""

    resources: tuple[Import, ...]
    changes: tuple[ResourceChange, ...]
    done: bool
    run: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


def take_in(
    request: ImportRequest, *, ask: Ask, report: Report, gate_of: Callable[[Site], Gate] = open_gate
) -> Imported:
    """Take a resource of the account into the stack, with what belongs to it.

    Nothing is made, replaced or deleted by it. Its settings become the spec's and it gets gpuprov's tags; tags that it
    has stay. Everything else that the spec says, such as a bucket's policy, comes with the next `up`, which shows it.

    Args:
        request: the spec, what it becomes, and its id.
        ask: shows what would be taken in and asks.
        report: where progress goes.
        gate_of: opens account and engine.

    Raises:
        GpuprovError: GP-CLOUD-075 when it does not fit, or is in the stack already; what the account or the engine
            refuses.
    """
    site = open_site(request.spec)
    with hold_site(site.state, ["gpuprov", "import"]):
        gate = gate_of(site)
        document, found = _find(gate, request)
        _refuse_known(gate.place, found)
        planned = gate.engine.preview(document, found, report)
        _refuse_replaced(planned)
        if not ask(found, planned):
            declined = Diagnostic(code="GP-RUN-005", summary="nothing was changed", severity=Severity.NOTE)
            return Imported(resources=found, changes=planned, done=False, diagnostics=(*site.warnings, declined))
        with open_journal(site.state, "import", what=request.what, id=request.id) as journal:
            tell = told_to_journal(journal, report)
            with cancelled_by_interrupt(tell) as cancel:
                changed = gate.engine.apply(document, found, tell, cancel)
    told = (_taken(one) for one in found)
    return Imported(
        resources=found, changes=changed, done=True, run=str(journal.folder), diagnostics=(*site.warnings, *told)
    )


def _find(gate: Gate, request: ImportRequest) -> tuple[Document, tuple[Import, ...]]:
    if request.what.startswith(_BUCKET):
        name = request.what.removeprefix(_BUCKET)
        document = _with_bucket(gate.place, name, request.id)
        return document, gate.account.importable_bucket(document, name, request.id)
    if request.what not in {NETWORK, ROLE}:
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                address=request.what,
                summary=f"`{request.what}` is nothing that can be taken in",
                hint="`bucket.STORAGE`, `network` and `role` can; instances are taken as hosts by"
                " pools.NAME.cloud.existing",
            )
        )
    document = CloudGround(gate.place, Access()).decide()
    if request.what == NETWORK:
        return document, gate.account.importable_network(document, request.id)
    return document, gate.account.importable_role(document, request.id)


def _with_bucket(place: CloudSite, name: str, bucket: str) -> Document:
    """A document that holds the bucket alone: for one, neither a lock nor a login key is needed."""
    site = place.site
    storage = site.spec.storage.get(name)
    if storage is None or storage.kind != "object":
        raise GpuprovError(_no_storage(site, name))
    owner = Owner(spec=site.spec.name, stack=site.spec.name)
    standing = standing_in(place.stack.state())
    entry = StandingBucket(bucket=bucket, tags=tags(owner, "bucket", name))
    return standing_document(site.spec, replace(standing, buckets={**standing.buckets, name: entry}))


def _refuse_known(place: CloudSite, found: Sequence[Import]) -> None:
    held = place.stack.state().resources
    for one in found:
        there = held.get(one.address)
        if there is not None:
            raise GpuprovError(
                Diagnostic(
                    code="GP-CLOUD-075",
                    address=one.address,
                    summary=f"the stack has {one.address} already: it is {there.id}",
                    detail="nothing was changed",
                    hint="" if there.id == one.id else "what stands keeps its place; choose another name in the spec",
                )
            )


def _refuse_replaced(planned: Sequence[ResourceChange]) -> None:
    for change in planned:
        if change.action in {ResourceAction.REPLACE, ResourceAction.DELETE}:
            raise GpuprovError(
                Diagnostic(
                    code="GP-CLOUD-075",
                    address=change.address,
                    summary=f"{change.address} cannot be what the spec says without being made anew",
                    detail="\n".join((*(change.changes or change.reasons), "nothing was changed")),
                    hint="write into the spec what it is, or leave it out of the stack",
                )
            )


def _no_storage(site: Site, name: str) -> Diagnostic:
    buckets = [key for key, storage in site.spec.storage.items() if storage.kind == "object"]
    return Diagnostic(
        code="GP-SPEC-008",
        address=f"storage.{name}",
        summary=f"the spec has no bucket `{name}`",
        hint="buckets of the spec: " + (", ".join(buckets) or "none; write `storage: {NAME: {kind: object}}`"),
    )


def _taken(one: Import) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-076",
        address=one.address,
        summary=f"{one.id} is the stack's now",
        hint="`gpuprov preview --target cloud` shows what the spec still asks of it",
        severity=Severity.NOTE,
    )
