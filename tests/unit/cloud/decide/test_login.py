from typing import Any

import pytest
import yaml
from cloud_builders import KEYS
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.cloud.decide.login import user_data
from gpuprov.model.diagnostic import GpuprovError


def read(text: str) -> Any:
    assert text.startswith("#cloud-config\n")
    return yaml.safe_load(text)


def test_it_names_the_host_and_lets_the_images_user_in_and_nothing_else() -> None:
    """A38: no package comes by user data, where the first boot's updater holds the lock."""
    assert read(user_data("train-a", KEYS)) == {
        "hostname": "train-a",
        "manage_etc_hosts": "localhost",
        "ssh_authorized_keys": list(KEYS),
    }


def test_a_user_of_the_spec_is_made_in_place_of_the_images() -> None:
    (user,) = read(user_data("train-a", KEYS, user="ops"))["users"]
    assert user == {
        "name": "ops",
        "sudo": ["ALL=(ALL) NOPASSWD:ALL"],
        "shell": "/bin/bash",
        "lock_passwd": True,
        "ssh_authorized_keys": list(KEYS),
    }


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1), min_size=1, max_size=5)
)
def test_any_key_comes_through_as_it_is(keys: list[str]) -> None:
    keys = [key for key in keys if key.strip()] or ["k"]
    assert read(user_data("h", keys))["ssh_authorized_keys"] == [key.strip() for key in keys]


@pytest.mark.parametrize("host", ["yes", "1e3", "0123", "null", "a.b"])
def test_a_hosts_name_stays_text(host: str) -> None:
    assert read(user_data(host, KEYS))["hostname"] == host


@pytest.mark.parametrize("key", ["", "  ", "a\nb", "a\rb"])
def test_a_key_that_is_no_line_is_refused(key: str) -> None:
    with pytest.raises(GpuprovError, match="GP-CLOUD-019"):
        user_data("h", [key])


def test_more_than_aws_takes_is_refused() -> None:
    with pytest.raises(GpuprovError, match=r"GP-SPEC-005 targets.cloud.login_keys: .* \d+ bytes"):
        user_data("h", ["ssh-rsa " + "A" * 800] * 21)
