"""A real AWS account, asked past gpuprov: what it holds, and a last resort for what must not go on costing."""

import time

import boto3

from tests.e2e.account import Account

_PATIENCE = 600.0
"""Seconds: EC2 lists volumes, interfaces and rules for a while after they are gone."""


class LiveAccount(Account):
    """The account that a profile leads to.

    Args:
        profile: of the AWS configuration.
        region: the only one that is looked at; IAM and S3 are looked at whole.
    """

    def __init__(self, profile: str, region: str) -> None:
        self._session = boto3.Session(profile_name=profile, region_name=region)
        self._endpoint = None

    def instances_of(self, spec: str) -> dict[str, str]:
        """Id -> name tag of a spec's instances that are not gone; those of its image builders too."""
        found = {}
        for identity, instance in self.instances().items():
            tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())}
            if tags.get("gpuprov:spec") == spec:
                found[identity] = tags.get("Name", "")
        return found

    def settle(self, before: frozenset[str], *, seconds: float = _PATIENCE) -> frozenset[str]:
        """Wait until the account holds what it held before; returns how it differs after that time."""
        deadline = time.monotonic() + seconds
        while (differing := self.listing() ^ before) and time.monotonic() < deadline:
            time.sleep(5)
        return differing

    def terminate(self, spec: str) -> tuple[str, ...]:
        """End a spec's instances by tag, whatever gpuprov's state says: they cost most. Returns their ids."""
        ids = tuple(self.instances_of(spec))
        if ids:
            self.client("ec2").terminate_instances(InstanceIds=list(ids))
        return ids
