"""A want that was kept is the same want when it is read; anything else is refused."""

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from host_builders import make_want

from gpuprov.document.canonical import digest
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.want.empty import empty_want
from gpuprov.want.host import host_want
from gpuprov.want.read import read_want, want_text
from gpuprov.want.types import HostWant

WANT = make_want()


@pytest.mark.parametrize("want", [WANT, make_want(settled=True), make_want(kernel="6.1.0-40-amd64")])
def test_a_want_comes_back_as_it_was(want: HostWant) -> None:
    assert read_want(want_text(want), "h") == want


def test_an_empty_want_comes_back_too() -> None:
    empty = host_want(empty_want("train", "onprem", "", ""), "h")
    assert read_want(want_text(empty), "h") == empty


def test_a_want_of_a_release_that_had_fewer_fields_is_read_with_their_defaults() -> None:
    body = json.loads(want_text(WANT))
    del body["pool"]["hand_back"]
    for service in body["pool"]["services"]:
        del service["exporter"]
    body["pool"]["digest"] = digest({**body["pool"], "digest": ""})
    found = read_want(json.dumps(body), "h")
    assert found.pool.hand_back is False
    assert found.pool.packages == WANT.pool.packages


def changed(**pool: Any) -> str:
    body = json.loads(want_text(WANT))
    body["pool"] |= pool
    return json.dumps(body)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "cannot be read"),
        ("[]", "expected an object"),
        (changed(packages=[]), "was changed"),
        (changed(colour="red"), "does not know: colour"),
        (changed(packages={"a": 1}), "expected a list"),
        (changed(packages=[{"name": "a"}]), "packages"),
        (changed(verify=[1]), r"verify\[0\] is a int"),
        (changed(os=None), "os is a NoneType"),
        (changed(hand_back="no"), "hand_back is a str"),
    ],
)
def test_what_is_no_want_is_refused(text: str, says: str) -> None:
    with pytest.raises(GpuprovError, match=says) as caught:
        read_want(text, "node-1")
    (told,) = caught.value.diagnostics
    assert (told.code, told.address) == ("GP-BACK-003", "node-1")
    assert told.hint


def kinds_in(kind: Any, seen: set[Any]) -> set[Any]:
    """Every type that a want is made of."""
    if kind in seen:
        return seen
    seen.add(kind)
    members = list(get_type_hints(kind).values()) if is_dataclass(kind) else list(get_args(kind))
    for member in members:
        kinds_in(member, seen)
    return seen


def test_every_type_of_a_want_is_one_that_can_be_read() -> None:
    for kind in kinds_in(HostWant, set()):
        plain = kind in {str, int, bool, NoneType, Ellipsis} or is_dataclass(kind)
        made = get_origin(kind) in {tuple, Mapping} or isinstance(kind, UnionType)
        assert plain or made or issubclass(kind, Enum), kind
        if isinstance(kind, UnionType):
            assert {NoneType} < set(get_args(kind)), kind
            assert len(get_args(kind)) == 2, kind
        if get_origin(kind) is Mapping:
            assert get_args(kind)[0] is str, kind
