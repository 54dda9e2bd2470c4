"""`output`: what the stack holds, by the spec's own names."""

import pytest
from app_world import World

from gpuprov.app import output as module
from gpuprov.app.output import output
from gpuprov.cloud.state import INSTANCE, Pending
from gpuprov.model.diagnostic import GpuprovError


@pytest.fixture
def made(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    world.up()
    monkeypatch.setattr(module, "read_stack", lambda _site: world.stack.state())
    return world


def test_everything_is_named_as_in_the_spec(made: World) -> None:
    found, told = output(made.site.path, None)
    assert [host.name for host in found.hosts] == ["train-a", "train-b"]
    assert found.hosts[0].address == made.stack.resources["instance.train-a"].outputs["publicIp"]
    assert found.hosts[0].instance == made.stack.resources["instance.train-a"].id
    assert set(found.buckets) == {"datasets"}
    assert set(found.volumes) == {"scratch/train-a", "scratch/train-b"}
    assert told == ()


@pytest.mark.parametrize(
    ("name", "hosts", "buckets", "volumes"),
    [
        ("train-b", ["train-b"], [], []),
        ("datasets", [], ["datasets"], []),
        ("scratch", [], [], ["scratch/train-a", "scratch/train-b"]),
        ("scratch/train-a", [], [], ["scratch/train-a"]),
    ],
)
def test_a_name_takes_its_part(
    made: World, name: str, hosts: list[str], buckets: list[str], volumes: list[str]
) -> None:
    found, _ = output(made.site.path, name)
    assert [host.name for host in found.hosts] == hosts
    assert [list(found.buckets), list(found.volumes)] == [buckets, volumes]


def test_an_unknown_name_is_not_found(made: World) -> None:
    with pytest.raises(GpuprovError) as caught:
        output(made.site.path, "train-c")
    (told,) = caught.value.diagnostics
    assert told.code == "GP-CLOUD-026"
    assert "train-a" in told.detail


def test_what_was_cut_off_is_told(made: World) -> None:
    made.stack.pending = (Pending(address="instance.train-c", urn="u", type=INSTANCE, operation="creating"),)
    _, told = output(made.site.path, None)
    assert [(d.code, d.address) for d in told] == [("GP-CLOUD-023", "instance.train-c")]


def test_a_site_without_a_stack_holds_nothing(world: World) -> None:
    found, _ = output(world.site.path, None)
    assert (found.hosts, dict(found.buckets)) == ((), {})
