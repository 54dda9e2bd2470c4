"""What every handler does, and what EC2's handlers share."""

from collections.abc import Mapping
from typing import Any, Protocol

from gpuprov.lab.aws.plugin.cloud import Call, tag_list

Values = dict[str, Any]
Known = Mapping[str, Any]

DEPENDENCY_SECONDS = 30.0
"""How long a deletion waits for what still depends on the thing; the real provider waits 5 to 20 minutes."""


class Handler(Protocol):
    """The calls of one resource type."""

    noun: str
    """What the real provider calls it in its errors, for example "EC2 VPC"."""

    def create(self, call: Call, inputs: Known) -> None:
        """Make it; `call.made` gets its id at the moment when it exists.

        Raises:
            AwsError: AWS refuses.
            ProviderError: it does not reach its state.
        """

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """Return its outputs as they are now; None when it is gone.

        Args:
            call: the request.
            identity: its id.
            known: what the state holds of it; only to find it, or to keep a text that means the same.
        """

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Change what differs between two sets of inputs.

        Raises:
            AwsError: AWS refuses.
            ProviderError: it does not reach its state.
        """

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """Remove it; that it is gone already is no error.

        Raises:
            AwsError: AWS refuses.
            ProviderError: it does not go.
        """


def changed(name: str, olds: Known, news: Known) -> bool:
    """Whether one input differs."""
    return bool(olds.get(name) != news.get(name))


def tag_specification(kind: str, tags: Mapping[str, str] | None) -> list[Values] | None:
    """Return tags as a Create call of EC2 takes them, so that they are there from the first moment."""
    return [{"ResourceType": kind, "Tags": tag_list(tags)}] if tags else None


def update_ec2_tags(call: Call, identity: str, old: Mapping[str, str] | None, new: Mapping[str, str] | None) -> None:
    """Remove and set the tags that differ."""
    before, after = dict(old or {}), dict(new or {})
    if dropped := [{"Key": key} for key in before.keys() - after.keys()]:
        call.ec2("delete_tags", Resources=[identity], Tags=dropped)
    if added := {key: value for key, value in after.items() if before.get(key) != value}:
        call.ec2("create_tags", Resources=[identity], Tags=tag_list(added))


def tag_outputs(tags: Mapping[str, str]) -> Values:
    """Return the outputs that show tags."""
    return {"tags": dict(tags), "tagsAll": dict(tags)}
