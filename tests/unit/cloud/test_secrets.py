import threading
from pathlib import Path
from typing import Any

import pytest

from gpuprov.cloud.files import LocalFiles
from gpuprov.cloud.secrets import (
    passphrase_variables,
    provider_url,
    refuse_other_secrets,
    secrets_settings,
    secrets_variables,
)
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import GpuprovError

KEY = "awskms://alias/gpuprov"
PASSPHRASE_STATE = {"secrets_providers": {"type": "passphrase", "state": {"salt": "v1:abc"}}}
KEY_STATE = {
    "secrets_providers": {
        "type": "cloud",
        "state": {"url": f"{KEY}?region=us-east-1&awssdk=v2", "encryptedkey": "AQID"},
    }
}


def place(folder: Path, **values: Any) -> StackPlace:
    return StackPlace(name="train", folder=folder, environment={}, region="us-east-1", **values)


def test_a_passphrase_is_made_once_private_and_long(tmp_path: Path) -> None:
    first = passphrase_variables(tmp_path)
    path = tmp_path / "passphrase"
    text = path.read_text()
    assert first == {"PULUMI_CONFIG_PASSPHRASE_FILE": str(path)}
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(text) >= 32
    assert passphrase_variables(tmp_path) == first
    assert path.read_text() == text
    assert [one.name for one in tmp_path.iterdir()] == ["passphrase"]


def test_two_that_make_it_at_once_get_the_same(tmp_path: Path) -> None:
    start = threading.Barrier(8)

    def make() -> None:
        start.wait()
        passphrase_variables(tmp_path)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [one.name for one in tmp_path.iterdir()] == ["passphrase"]
    assert (tmp_path / "passphrase").stat().st_nlink == 1


@pytest.mark.parametrize("name", ["PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"])
def test_the_users_own_passphrase_counts(tmp_path: Path, name: str) -> None:
    assert secrets_variables(place(tmp_path), {name: ""}, None) == {}
    assert list(tmp_path.iterdir()) == []


def test_a_passphrase_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(GpuprovError) as error:
        passphrase_variables(tmp_path / "missing")
    assert error.value.diagnostics[0].code == "GP-DOC-007"


def test_a_passphrase_of_another_machine_is_asked_for_not_made(tmp_path: Path) -> None:
    elsewhere = place(tmp_path, bucket=LocalFiles(tmp_path / "bucket"))
    with pytest.raises(GpuprovError) as error:
        secrets_variables(elsewhere, {}, PASSPHRASE_STATE)
    assert error.value.diagnostics[0].code == "GP-CLOUD-012"
    assert not (tmp_path / "passphrase").exists()
    assert secrets_variables(elsewhere, {}, None) == secrets_variables(elsewhere, {}, PASSPHRASE_STATE)


def test_with_a_key_no_passphrase_is_made(tmp_path: Path) -> None:
    given = secrets_variables(place(tmp_path, secrets=KEY), {"PULUMI_CONFIG_PASSPHRASE": "x"}, None)
    assert given == {"PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER": "true"}
    assert list(tmp_path.iterdir()) == []


ARN = "awskms:///arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"


@pytest.mark.parametrize(
    ("secrets", "url"),
    [
        ("passphrase", None),
        (KEY, f"{KEY}?region=us-east-1&awssdk=v2"),
        (ARN, f"{ARN}?region=eu-west-1&awssdk=v2"),
    ],
)
def test_a_key_is_asked_in_its_own_region(tmp_path: Path, secrets: str, url: str | None) -> None:
    assert provider_url(place(tmp_path, secrets=secrets)) == url


SAME = [("passphrase", None), ("passphrase", {}), (KEY, None), ("passphrase", PASSPHRASE_STATE), (KEY, KEY_STATE)]


@pytest.mark.parametrize(("secrets", "deployment"), SAME)
def test_a_state_whose_secrets_are_as_the_spec_says_is_taken(tmp_path: Path, secrets: str, deployment: Any) -> None:
    refuse_other_secrets(place(tmp_path, secrets=secrets), deployment)


OTHER = [
    ("passphrase", KEY_STATE, KEY),
    (KEY, PASSPHRASE_STATE, "passphrase"),
    ("awskms://alias/other", KEY_STATE, KEY),
    ("passphrase", {"secrets_providers": {"type": "service", "state": {}}}, "service"),
]


@pytest.mark.parametrize(("secrets", "deployment", "found"), OTHER)
def test_a_state_under_something_else_is_refused(tmp_path: Path, secrets: str, deployment: Any, found: str) -> None:
    with pytest.raises(GpuprovError) as error:
        refuse_other_secrets(place(tmp_path, secrets=secrets), deployment)
    (told,) = error.value.diagnostics
    assert told.code == "GP-CLOUD-061"
    assert f"secrets: {found}`" in told.hint


def test_the_engines_settings_are_those_of_the_state() -> None:
    assert secrets_settings(None) is None
    assert secrets_settings({}) is None
    passphrase, key = secrets_settings(PASSPHRASE_STATE), secrets_settings(KEY_STATE)
    assert passphrase is not None
    assert (passphrase.encryption_salt, passphrase.encrypted_key, passphrase.secrets_provider) == ("v1:abc", None, None)
    assert key is not None
    assert (key.encryption_salt, key.encrypted_key) == (None, "AQID")
    assert key.secrets_provider == f"{KEY}?region=us-east-1&awssdk=v2"
