"""`import` over a stack in memory: what is asked, what is refused, and what is done."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from app_world import World

from gpuprov.app.importing import Gate, Imported, ImportRequest, take_in
from gpuprov.cloud.importing import Import
from gpuprov.cloud.state import BUCKET, StateResource
from gpuprov.cloud.types import Document
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress
from gpuprov.model.resource import ResourceAction, ResourceChange


class Account:
    """An account that has whatever is asked for."""

    def __init__(self) -> None:
        self.documents: list[Document] = []

    def importable_bucket(self, document: Document, name: str, bucket: str) -> tuple[Import, ...]:
        self.documents.append(document)
        return (Import(address=f"bucket.{name}", type=BUCKET, id=bucket),)

    def importable_network(self, document: Document, vpc: str) -> tuple[Import, ...]:
        self.documents.append(document)
        return (Import(address="vpc.main", type="aws:ec2/vpc:Vpc", id=vpc),)

    def importable_role(self, document: Document, name: str) -> tuple[Import, ...]:
        self.documents.append(document)
        return (Import(address="role.main", type="aws:iam/role:Role", id=name),)


class Engine:
    """An engine that finds one change."""

    def __init__(self) -> None:
        self.action = ResourceAction.CREATE
        self.applied: list[tuple[Import, ...]] = []

    def preview(self, document: Document, imports: tuple[Import, ...], report: Any) -> tuple[ResourceChange, ...]:
        del document, report
        return tuple(
            ResourceChange(address=one.address, type=one.type, action=self.action, urn="u", changes=("tags.team",))
            for one in imports
        )

    def apply(
        self, document: Document, imports: tuple[Import, ...], report: Any, cancel: threading.Event
    ) -> tuple[ResourceChange, ...]:
        assert not cancel.is_set()
        self.applied.append(imports)
        return self.preview(document, imports, report)


class Door:
    """What a test asks through, and what it sees."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.account, self.engine = Account(), Engine()
        self.answer = True
        self.shown: list[list[str]] = []

    def take(self, what: str, identity: str) -> Imported:
        def ask(found: Sequence[Import], changes: Sequence[ResourceChange]) -> bool:
            self.shown.append([*(one.address for one in found), *(line for c in changes for line in c.changes)])
            return self.answer

        def gate(_site: object) -> Gate:
            return Gate(place=self.world.place, account=self.account, engine=self.engine)

        request = ImportRequest(spec=self.world.site.path, what=what, id=identity)
        return take_in(request, ask=ask, report=ignore_progress, gate_of=gate)

    def refused(self, what: str, identity: str = "x") -> tuple[str, str]:
        with pytest.raises(GpuprovError) as caught:
            self.take(what, identity)
        told = caught.value.diagnostics[0]
        return told.code, f"{told.summary} {told.detail} {told.hint}"


@pytest.fixture
def door(world: World) -> Door:
    """A stack that holds nothing."""
    return Door(world)


def test_a_bucket_is_shown_with_its_changes_and_taken_in(door: Door) -> None:
    done = door.take("bucket.datasets", "theirs")
    assert door.shown == [["bucket.datasets", "tags.team"]]
    assert [[one.id for one in imports] for imports in door.engine.applied] == [["theirs"]]
    assert (done.done, [(d.code, str(d.severity)) for d in done.diagnostics]) == (True, [("GP-CLOUD-076", "note")])
    (entry,) = door.account.documents[0]["buckets"]  # type: ignore[misc]
    assert entry["bucket"] == "theirs"  # type: ignore[index]
    assert door.account.documents[0]["instances"] == []


def test_without_consent_nothing_is_taken_in(door: Door) -> None:
    door.answer = False
    done = door.take("bucket.datasets", "theirs")
    assert (done.done, done.run, [d.code for d in done.diagnostics]) == (False, "", ["GP-RUN-005"])
    assert door.engine.applied == []


def test_a_network_and_a_role_are_looked_for_in_the_whole_document(door: Door) -> None:
    door.take("network", "vpc-1")
    door.take("role", "gpuprov-site")
    assert [bool(document["network"]) for document in door.account.documents] == [True, True]
    assert [document["identity"] is not None for document in door.account.documents] == [True, True]


def test_what_would_be_made_anew_is_refused_before_the_question(door: Door) -> None:
    door.engine.action = ResourceAction.REPLACE
    code, said = door.refused("network", "vpc-1")
    assert (code, "made anew" in said, door.shown) == ("GP-CLOUD-075", True, [])


def test_what_the_stack_has_already_is_refused(door: Door) -> None:
    door.world.stack.resources["bucket.datasets"] = StateResource(
        address="bucket.datasets", urn="u", type=BUCKET, id="own", inputs={"bucket": "own", "tags": {}}
    )
    code, said = door.refused("bucket.datasets", "theirs")
    assert (code, "it is own" in said) == ("GP-CLOUD-075", True)


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("bucket.nothing", "GP-SPEC-008", "datasets"),
        ("bucket.scratch", "GP-SPEC-008", "no bucket `scratch`"),
        ("instance.train-a", "GP-RUN-004", "pools.NAME.cloud.existing"),
        ("vpc", "GP-RUN-004", "`network`"),
    ],
)
def test_what_is_no_name_of_something_to_take_in(door: Door, what: str, code: str, said: str) -> None:
    found, text = door.refused(what)
    assert (found, said in text) == (code, True), text
    assert door.engine.applied == []
