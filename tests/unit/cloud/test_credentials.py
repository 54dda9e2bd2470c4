"""Where credentials come from, with the files that users have."""

from pathlib import Path
from typing import Any

import pytest

from gpuprov.cloud.credentials import FreshEnvironment, engine_environment, is_listed, open_session
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

ROLE = "arn:aws:iam::222233334444:role/ops"


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An AWS configuration with a profile of keys and one of an SSO session that was never begun."""
    (tmp_path / "config").write_text(
        "[profile train]\nregion = eu-west-1\n"
        "[profile sso]\nsso_session = corp\nsso_account_id = 111122223333\nsso_role_name = ops\n"
        "[sso-session corp]\nsso_region = us-east-1\nsso_start_url = https://corp.example/start\n"
    )
    (tmp_path / "credentials").write_text("[train]\naws_access_key_id = AKIATRAIN\naws_secret_access_key = train\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


def refusal(cloud: Any, **values: Any) -> Any:
    with pytest.raises(GpuprovError) as caught:
        engine_environment(open_session(cloud(**values)), cloud(**values))
    return caught.value.diagnostics[0]


def test_keys_of_the_environment_stay_there(aws: str, cloud: Any) -> None:
    assert engine_environment(open_session(cloud()), cloud()) == {
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
    }


@pytest.mark.usefixtures("aws", "profiles")
def test_a_profile_of_the_spec_wins_over_the_environment_and_keeps_the_spec_s_region(cloud: Any) -> None:
    found = engine_environment(open_session(cloud(profile="train")), cloud(profile="train"))
    assert found == {
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "AKIATRAIN",
        "AWS_SECRET_ACCESS_KEY": "train",
        "AWS_SESSION_TOKEN": "",
    }


@pytest.mark.usefixtures("aws")
def test_a_role_is_assumed_with_the_caller_s_keys(cloud: Any) -> None:
    session = open_session(cloud(assume_role=ROLE))
    assert session.client("sts").get_caller_identity()["Arn"] == "arn:aws:sts::222233334444:assumed-role/ops/gpuprov"
    found = engine_environment(session, cloud(assume_role=ROLE))
    assert found["AWS_ACCESS_KEY_ID"].startswith("ASIA")
    assert found["AWS_SESSION_TOKEN"]


@pytest.mark.usefixtures("aws", "profiles")
def test_an_sso_session_that_was_never_begun(cloud: Any) -> None:
    found = refusal(cloud, profile="sso")
    assert found.code == "GP-CLOUD-004"
    assert "`aws sso login --profile sso`" in found.hint


@pytest.mark.usefixtures("aws", "profiles")
def test_a_profile_that_is_not_there(cloud: Any) -> None:
    found = refusal(cloud, profile="trane")
    assert (found.code, found.address) == ("GP-CLOUD-003", "targets.cloud.profile")
    assert "trane" in found.detail


def test_no_credentials_names_the_ways_to_give_them(monkeypatch: pytest.MonkeyPatch, cloud: Any) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    found = refusal(cloud)
    assert found.code == "GP-CLOUD-003"
    assert all(way in found.hint for way in ("profile", "aws sso login", "AWS_ACCESS_KEY_ID", "role of the instance"))


def test_half_a_key(monkeypatch: pytest.MonkeyPatch, cloud: Any) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA")
    assert refusal(cloud).code == "GP-CLOUD-003"


@pytest.mark.usefixtures("aws")
def test_no_form_of_a_region(cloud: Any) -> None:
    found = refusal(cloud, region="us_east_1")
    assert (found.code, found.address) == ("GP-CLOUD-006", "targets.cloud.region")
    assert "us-east-1" in found.hint


@pytest.mark.usefixtures("aws")
def test_boto3_s_own_list_of_regions(cloud: Any) -> None:
    session = open_session(cloud())
    assert is_listed(session, "us-east-1")
    assert is_listed(session, "us-gov-west-1")
    assert not is_listed(session, "us-east-9")


def test_keys_are_looked_up_at_each_use_and_never_mixed_or_shown() -> None:
    pairs = iter([{"KEY": "one", "TOKEN": "first"}, {"KEY": "two", "TOKEN": "second"}])
    environment = FreshEnvironment(lambda: next(pairs))
    assert {**environment} == {"KEY": "one", "TOKEN": "first"}
    assert environment["KEY"] == "one"
    assert {"OTHER": "x", **environment} == {"OTHER": "x", "KEY": "two", "TOKEN": "second"}
    assert "two" not in repr(environment)
