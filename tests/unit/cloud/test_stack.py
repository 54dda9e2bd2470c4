"""With the real engine, the real program of stacks/aws, and a plugin whose cloud is a folder."""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import engine_plugin
import pytest
from stack_documents import document, instance
from state_files import state_file

from gpuprov.cloud import state
from gpuprov.cloud.copies import copies, put_back, read_copy
from gpuprov.cloud.engine import Engine, find_engine
from gpuprov.cloud.events import EventReader, NewResource
from gpuprov.cloud.stack import CloudStack, judge
from gpuprov.cloud.state import INSTANCE
from gpuprov.cloud.state_lock import read_lock
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Progress, ignore_progress
from gpuprov.model.resource import ResourceAction

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),  # the engine's start alone takes seconds on a busy machine
    # An engine that fails or is killed leaves the SDK's own event loop unclosed (SDK 3.272, 2026-11-30).
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _leftovers() -> Iterator[None]:
    """Have the SDK's leftovers go within the test that made them."""
    yield
    gc.collect()


class Cloud:
    """A folder as the account, and the plugin that fills it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir()
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            (sys.executable, engine_plugin.__file__, str(self.folder)), stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def stop(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def order(self, **orders: Any) -> None:
        (self.folder / ".orders.json").write_text(json.dumps(orders))

    def of(self, type_token: str) -> list[str]:
        return [name for name, row in engine_plugin.resources(self.folder).items() if row["type"] == type_token]

    def find(self, type_token: str, key: str) -> str | None:
        return engine_plugin.find(self.folder, type_token, key)

    def wait_for(self, address: str, *, verb: str = "creating") -> None:
        """Wait until a resource is being made, or deleted."""
        while not (self.folder / f".{verb}-{address.replace('/', '_')}").exists():
            time.sleep(0.05)


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine that set-up found or built; without one these tests fail with its three ways."""
    return find_engine(os.environ)


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    one = Cloud(tmp_path / "account")
    one.start()
    yield one
    one.stop()


Make = Callable[..., CloudStack]


@pytest.fixture
def make(tmp_path: Path, cloud: Cloud, engine: Engine) -> Make:
    def made(name: str = "train", **options: float) -> CloudStack:
        return CloudStack(place(tmp_path, cloud, name), engine, **options)

    return made


def place(folder: Path, cloud: Cloud, name: str = "train") -> StackPlace:
    environment = {"PULUMI_DEBUG_PROVIDERS": f"aws:{cloud.port}", "AWS_REGION": "us-east-1"}
    return StackPlace(name=name, folder=folder / "a site" / "cloud", environment=environment, region="us-east-1")


def code(work: Callable[[], object]) -> str:
    with pytest.raises(GpuprovError) as error:
        work()
    return error.value.diagnostics[0].code


def test_a_stack_from_nothing_to_nothing(make: Make, cloud: Cloud, tmp_path: Path) -> None:
    asked = document("train-a", "train-b", volumes=("scratch/train-a",), buckets=("data",))
    stack = make()
    assert not stack.state().exists
    plan = stack.preview(asked, report=ignore_progress)
    assert {change.action for change in plan.changes} == {ResourceAction.CREATE}
    assert engine_plugin.resources(cloud.folder) == {}
    told: list[Progress] = []
    applied = stack.apply(asked, report=told.append)
    assert applied.diagnostics == ()
    assert {change.address for change in applied.changed} == {change.address for change in plan.changes}
    assert [host.name for host in applied.made.hosts] == ["train-a", "train-b"]
    assert sorted(host.instance_id for host in applied.made.hosts) == sorted(cloud.of(INSTANCE))
    assert applied.made.volumes["scratch/train-a"].startswith("vol-")
    assert (told[-1].done, told[-1].total) == (len(plan.changes), len(plan.changes))

    again = make()
    assert again.preview(asked, report=ignore_progress).empty
    applied = again.apply(asked, report=ignore_progress)
    assert (applied.changed, applied.unchanged) == ((), len(plan.changes))
    assert not again.state().unfinished

    with_data = document(volumes=("scratch/train-a",), buckets=("data",))
    fewer = make()
    gone = judge(fewer.preview(with_data, report=ignore_progress), named=("train-a",))
    assert [(one.code, one.address) for one in gone] == [("GP-CLOUD-014", "instance.train-b")]
    assert fewer.apply(with_data, report=ignore_progress).made.hosts == ()
    assert code(lambda: make().remove(report=ignore_progress)) == "GP-CLOUD-014"
    assert cloud.of(state.VOLUME)
    assert make().apply(document(), report=ignore_progress).diagnostics == ()
    make().remove(report=ignore_progress)
    assert engine_plugin.resources(cloud.folder) == {}
    assert not make().state().exists
    assert not state_file(place(tmp_path, cloud)).exists()
    files = [path for path in (tmp_path / "a site" / "cloud").rglob("*") if path.is_file()]
    assert not [path for path in files if path.stat().st_mode & 0o077 and path.parent.name in {"cloud", "log"}]


