import inspect
import re

import pytest
from aws_modules import load_modules
from pulumi.runtime.rpc import UNKNOWN as PULUMIS_UNKNOWN

from gpuprov.cloud.decide.natural_keys import NATURAL_KEYS, UNKNOWN, recovery_key

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def inputs_of(token: str) -> set[str]:
    """Names of a type's inputs, as Python spells them."""
    _, place, name = token.split(":")
    resource = getattr(load_modules()[place.partition("/")[0]], name)
    return set(inspect.signature(resource._internal_init).parameters)


@pytest.mark.parametrize("token", NATURAL_KEYS)
def test_a_key_stands_on_inputs_that_the_type_has_and_tags_are_none_of_them(token: str) -> None:
    names = inputs_of(token)
    fields = {part.partition("}")[0] for part in NATURAL_KEYS[token].split("{")[1:]}
    fields = {re.sub("([A-Z])", lambda found: "_" + found[1].lower(), field) for field in fields}
    assert fields
    assert fields <= names
    assert "tags" not in names


def test_what_takes_tags_is_found_by_its_id() -> None:
    assert recovery_key("aws:ec2/vpc:Vpc", {"tags": {"gpuprov:id": "train/vpc/main"}}) == "train/vpc/main"
    assert recovery_key("aws:ec2/vpc:Vpc", {"tags": {"Name": "x"}}) is None
    assert recovery_key("aws:ec2/vpc:Vpc", {}) is None


def test_what_takes_none_is_found_by_what_it_joins() -> None:
    attachment = {"deviceName": "/dev/sdf", "volumeId": "vol-1", "instanceId": "i-1", "skipDestroy": True}
    token = "aws:ec2/volumeAttachment:VolumeAttachment"
    assert recovery_key(token, attachment) == "/dev/sdf:vol-1:i-1"
    assert recovery_key(token, attachment | {"instanceId": None}) is None
    assert recovery_key(token, {}) is None


def test_the_word_for_unknown_is_pulumis() -> None:
    assert UNKNOWN == PULUMIS_UNKNOWN


def test_an_input_that_was_not_known_yet_finds_nothing() -> None:
    assert recovery_key("aws:ec2/route:Route", {"routeTableId": UNKNOWN, "destinationCidrBlock": "0.0.0.0/0"}) is None
