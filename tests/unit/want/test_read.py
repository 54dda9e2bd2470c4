"""A want that was kept is the same want when it is read; anything else is refused."""

import json
from typing import Any

import pytest
from host_builders import make_want

from gpuprov.document.canonical import digest
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.want.empty import empty_want
from gpuprov.want.host import host_want
from gpuprov.want.read import read_want, want_text

WANT = make_want()


def test_a_want_comes_back_as_it_was() -> None:
    assert read_want(want_text(WANT), "h") == WANT
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
