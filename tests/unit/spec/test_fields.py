"""Fields by address; every example is one that the decoder takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.document.yaml_text import parse_yaml
from gpuprov.model.address import join
from gpuprov.spec.fields import SpecField, find_field, spec_fields, split_path
from gpuprov.spec.tree import Decoder

EXAMPLES = [field for field in spec_fields() if field.about.example]


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("stack.driver.version", ("stack", "driver", "version")),
        ("stack.packages[0].name", ("stack", "packages", "0", "name")),
        ("stack.packages[*].name", ("stack", "packages", "*", "name")),
        ('files["/etc/a.b"].mode', ("files", "/etc/a.b", "mode")),
        (r'files["/a\"b\\c"]', ("files", '/a"b\\c')),
        ("a..b", ()),
        ("a[x]", ()),
        ("a.", ()),
        ("", ()),
    ],
)
def test_split_path(address: str, parts: tuple[str, ...]) -> None:
    assert split_path(address) == parts


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("os", "os"),
        ("pools.train.gpu.model", "pools.*.gpu.model"),
        ("pools.*.os", "pools.*.os"),
        ("pools.train.stack", "pools.*.stack"),
        ("pools.train.stack.driver.version", "stack.driver.version"),
        ('files["/etc/motd"].mode', "files.*.mode"),
        ("stack.packages[3].version", "stack.packages[*].version"),
        ("targets.cloud.network.open[0].port", "targets.cloud.network.open[*].port"),
        ("stack.drivr", None),
        ("pools", "pools"),
        ("pools.train.nothing", None),
        ("", None),
    ],
)
def test_find_field(address: str, found: str | None) -> None:
    field = find_field(address)
    assert (field.address if field else None) == found


@pytest.mark.parametrize("field", EXAMPLES, ids=lambda field: field.address)
def test_every_example_is_taken(field: SpecField) -> None:
    decoder = Decoder()
    decoder.decode(field.hint, parse_yaml(field.about.example, "f"), field.address, field.about)
    assert decoder.problems == []


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_what_is_joined_is_split_again(keys: list[str]) -> None:
    address = ""
    for key in ["files", *keys]:
        address = join(address, key)
    assert split_path(address) == ("files", *keys)
