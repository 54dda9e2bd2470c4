"""Which hosts a limit leaves."""

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.provision.limit import apply_limit

HOSTS = ("a1", "a2", "b1", "b2")
GROUPS = {"a": frozenset({"a1", "a2"}), "first": frozenset({"a1", "b1"})}


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (None, HOSTS),
        ("", HOSTS),
        ("a", ("a1", "a2")),
        ("b2,a1", ("a1", "b2")),
        ("a:b1", ("a1", "a2", "b1")),
        ("a*", ("a1", "a2")),
        ("a,&first", ("a1",)),
        ("!a", ("b1", "b2")),
        ("first,!a1", ("b1",)),
        ("fir?t", ("a1", "b1")),
        ("a,!a", ()),
    ],
)
def test_a_limit_leaves_hosts_in_the_inventorys_order(limit: str | None, left: tuple[str, ...]) -> None:
    assert apply_limit(HOSTS, GROUPS, limit) == left


@pytest.mark.parametrize("limit", ["c", "a,!c", "a,&c", "c*"])
def test_a_name_nobody_wrote_is_told(limit: str) -> None:
    with pytest.raises(GpuprovError) as caught:
        apply_limit(HOSTS, GROUPS, limit)
    assert caught.value.diagnostics[0].code == "GP-INV-004"
