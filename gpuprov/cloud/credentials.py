"""Credentials for AWS, from where users keep them: boto3's own chain, a profile, SSO, and a role on top of these."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import boto3
import botocore.session
from botocore.config import Config
from botocore.credentials import (
    AssumeRoleCredentialFetcher,
    CredentialProvider,
    CredentialResolver,
    DeferredRefreshableCredentials,
)

from gpuprov.cloud.aws_errors import translated
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.cloud import CloudSpec

CONFIG: Final = Config(
    connect_timeout=10,
    read_timeout=60,
    retries={"mode": "standard", "total_max_attempts": 5},
    user_agent_appid="gpuprov",
)
"""Seconds, and tries: so that a call ends within minutes whatever the network does."""

_SESSION_NAME: Final = "gpuprov"


class _RoleProvider(CredentialProvider):  # type: ignore[misc] # botocore has no types
    """Gives the credentials of a role, renewed before they expire."""

    METHOD = "assume-role"
    CANONICAL_NAME = "gpuprov-assume-role"

    def __init__(self, source: Any, role: str) -> None:
        super().__init__()
        self._fetcher = AssumeRoleCredentialFetcher(
            source.create_client, source.get_credentials(), role, extra_args={"RoleSessionName": _SESSION_NAME}
        )

    def load(self) -> Any:
        return DeferredRefreshableCredentials(self._fetcher.fetch_credentials, self.METHOD)


def open_session(cloud: CloudSpec) -> boto3.Session:
    """A session of boto3 with the spec's profile, role and region.

    The spec's profile wins over keys of the environment, as with `aws --profile`.

    Raises:
        GpuprovError: GP-CLOUD-003 (no credentials), GP-CLOUD-006 (no such region).
    """
    with translated("targets.cloud.profile" if cloud.profile else "targets.cloud"):
        source = botocore.session.Session(profile=cloud.profile)
        source.set_config_variable("region", cloud.region)
        _refuse_region(source, cloud.region)
        if source.get_credentials() is None:
            raise botocore.exceptions.NoCredentialsError
        if cloud.assume_role is None:
            return boto3.Session(botocore_session=source)
        with_role = botocore.session.Session(profile=cloud.profile)
        with_role.set_config_variable("region", cloud.region)
        with_role.register_component(
            "credential_provider", CredentialResolver([_RoleProvider(source, cloud.assume_role)])
        )
        return boto3.Session(botocore_session=with_role)


class FreshEnvironment(Mapping[str, str]):
    """Variables that are looked up anew whenever somebody goes through them: a role's keys end after an hour.

    Args:
        look: gives them; they are not shown when the object is printed.
    """

    def __init__(self, look: Callable[[], Mapping[str, str]]) -> None:
        self._look = look
        self._now: Mapping[str, str] = {}

    def __iter__(self) -> Iterator[str]:
        self._now = self._look()
        return iter(self._now)

    def __getitem__(self, name: str) -> str:
        # Those of the last round: keys that belong together must not be mixed with newer ones.
        self._now = self._now or self._look()
        return self._now[name]

    def __len__(self) -> int:
        return len(self._look())


def engine_environment(session: boto3.Session, cloud: CloudSpec) -> Mapping[str, str]:
    """What another AWS client needs in its environment, besides this process's own, to be the same caller.

    Keys are handed on only where the environment alone would not lead there: a profile or a role of the spec.

    Raises:
        GpuprovError: GP-CLOUD-004 when a login has expired.
    """
    found = {"AWS_REGION": cloud.region, "AWS_DEFAULT_REGION": cloud.region}
    if cloud.profile is None and cloud.assume_role is None:
        return found
    with translated("targets.cloud.assume_role" if cloud.assume_role else "targets.cloud", profile=cloud.profile):
        keys = session.get_credentials().get_frozen_credentials()
    found |= {"AWS_ACCESS_KEY_ID": keys.access_key, "AWS_SECRET_ACCESS_KEY": keys.secret_key}
    # An empty token takes the place of one that belongs to other keys of the environment.
    return found | {"AWS_SESSION_TOKEN": keys.token or ""}


def _refuse_region(session: Any, region: str) -> None:
    """Refuse a name that has not even the form of a region; whether it is enabled, AWS says."""
    try:
        session.get_partition_for_region(region)
    except botocore.exceptions.UnknownRegionError as error:
        regions = [name for part in session.get_available_partitions() for name in _regions(session, part)]
        near = difflib.get_close_matches(region, regions, n=3)
        raise GpuprovError(
            Diagnostic(
                code="GP-CLOUD-006",
                address="targets.cloud.region",
                summary=f"`{region}` is no region of AWS",
                hint=f"did you mean {' or '.join(near)}?" if near else "`aws ec2 describe-regions` lists them",
            )
        ) from error


def is_listed(session: boto3.Session, region: str) -> bool:
    """Whether boto3's own list of regions, as old as its release, holds a region."""
    return any(region in session.get_available_regions("ec2", part) for part in session.get_available_partitions())


def _regions(session: Any, partition: str) -> list[str]:
    return list(session.get_available_regions("ec2", partition))