def test_a_named_host_is_made_anew_and_no_other(make: Make, cloud: Cloud) -> None:
    asked = document("train-a", "train-b")
    make().apply(asked, report=ignore_progress)
    before = {host.name: host.instance_id for host in make().state().made.hosts}
    stack = make()
    plan = stack.preview(asked, replace=("train-a",), report=ignore_progress)
    assert [(change.address, change.action) for change in plan.changes] == [
        ("instance.train-a", ResourceAction.REPLACE)
    ]
    after = {
        host.name: host.instance_id
        for host in stack.apply(asked, replace=("train-a",), report=ignore_progress).made.hosts
    }
    assert after["train-a"] != before["train-a"]
    assert after["train-b"] == before["train-b"]
    assert sorted(after.values()) == sorted(cloud.of(INSTANCE))


def test_what_was_shown_is_what_is_done(make: Make) -> None:
    stack = make()
    stack.preview(document("train-a"), report=ignore_progress)
    assert code(lambda: stack.apply(document("train-a", "train-b"), report=ignore_progress)) == "GP-PLAN-001"


def test_a_failed_resource_leaves_what_was_made_and_the_next_run_goes_on(make: Make, cloud: Cloud) -> None:
    words = "operation error EC2: RunInstances, api error InsufficientInstanceCapacity: no p5.48xlarge"
    cloud.order(fail={INSTANCE: words})
    applied = make().apply(document("train-a"), report=ignore_progress)
    assert [(one.code, one.address) for one in applied.diagnostics] == [("GP-CLOUD-008", "instance.train-a")]
    assert applied.made.resources == len(applied.changed) == 5
    assert make().state().unfinished
    cloud.order()
    applied = make().apply(document("train-a"), report=ignore_progress)
    assert (len(applied.changed), applied.unchanged, applied.diagnostics) == (1, 5, ())


def test_an_interruption_finishes_and_records_what_is_being_made(make: Make, cloud: Cloud) -> None:
    cloud.order(slow={INSTANCE: 3})
    cancel = threading.Event()
    threading.Thread(target=lambda: (cloud.wait_for("instance.train-a"), cancel.set())).start()
    applied = make().apply(document("train-a", volumes=("scratch/train-a",)), report=ignore_progress, cancel=cancel)
    assert [one.code for one in applied.diagnostics] == ["GP-RUN-003"]
    found = make().state()
    assert (found.pending, found.locked_by, found.unfinished) == ((), None, True)
    assert [host.instance_id for host in found.made.hosts] == cloud.of(INSTANCE)
    cloud.order()
    assert make().apply(document("train-a", volumes=("scratch/train-a",)), report=ignore_progress).diagnostics == ()
    assert len(cloud.of(INSTANCE)) == 1


def test_an_interruption_while_something_goes_is_told_as_one(make: Make, cloud: Cloud) -> None:
    assert make().apply(document("train-a", "train-b"), report=ignore_progress).diagnostics == ()
    cloud.order(slow_delete={INSTANCE: 3})
    cancel = threading.Event()
    threading.Thread(target=lambda: (cloud.wait_for("instance.train-b", verb="deleting"), cancel.set())).start()
    applied = make().apply(document("train-a"), report=ignore_progress, cancel=cancel)
    assert [one.code for one in applied.diagnostics] == ["GP-RUN-003"]
    found = make().state()
    assert (found.pending, [host.name for host in found.made.hosts]) == ((), ["train-a"])
    assert len(cloud.of(INSTANCE)) == 1


