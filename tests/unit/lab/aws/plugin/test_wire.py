from typing import Any

import pytest

from gpuprov.lab.aws.plugin import wire


def test_whole_numbers_and_secrets_come_back_from_the_wire() -> None:
    sent = {"size": 22, "part": 0.5, "key": wire.secret("s"), "list": [1, {"a": wire.secret(2)}], "on": True}
    arrived = wire.read(wire.write(sent))
    assert wire.plain(arrived) == {"size": 22, "part": 0.5, "key": "s", "list": [1, {"a": 2}], "on": True}
    assert isinstance(wire.plain(arrived)["size"], int)
    assert arrived["key"] == wire.secret("s")


def test_what_is_none_is_not_sent() -> None:
    assert wire.read(wire.write({"a": None, "b": {"c": None, "d": 1}, "e": [None, 2]})) == {
        "b": {"d": 1.0},
        "e": [None, 2.0],
    }


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("x", False),
        (wire.secret("x"), True),
        ({"a": [wire.secret("x")]}, True),
        ({wire.SIGNATURE: wire.OUTPUT, "value": "x", "secret": True}, True),
        ({wire.SIGNATURE: wire.OUTPUT, "value": "x"}, False),
    ],
)
def test_a_secret_is_seen_at_any_depth(value: Any, *, secret: bool) -> None:
    assert wire.is_secret(value) is secret


def test_an_output_value_without_a_value_is_unknown() -> None:
    assert wire.plain({wire.SIGNATURE: wire.OUTPUT}) == wire.UNKNOWN
    assert wire.has_unknown({"a": [wire.UNKNOWN]})
    assert not wire.has_unknown({"a": ["b"]})


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("tags", "Name"), "tags.Name"),
        (("tags", "gpuprov:id"), 'tags["gpuprov:id"]'),
        (("rules", 0, "id"), "rules[0].id"),
        (("tags", 'a"b'), 'tags["a\\"b"]'),
    ],
)
def test_paths_are_pulumis(parts: tuple[str | int, ...], text: str) -> None:
    assert wire.path(parts) == text
