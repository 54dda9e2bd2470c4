"""An image build over a cloud in memory: what is left when each step fails, and what is listed when none does."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ground_builders import BASE, SPEC, FakeAccount, FakeStack, cloud_lock, make_site

from gpuprov.app import image_boot, image_build, image_shop, image_steps
from gpuprov.app.access import Access
from gpuprov.app.cloud_site import place_of
from gpuprov.app.components import catalog_components
from gpuprov.app.image_build import Built, build
from gpuprov.app.image_steps import Workshop
from gpuprov.catalog.load import PACKAGED
from gpuprov.cloud.decide.baked import baked_digest, builder_want
from gpuprov.cloud.images_text import load_images
from gpuprov.cloud.types import Image, StackPlace
from gpuprov.model.change import HostPlan, Plan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.planned import Planned
from gpuprov.model.progress import Report, ignore_progress
from gpuprov.model.run import HostResult, HostState
from gpuprov.store.journal import open_journal, read_run
from gpuprov.want.pool import pool_want


class BuilderStack(FakeStack):
    """A stack whose remove deletes what it holds, and which can refuse that."""

    refuse = False

    def remove(self, *, report: Report) -> None:
        if self.refuse:
            raise failure("GP-CLOUD-025", "remove")
        self.resources.clear()
        super().remove(report=report)


class ImageAccount(FakeAccount):
    """An account that makes images, and fails at a step that a test names."""

    def __init__(self) -> None:
        super().__init__()
        self.region = "us-east-1"
        self.fail_at = ""
        self.made: dict[str, Image] = {}
        self.checked: list[str] = []
        self.stopped: list[str] = []

    def stop(self, instance_id: str, *, seconds: float, report: Report) -> None:
        self._do("stop")
        self.stopped.append(instance_id)

    def make_image(self, instance_id: str, image: Image, *, spec_name: str) -> str:
        self._do("make_image")
        assert instance_id in self.stopped
        self.made["ami-baked"] = image
        return "ami-baked"

    def wait_for_image(self, image_id: str, *, seconds: float, report: Report) -> tuple[str, ...]:
        self._do("wait_for_image")
        return ("snap-1",)

    def mark_checked(self, image_id: str) -> None:
        self._do("mark_checked")
        self.checked.append(image_id)

    def remove_image(self, image_id: str) -> None:
        self._do("remove_image")
        del self.made[image_id]

    def _do(self, step: str) -> None:
        if self.fail_at == step:
            raise failure("GP-CLOUD-007", step)


class World:
    """Everything around a build, and where it is to fail."""

    def __init__(self, shop: Workshop, stack: BuilderStack, account: ImageAccount) -> None:
        self.shop, self.stack, self.account = shop, stack, account
        self.fail_at = ""
        self.seen: list[str] = []
        self.converged: tuple[str, ...] = ()

    def build(self) -> Built:
        return build(self.shop)

    def step(self, name: str) -> None:
        self.seen.append(name)
        if self.fail_at == name:
            raise failure("GP-CONV-001", name)


def failure(code: str, step: str) -> GpuprovError:
    return GpuprovError(Diagnostic(code=code, address=step, summary="it failed here"))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A site with a pool, and hosts that answer by script."""
    site, lock, stack, account = make_site(tmp_path), cloud_lock(), BuilderStack(), ImageAccount()
    pool, cloud = site.spec.pools["train"], site.spec.cloud
    assert cloud is not None
    want = pool_want(lock, site.spec, pool, "cloud", components=catalog_components(PACKAGED))
    with open_journal(site.state, "image build") as journal:
        shop = Workshop(
            site=site,
            cloud=cloud,
            pool=pool,
            lock=lock,
            lock_text="",
            want=builder_want(want),
            baked=baked_digest(want),
            base=lock.images[0],
            account=account,
            stack=stack,
            folder=site.state / "cloud" / "image-train",
            access=Access(),
            journal=journal,
            report=ignore_progress,
            cancel=threading.Event(),
        )
        found = World(shop, stack, account)
        _script(found, monkeypatch)
        yield found