@pytest.mark.parametrize("text", ["", '{"user.cache_control":""'])
def test_attributes_that_a_killed_engine_did_not_write_whole_stop_nobody(make: Make, cloud: Cloud, text: str) -> None:
    assert make().apply(document("train-a"), report=ignore_progress).diagnostics == ()
    stack = make()
    torn = [
        path for path in cloud.folder.parent.rglob("*.attrs") if path.name in {"train.json.attrs", "meta.yaml.attrs"}
    ]
    assert torn
    for path in torn:
        path.write_text(text)
    assert stack.recover(cloud.find, ignore_progress, document=document("train-a")) == ()
    assert make().preview(document("train-a"), report=ignore_progress).empty


_UP = """
import json, os, sys
from pathlib import Path
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import StackPlace
name, folder, environment, document = json.loads(sys.argv[1])
place = StackPlace(name=name, folder=Path(folder), environment=environment, region="us-east-1")
CloudStack(place, find_engine(os.environ)).apply(document, report=lambda progress: None)
"""


def up_elsewhere(where: StackPlace, asked: dict[str, Any], checkout: Path) -> "subprocess.Popen[bytes]":
    """An update by another process of gpuprov."""
    words = json.dumps([where.name, str(where.folder), dict(where.environment), asked])
    return subprocess.Popen(
        (sys.executable, "-c", _UP, words), env={**os.environ, "PYTHONPATH": str(checkout)}, stderr=subprocess.DEVNULL
    )


@pytest.mark.parametrize(
    ("victim", "address"),
    [
        ("gpuprov", "instance.train-a"),
        ("engine", "vpc.main"),
        pytest.param("gpuprov", "vpc.main", marks=pytest.mark.matrix),
        pytest.param("engine", "instance.train-a", marks=pytest.mark.matrix),
    ],
)
def test_kill_9_in_the_middle_of_a_create_makes_no_second_one(
    make: Make, cloud: Cloud, tmp_path: Path, checkout: Path, address: str, victim: str
) -> None:
    where, asked = place(tmp_path, cloud), document("train-a", "train-b")
    # With its engine killed, what is being made appears only after the next run has looked for it the first time.
    seconds = 5 if victim == "gpuprov" else 16
    cloud.order(slow={INSTANCE if address.startswith("instance") else "aws:ec2/vpc:Vpc": seconds})
    run = up_elsewhere(where, asked, checkout)
    cloud.wait_for(address)
    if victim == "gpuprov":
        run.kill()
    else:
        holder = read_lock(where)
        assert holder is not None
        os.kill(holder.pid, signal.SIGKILL)
    run.wait()
    cloud.order()

    stack = make()
    told = stack.recover(cloud.find, ignore_progress, document=asked)
    assert {one.code for one in told} == {"GP-CLOUD-023"}
    assert stack.state().pending == ()
    assert stack.state().locked_by is None
    applied = stack.apply(asked, report=ignore_progress)
    assert applied.diagnostics == ()
    assert len(cloud.of(INSTANCE)) == 2
    assert len(cloud.of("aws:ec2/vpc:Vpc")) == 1
    assert sorted(host.instance_id for host in applied.made.hosts) == sorted(cloud.of(INSTANCE))
    assert make().preview(asked, report=ignore_progress).empty


@pytest.mark.parametrize("given", ["the document", "the mark alone"])
def test_a_plugin_that_dies_after_it_made_a_host_leaves_no_second_one(make: Make, cloud: Cloud, given: str) -> None:
    asked = document("train-a")
    cloud.order(lose=[INSTANCE])
    applied = make().apply(asked, report=ignore_progress)
    assert [one.code for one in applied.diagnostics] == ["GP-CLOUD-010"]
    assert make().state().pending == ()
    (orphan,) = cloud.of(INSTANCE)
    cloud.order()
    cloud.stop()
    cloud.start()
    stack = make()
    told = stack.recover(cloud.find, ignore_progress, document=asked if given == "the document" else None)
    assert [(one.code, one.address) for one in told] == [("GP-CLOUD-023", "instance.train-a")]
    applied = stack.apply(asked, report=ignore_progress)
    assert [host.instance_id for host in applied.made.hosts] == cloud.of(INSTANCE) == [orphan]


