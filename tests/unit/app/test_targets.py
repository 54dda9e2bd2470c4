"""Which target a command means: the only one, or the one that is named."""

from pathlib import Path

import pytest
from ground_builders import BOTH, RACK, SPEC, make_site
from state_files import state_file

from gpuprov.app.access import Access
from gpuprov.app.cloud_site import place_of
from gpuprov.app.targets import choose_target, choose_targets, cloud_names, refuse_shared_names, refuse_unclear_limit
from gpuprov.model.diagnostic import GpuprovError


@pytest.mark.parametrize(
    ("text", "target", "chosen"),
    [
        (SPEC, None, ("cloud",)),
        (RACK, None, ("onprem",)),
        (BOTH, None, ("onprem", "cloud")),
        (BOTH, "cloud", ("cloud",)),
        (BOTH, "onprem", ("onprem",)),
    ],
)
def test_a_command_that_looks_takes_all_targets(
    tmp_path: Path, text: str, target: str | None, chosen: tuple[str, ...]
) -> None:
    assert choose_targets(make_site(tmp_path, text=text), Access(), target) == chosen


@pytest.mark.parametrize(
    ("text", "access", "target", "code", "word"),
    [
        (BOTH, Access(), None, "GP-RUN-004", "--target onprem or --target cloud"),
        (RACK, Access(), "cloud", "GP-SPEC-008", "targets.cloud"),
        (SPEC, Access(inventory="x.yml"), "cloud", "GP-RUN-004", "leave -i away"),
    ],
)
def test_an_unclear_target_is_refused_with_the_way_out(
    tmp_path: Path, text: str, access: Access, target: str | None, code: str, word: str
) -> None:
    with pytest.raises(GpuprovError) as caught:
        choose_target(make_site(tmp_path, text=text), access, target)
    (told,) = caught.value.diagnostics
    assert told.code == code
    assert word in told.hint


def test_a_stack_that_no_pool_asks_for_any_more_can_still_be_removed(tmp_path: Path) -> None:
    gone = BOTH.replace("    cloud: {instance: p5.48xlarge, hosts: [HOSTS]}\n", "")
    site = make_site(tmp_path, text=gone)
    with pytest.raises(GpuprovError):
        choose_target(site, Access(), "cloud")
    path = state_file(place_of(site, {}))
    path.parent.mkdir(parents=True)
    path.write_text("{}", encoding="utf-8")
    assert choose_target(site, Access(), "cloud") == "cloud"
    assert choose_target(site, Access(), None) == "onprem"


def test_a_spec_whose_inventory_is_missing_is_about_the_rack(tmp_path: Path) -> None:
    text = RACK.partition("targets:")[0]
    assert choose_target(make_site(tmp_path, text=text), Access(), None) == "onprem"


def test_names_of_cloud_hosts_come_from_the_spec(tmp_path: Path) -> None:
    assert cloud_names(make_site(tmp_path, "b", "a")) == {"b": "train", "a": "train"}
    counted = SPEC.replace("hosts: [HOSTS]", "count: 2")
    assert cloud_names(make_site(tmp_path, text=counted)) == {"train-1": "train", "train-2": "train"}


def test_a_name_belongs_to_one_host() -> None:
    refuse_shared_names(["a"], ["b"])
    with pytest.raises(GpuprovError) as caught:
        refuse_shared_names(["a", "b"], ["b", "c"])
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-INV-005", "b")]


def test_a_limit_needs_one_target() -> None:
    refuse_unclear_limit(("cloud",), Access(limit="a"), "")
    refuse_unclear_limit(("onprem", "cloud"), Access(), "")
    with pytest.raises(GpuprovError):
        refuse_unclear_limit(("onprem", "cloud"), Access(limit="a"), "")