def _script(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(_account: Any, made: Any, **_: Any) -> tuple[Diagnostic, ...]:
        again = "wait" in world.seen
        world.step("wait again" if again else "wait")
        return ()

    def look(fleet: Any, *_: Any, **__: Any) -> Planned:
        hosts = tuple(HostPlan(host=host.name, pool=host.pool, changes=()) for host in fleet.hosts)
        return Planned(plan=Plan(lock="", wants={}, hosts=hosts), snapshots={}, not_observed={})

    def converge(work: Any, **_: Any) -> tuple[HostResult, ...]:
        world.step("converge")
        return (HostResult(host="builder", pool="train", state=HostState.CHANGED, packages=("a -> 1",)),)

    def clean(_transport: Any) -> None:
        world.step("clean")

    def check(shop: Workshop, made: Any, image: Image) -> None:
        assert made.hosts[0].image == image.id
        world.step("check")

    monkeypatch.setattr(image_steps, "wait_for_hosts", wait)
    monkeypatch.setattr(image_steps, "look_and_plan", look)
    monkeypatch.setattr(image_steps, "converge_hosts", converge)
    monkeypatch.setattr(image_steps, "connect", lambda _: Closed())
    monkeypatch.setattr(image_steps, "clean_host", clean)
    monkeypatch.setattr(image_build, "check", check)


class Closed:
    """A connection."""

    def close(self) -> None:
        """Close it."""


def test_an_image_is_made_checked_and_listed_and_the_builder_is_gone(world: World) -> None:
    built = world.build()
    assert world.seen == ["wait", "converge", "clean", "wait again", "check"]
    assert world.stack.removed
    assert world.account.checked == ["ami-baked"]
    made = world.account.made["ami-baked"]
    assert (made.pool, made.base, made.baked) == ("train", BASE, world.shop.baked)
    assert built.image == replace(made, id="ami-baked", snapshots=("snap-1",), checked=True)
    assert load_images(world.shop.site.path) == (built.image,)
    assert not list(world.shop.folder.glob("*"))
    assert set(built.seconds) == {"clear", "builder", "converge", "image", "check", "remove"}


@pytest.mark.parametrize(
    ("step", "image_was_made"),
    [
        ("wait", False),
        ("converge", False),
        ("clean", False),
        ("stop", False),
        ("make_image", False),
        ("wait_for_image", True),
        ("wait again", True),
        ("check", True),
        ("mark_checked", True),
    ],
)
def test_nothing_is_left_when_a_step_fails(world: World, step: str, image_was_made: bool) -> None:  # noqa: FBT001
    world.fail_at = world.account.fail_at = step
    with pytest.raises(GpuprovError) as caught:
        world.build()
    assert [d.address for d in caught.value.diagnostics] == [step]
    assert world.stack.removed
    assert world.account.made == {}
    assert world.account.checked == []
    assert load_images(world.shop.site.path) == ()
    assert ("check" in world.seen) == (step in {"check", "mark_checked"})
    assert image_was_made == ("clean" in world.seen and step not in {"clean", "stop", "make_image"})


def test_a_resource_that_cannot_be_made(world: World) -> None:
    world.stack.fail_at = "instance.builder"
    with pytest.raises(GpuprovError) as caught:
        world.build()
    assert caught.value.diagnostics[0].code == "GP-CLOUD-008"
    assert world.stack.removed
    assert world.seen == []


def test_what_could_not_be_removed_is_told_after_what_failed(world: World) -> None:
    world.fail_at, world.account.fail_at, world.stack.refuse = "check", "remove_image", True
    with pytest.raises(GpuprovError) as caught:
        world.build()
    assert [d.address for d in caught.value.diagnostics] == ["check", "remove", "remove_image"]


def test_a_builder_that_cannot_be_removed_does_not_cost_the_image(world: World) -> None:
    world.stack.refuse = True
    built = world.build()
    assert [d.address for d in built.diagnostics] == ["remove"]
    assert load_images(world.shop.site.path) == (built.image,)


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        ("make it anew with `gpuprov up --target cloud --replace builder`", "run `gpuprov image build` again"),
        ("start it: `gpuprov start builder`, then run it again", "run `gpuprov image build` again"),
        ("check that its security group lets this machine in", "security group"),
    ],
)
def test_advice_is_about_a_builder(world: World, monkeypatch: pytest.MonkeyPatch, hint: str, shown: str) -> None:
    silent = Diagnostic(code="GP-CLOUD-016", address="builder", summary="it did not come up", hint=hint)
    monkeypatch.setattr(image_steps, "wait_for_hosts", lambda *_, **__: (silent,))
    with pytest.raises(GpuprovError) as caught:
        world.build()
    assert shown in caught.value.diagnostics[0].hint
    assert "--replace" not in caught.value.diagnostics[0].hint