def test_a_lost_state_is_not_built_a_second_time(make: Make, cloud: Cloud, tmp_path: Path) -> None:
    make().apply(document("train-a"), report=ignore_progress)
    state_file(place(tmp_path, cloud)).unlink()
    assert code(lambda: make().recover(cloud.find, ignore_progress, document=document("train-a"))) == "GP-CLOUD-015"
    assert len(cloud.of(INSTANCE)) == 1


def test_a_pending_create_is_never_run_over(make: Make, cloud: Cloud, tmp_path: Path, checkout: Path) -> None:
    cloud.order(slow={INSTANCE: 2})
    where = place(tmp_path, cloud)
    run = up_elsewhere(where, document("train-a"), checkout)
    cloud.wait_for("instance.train-a")
    holder = read_lock(where)
    assert holder is not None
    os.kill(holder.pid, signal.SIGKILL)
    run.wait()
    assert [one.operation for one in make().state().pending] == ["creating"]
    assert code(lambda: make().apply(document("train-a"), report=ignore_progress)) == "GP-CLOUD-015"
    assert code(lambda: make().remove(report=ignore_progress)) == "GP-CLOUD-015"


def test_two_stacks_in_threads(make: Make, cloud: Cloud) -> None:
    """A43: two stacks at once, each with its own work folder, state and outputs."""
    failures: list[Exception] = []

    def up(name: str, host: str) -> None:
        try:
            asked = document(host)
            asked["security_group"] = {**asked["security_group"], "name": f"gpuprov-{name}"}
            assert make(name).apply(asked, report=ignore_progress).diagnostics == ()
        except Exception as error:  # noqa: BLE001 (told by the test itself)
            failures.append(error)

    threads = [threading.Thread(target=up, args=pair) for pair in (("train", "train-a"), ("train-image-x", "builder"))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failures == []
    assert [host.name for host in make("train").state().made.hosts] == ["train-a"]
    assert [host.name for host in make("train-image-x").state().made.hosts] == ["builder"]
    assert len(cloud.of(INSTANCE)) == 2


class TestBadInput:
    """Each trouble that a person meets, and the code of the answer; nothing is changed in the account by any."""

    @pytest.fixture
    def made(self, make: Make) -> Make:
        make().apply(document("train-a"), report=ignore_progress)
        return make

    @pytest.mark.parametrize("work_folder", ["there", "lost"])
    def test_a_wrong_passphrase(
        self, made: Make, cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work_folder: str
    ) -> None:
        monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "wrong")
        if work_folder == "lost":
            (place(tmp_path, cloud).folder / "work" / "train" / "Pulumi.train.yaml").unlink()
        more = document("train-a", "train-b")
        assert code(lambda: made().preview(more, report=ignore_progress)) == "GP-CLOUD-012"
        assert code(lambda: made().apply(more, report=ignore_progress)) == "GP-CLOUD-012"
        assert not made().state().unfinished
        assert len(cloud.of(INSTANCE)) == 1

    def test_a_passphrase_file_that_is_missing(self, made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE_FILE", "/nonexistent/passphrase")
        assert code(lambda: made().preview(document("train-a"), report=ignore_progress)) == "GP-CLOUD-012"

    def test_a_broken_state_and_the_way_back_that_its_hint_names(
        self, made: Make, cloud: Cloud, tmp_path: Path
    ) -> None:
        made().apply(document("train-a"), report=ignore_progress)
        path = state_file(place(tmp_path, cloud))
        path.write_text(path.read_text()[:5000])
        with pytest.raises(GpuprovError) as error:
            made().preview(document("train-a"), report=ignore_progress)
        (found,) = error.value.diagnostics
        assert found.code == "GP-CLOUD-013"
        name = found.hint.rpartition("gpuprov state restore ")[2]
        (copy,) = [one for one in copies(place(tmp_path, cloud)) if one.name == name]
        put_back(place(tmp_path, cloud), read_copy(place(tmp_path, cloud), copy)[0])
        assert made().preview(document("train-a"), report=ignore_progress).empty

    def test_a_state_that_another_machine_holds(self, made: Make, cloud: Cloud, tmp_path: Path) -> None:
        folder = place(tmp_path, cloud).folder / "state/.pulumi/locks/organization/gpuprov-aws/train"
        folder.mkdir(parents=True, exist_ok=True)
        held = {"pid": 1, "username": "ana", "hostname": "elsewhere", "timestamp": "2026-11-30T02:04:42Z"}
        (folder / "1.json").write_text(json.dumps(held))
        assert code(lambda: made().apply(document("train-a"), report=ignore_progress)) == "GP-CLOUD-011"
        assert made().preview(document("train-a"), report=ignore_progress).empty  # looking needs no lock
        live = held | {"pid": os.getpid(), "hostname": socket.gethostname(), "timestamp": _now()}
        (folder / "1.json").write_text(json.dumps(live))
        began = time.monotonic()
        assert code(lambda: made(patience=1.5).apply(document("train-a"), report=ignore_progress)) == "GP-CLOUD-011"
        assert time.monotonic() - began < 10

    def test_a_plugin_that_is_gone(self, made: Make, cloud: Cloud) -> None:
        cloud.stop()
        began = time.monotonic()
        assert code(lambda: made().preview(document("train-a"), report=ignore_progress)) == "GP-CLOUD-002"
        assert time.monotonic() - began < 5
        cloud.start()

    def test_a_document_of_another_kind(self, made: Make) -> None:
        other = {**document("train-a"), "kind": "Other"}
        assert code(lambda: made().preview(other, report=ignore_progress)) == "GP-INT-001"
        broken = {**document("train-a"), "instances": [{"name": "train-a"}]}
        assert code(lambda: made().preview(broken, report=ignore_progress)) == "GP-INT-001"


def test_an_instance_that_was_deleted_by_hand_is_seen_by_a_refresh(make: Make, cloud: Cloud) -> None:
    asked = document("train-a")
    make().apply(asked, report=ignore_progress)
    (cloud.folder / f"{cloud.of(INSTANCE)[0]}.json").unlink()
    assert make().preview(asked, report=ignore_progress).empty
    plan = make().preview(asked, report=ignore_progress, refresh=True)
    assert [(one.address, one.action) for one in plan.changes] == [("instance.train-a", ResourceAction.CREATE)]
    assert len(make().apply(asked, report=ignore_progress, refresh=True).made.hosts) == len(cloud.of(INSTANCE)) == 1


def test_what_is_kept_for_life_is_kept(make: Make, cloud: Cloud) -> None:
    make().apply(document("train-a"), report=ignore_progress)
    newer = document("train-a")
    newer["instances"] = [{**instance("train-a"), "image": "ami-0fedcba9876543210", "user_data": "#cloud-config\n{}\n"}]
    assert make().preview(newer, report=ignore_progress).empty


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def test_what_the_plugin_does_not_read_is_not_taken_over_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = StackPlace(name="train", folder=tmp_path, environment={}, region="us-east-1")
    stack = CloudStack(place, Engine(path=tmp_path / "pulumi", version="3.274.1", origin="PATH"))
    new = NewResource(urn="u::instance.train-a", type=INSTANCE, parent="", provider="", inputs={})
    looked: list[int] = []

    def preview(*_: Any, **__: Any) -> EventReader:
        looked.append(1)
        assert len(looked) < 5
        return EventReader(planning=True, created=[new])

    note = Diagnostic(code="GP-CLOUD-023", address="instance.train-a", summary="taken over", severity=Severity.NOTE)
    monkeypatch.setattr(stack, "_preview", preview)
    monkeypatch.setattr(stack, "_settle", lambda *_: (note,))
    assert stack._look_ahead({}, (), lambda *_: "i-1", ignore_progress) == (note,)
    assert len(looked) == 2
