import os
import socket
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gpuprov.cloud import account as module
from gpuprov.cloud.account import Account, open_account
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def refusal(cloud: Any, **values: Any) -> Any:
    with pytest.raises(GpuprovError) as caught:
        open_account(cloud(**values), os.environ)
    return caught.value.diagnostics[0]


def test_the_caller_is_known(account: Account) -> None:
    assert (account.number, account.region) == ("123456789012", "us-east-1")
    assert account.arn.startswith("arn:aws:")


@pytest.mark.usefixtures("aws")
def test_another_account_is_refused_before_anything_is_asked_of_it(cloud: Any) -> None:
    found = refusal(cloud, account="111122223333")
    assert (found.code, found.address) == ("GP-CLOUD-005", "targets.cloud.account")
    assert "123456789012" in found.summary
    assert "111122223333" in found.summary


@pytest.mark.usefixtures("aws")
def test_the_account_of_the_assumed_role_counts(cloud: Any) -> None:
    role = "arn:aws:iam::222233334444:role/ops"
    found = open_account(cloud(account="222233334444", assume_role=role), os.environ)
    assert found.number == "222233334444"
    assert found.environment["AWS_SESSION_TOKEN"]
    assert refusal(cloud, assume_role=role).code == "GP-CLOUD-005"


@pytest.mark.usefixtures("aws")
def test_a_region_that_aws_does_not_know(cloud: Any) -> None:
    found = refusal(cloud, region="us-east-9")
    assert (found.code, found.address) == ("GP-CLOUD-006", "targets.cloud.region")


@pytest.mark.usefixtures("aws")
def test_a_region_that_is_not_enabled_refuses_good_keys(monkeypatch: pytest.MonkeyPatch, cloud: Any) -> None:
    """An opt-in region answers with InvalidClientTokenId until it is enabled (AWS STS guide, regions, 2026-11)."""
    original = module._client

    def client(session: Any, service: str, region: str) -> Any:
        made = original(session, service, region)
        if service == "sts" and region == "eu-south-1":

            def refuse(**_: Any) -> None:
                error = {"Error": {"Code": "InvalidClientTokenId", "Message": "The security token is invalid."}}
                raise ClientError(error, "GetCallerIdentity")

            made.meta.events.register("before-call.sts.GetCallerIdentity", refuse)
        return made

    monkeypatch.setattr(module, "_client", client)
    found = refusal(cloud, region="eu-south-1")
    assert found.code == "GP-CLOUD-006"
    assert "accepted in us-east-1" in found.detail


@pytest.mark.usefixtures("aws")
def test_nothing_answers(monkeypatch: pytest.MonkeyPatch, cloud: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free.getsockname()[1]}")
    monkeypatch.setattr(module, "CONFIG", module.CONFIG.merge(_once()))
    assert refusal(cloud).code == "GP-CLOUD-025"


@pytest.mark.usefixtures("aws")
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, cloud: Any) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nonsense")
    found = refusal(cloud)
    assert (found.code, found.address) == ("GP-CLOUD-025", "nonsense")


def _once() -> Any:
    from botocore.config import Config  # noqa: PLC0415

    return Config(retries={"mode": "standard", "total_max_attempts": 1})
