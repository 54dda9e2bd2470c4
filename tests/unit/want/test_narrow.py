"""A want without what must be left alone: a play must not change what the plan rightly left out."""

import pytest
from host_builders import make_want

from gpuprov.want.narrow import leave_alone


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ('package["docker.io"].version', "packages"),
        ('package["docker.io"].held', "packages"),
        ('file["/etc/docker/daemon.json"].text', "files"),
        ('file["/etc/apt/sources.list.d/gpuprov-nvidia.sources"].sha256', "sources"),
        ('service["docker"].active', "services"),
        ("stack.driver.loaded", "driver"),
    ],
)
def test_just_the_named_thing_is_left_out(address: str, part: str) -> None:
    whole = make_want().pool
    narrow = leave_alone(make_want(), [address]).pool
    parts = ("packages", "files", "sources", "services", "driver")
    assert [name for name in parts if getattr(narrow, name) != getattr(whole, name)] == [part]
    before, after = getattr(whole, part), getattr(narrow, part)
    assert after is None if part == "driver" else len(after) == len(before) - 1


def test_the_digest_stays_because_the_want_is_the_same() -> None:
    assert leave_alone(make_want(), ["stack.driver.loaded", "gpu.count"]).digest == make_want().digest
