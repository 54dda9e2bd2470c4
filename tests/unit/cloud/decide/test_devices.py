import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.cloud.decide.devices import DEVICES, assign_devices
from gpuprov.model.diagnostic import GpuprovError

STORAGES = st.sets(st.from_regex(r"[a-z]{1,8}", fullmatch=True), max_size=len(DEVICES))


@given(STORAGES, STORAGES)
def test_what_is_attached_keeps_its_slot_whatever_comes_and_goes(before: set[str], after: set[str]) -> None:
    first = assign_devices(before, {})
    then = assign_devices(after, first)
    assert {name: then[name] for name in before & after} == {name: first[name] for name in before & after}
    for given_names in (first, then):
        assert len(set(given_names.values())) == len(given_names)
        assert set(given_names.values()) <= set(DEVICES)


@given(STORAGES)
def test_the_order_of_names_does_not_matter(storages: set[str]) -> None:
    assert assign_devices(sorted(storages), {}) == assign_devices(sorted(storages, reverse=True), {})


def test_a_volume_that_goes_away_holds_its_slot_until_it_is_gone() -> None:
    for name in ("scratch", "data", "cache"):
        slot = assign_devices([name], {})[name]
        assert assign_devices([name], {"old": slot})[name] != slot


def test_more_volumes_than_slots_are_refused() -> None:
    with pytest.raises(GpuprovError, match="GP-SPEC-005 storage: the spec has 12 volumes"):
        assign_devices([f"v{number}" for number in range(12)], {})