def test_ctrl_c_ends_between_two_steps_and_leaves_nothing(world: World) -> None:
    world.shop.cancel.set()
    with pytest.raises(GpuprovError) as caught:
        world.build()
    assert caught.value.diagnostics[0].code == "GP-RUN-003"
    assert world.stack.removed
    assert world.seen == []


def test_what_a_killed_build_left_is_removed_first(world: World) -> None:
    world.build()
    first = len(world.stack.calls)
    made = image_steps.make_builder(world.shop, image=BASE)
    world.seen.clear()
    world.build()
    assert made.hosts
    assert world.seen == ["wait", "converge", "clean", "wait again", "check"]
    assert len(world.stack.calls) > first


def test_the_journal_tells_each_step(world: World) -> None:
    world.fail_at = "check"
    with pytest.raises(GpuprovError):
        world.build()
    run = read_run(world.shop.site.state, world.shop.journal.name)
    ended = {entry.step: entry.fields.get("ok") for entry in run.entries if entry.event == "end"}
    assert ended == {
        "image clear": True,
        "image builder": True,
        "image converge": True,
        "image image": True,
        "image check": False,
        "image remove": True,
    }


def test_a_builder_whose_making_failed_is_looked_for_before_its_stack_is_removed(world: World) -> None:
    world.stack.fail_at = "instance.builder"
    with pytest.raises(GpuprovError):
        world.build()
    assert world.stack.recovered_with == [False]
    assert world.stack.removed


HELD = Image(
    id="ami-baked", name="n", pool="train", os="debian-12", arch="amd64", region="us-east-1", baked="d", base="b",
    made="2026-11-30T00:00:00Z", checked=True,
)  # fmt: skip


@pytest.fixture
def held(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The account has an image, and `image verify --boot` looks into it."""
    world.account.made["ami-baked"] = HELD

    def check(_shop: Any, made: Any, image: Image) -> None:
        assert [host.image for host in made.hosts] == [image.id]
        if world.fail_at == "lacks":
            raise GpuprovError(Diagnostic(code="GP-ROLL-002", address=image.id, summary="lacks", hint="was removed"))
        world.step("check")

    monkeypatch.setattr(image_boot, "check", check)
    return world


def test_looking_into_an_image_leaves_it_and_no_host(held: World) -> None:
    assert image_boot.boot(held.shop, HELD) == ()
    assert held.seen[-1] == "check"
    assert held.stack.resources == {}
    assert "ami-baked" in held.account.made


def test_what_an_image_lacks_is_a_finding_and_the_image_stays(held: World) -> None:
    held.fail_at = "lacks"
    with pytest.raises(GpuprovError) as caught:
        image_boot.boot(held.shop, HELD)
    (told,) = caught.value.diagnostics
    assert (told.code, told.address) == ("GP-CLOUD-073", "image.train/ami-baked")
    assert "image build --again" in told.hint
    assert held.stack.resources == {}
    assert "ami-baked" in held.account.made


def test_another_failure_of_the_look_is_told_with_what_could_not_be_removed(held: World) -> None:
    held.fail_at = "check"
    held.stack.refuse = True
    with pytest.raises(GpuprovError) as caught:
        image_boot.boot(held.shop, HELD)
    assert [d.code for d in caught.value.diagnostics] == ["GP-CONV-001", "GP-CLOUD-025"]


def test_a_builders_stack_is_kept_as_the_hosts_is(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else `destroy` and `recover` would not find what a killed build left."""
    site = make_site(tmp_path, text=SPEC + "    state: {secrets: awskms://alias/gp}\n")
    places: list[StackPlace] = []

    def stack(place: StackPlace, _engine: object) -> BuilderStack:
        places.append(place)
        return world.stack

    monkeypatch.setattr(image_shop, "CloudStack", stack)
    monkeypatch.setattr(image_shop, "find_engine", lambda _: None)
    shop = world.shop
    account: Any = ImageAccount()
    account.environment = {"AWS_REGION": "us-east-1"}
    order = image_shop.Order(
        site=site, pool=shop.pool, lock=shop.lock, lock_text="", want=shop.want, baked="", base=shop.base,
        account=account,
    )  # fmt: skip
    with image_shop.open_shop(order, "image build", Access(), ignore_progress) as opened:
        assert opened.stack is world.stack
    (place,) = places
    main = place_of(site, account.environment)
    assert (place.name, place.secrets, place.folder) == ("site-image-train", "awskms://alias/gp", main.folder)
    assert place.environment == main.environment
