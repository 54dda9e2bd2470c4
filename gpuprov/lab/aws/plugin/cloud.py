"""The endpoint that answers AWS's API: boto3 clients per region, and errors in the provider's words."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from gpuprov.lab.aws.plugin.errors import SDK_NAMES, AwsError, ProviderError, from_client_error

_T = TypeVar("_T")
LAB_KEY = "AKIALABGPUPROV000000"
"""The lab's access key: the plugin runs outside the engine, so it does not see the person's."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0


class Cloud:
    """Clients of one endpoint."""

    def __init__(self, *, endpoint: str, region: str | None = None) -> None:
        """Remember where the API answers.

        Args:
            endpoint: URL of the API.
            region: the region where the engine's configuration names none; by default from the environment.
        """
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Any] = {}
        self.account: str | None = None
        """The number of the keys' account, once it was asked for."""
        self.default_region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""

    def client(self, service: str, region: str) -> Any:
        """Return boto3's client of a service in a region; they are safe to use from several threads."""
        with self._lock:
            if (service, region) not in self._clients:
                self._clients[service, region] = boto3.session.Session().client(
                    service,
                    region_name=region,
                    endpoint_url=self._endpoint,
                    aws_access_key_id=LAB_KEY,
                    aws_secret_access_key="lab",  # noqa: S106 (opens nothing: the endpoint is the lab's own)
                    # No retries: a fault that a test asks for is a fault that the engine sees.
                    config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}, read_timeout=900),
                )
            return self._clients[service, region]


class Call:
    """One request of the engine: its clients, its deadline, and the id of what it has made so far."""

    def __init__(self, cloud: Cloud, *, region: str, seconds: float) -> None:
        """Begin a request.

        Args:
            cloud: the endpoint.
            region: the region of the resource.
            seconds: how long to wait for a state.
        """
        self._cloud = cloud
        self.region = region
        self.seconds = seconds
        self.made: str | None = None
        """The id of the resource, from the moment that it exists: an error after that is not an error of creation."""

    def ec2(self, operation: str, **arguments: Any) -> Any:
        """Call EC2."""
        return self._call("ec2", operation, arguments)

    def iam(self, operation: str, **arguments: Any) -> Any:
        """Call IAM."""
        return self._call("iam", operation, arguments)

    def s3(self, operation: str, **arguments: Any) -> Any:
        """Call S3."""
        return self._call("s3", operation, arguments)

    def efs(self, operation: str, **arguments: Any) -> Any:
        """Call EFS."""
        return self._call("efs", operation, arguments)

    def account(self) -> str:
        """Return the account's number, which is the same for as long as the keys are."""
        if self._cloud.account is None:
            self._cloud.account = str(self._call("sts", "get_caller_identity", {})["Account"])
        return self._cloud.account

    def arn(self, service: str, resource: str, *, account: str | None = None) -> str:
        """Return the ARN of a regional resource."""
        return f"arn:aws:{service}:{self.region}:{account or self.account()}:{resource}"

    def wait(self, look: Callable[[], _T | None], *, doing: str, seconds: float | None = None) -> _T:
        """Look until there is an answer.

        Raises:
            ProviderError: there is none in time.
        """
        deadline = time.monotonic() + (self.seconds if seconds is None else seconds)
        pause = _FIRST_PAUSE
        while (found := look()) is None:
            if time.monotonic() > deadline:
                raise ProviderError(f"{doing}: timeout while waiting")
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        return found

    def retry(self, act: Callable[[], object], *, while_code: str, seconds: float) -> None:
        """Act until AWS no longer gives this error; after the last try the error is raised.

        Raises:
            AwsError: AWS refuses for another reason, or still does.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                act()
            except AwsError as error:
                if error.code != while_code or time.monotonic() > deadline:
                    raise
                time.sleep(_LONGEST_PAUSE / 2)
            else:
                return

    def _call(self, service: str, operation: str, arguments: Mapping[str, Any]) -> Any:
        """Call one operation; arguments that are None are left out."""
        client = self._cloud.client(service, self.region)
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            return getattr(client, operation)(**given)
        except ClientError as error:
            raise from_client_error(error, service) from error
        except BotoCoreError as error:
            name = client.meta.method_to_api_mapping[operation]
            raise ProviderError(
                f"operation error {SDK_NAMES[service]}: {name}, https response error StatusCode: 0, RequestID: , "
                f"request send failed, {error}"
            ) from error


def absent(look: Callable[[], _T], codes: Sequence[str]) -> _T | None:
    """Return what a call finds; None when AWS answers that it is not there.

    Raises:
        AwsError: AWS refuses for another reason.
    """
    try:
        return look()
    except AwsError as error:
        if error.code in codes:
            return None
        raise


def gone(act: Callable[[], object], codes: Sequence[str]) -> None:
    """Delete something; that it is gone already is no error.

    Raises:
        AwsError: AWS refuses for another reason.
    """
    absent(act, codes)


def tag_list(tags: Mapping[str, str] | None) -> list[dict[str, str]]:
    """Return tags as AWS takes them."""
    return [{"Key": key, "Value": value} for key, value in (tags or {}).items()]


def tag_map(tags: Sequence[Mapping[str, str]] | None) -> dict[str, str]:
    """Return tags as the provider shows them, without AWS's own."""
    return {tag["Key"]: tag["Value"] for tag in tags or () if not tag["Key"].startswith("aws:")}
