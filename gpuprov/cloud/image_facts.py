"""What EC2 says of an image now, and in what that differs from its record."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gpuprov.cloud.images_aws import ARCHITECTURES, as_image, describe
from gpuprov.cloud.types import Image

_AT_ONCE: Final = 100
"""Values in one filter; AWS allows 200."""
_READY: Final = "available"
_WHOLE: Final = "completed"
_RECORDED: Final = ("name", "pool", "os", "arch", "baked", "base", "made", "snapshots")
"""What the list beside the spec and the image's tags both hold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFacts:
    """An image as EC2 shows it."""

    image: Image
    """By its tags."""
    state: str
    """EC2's word: `available` when hosts can be started from it."""
    architecture: str
    """EC2's word: `x86_64` or `arm64`."""
    public: bool
    """Whether everybody may start hosts from it, and so read what it holds."""
    snapshots: Mapping[str, str]
    """Snapshot -> EC2's state of it; one that is gone is left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedImage:
    """An image, and what was found of it."""

    image: Image
    problems: tuple[str, ...]
    """In what it is not what its record says; empty when it is."""
    current: bool
    """Whether new hosts of its pool start from it, because it holds what the lock holds now."""
    booted: bool = False
    """Whether a host that was started from it held the baked part, just now."""


def image_facts(ec2: Any, spec_name: str, region: str) -> tuple[ImageFacts, ...]:
    """All images of a spec in an account and region; see `Account.image_facts`."""
    rows = describe(ec2, Owners=["self"], Filters=[{"Name": "tag:gpuprov:spec", "Values": [spec_name]}])
    images = [(row, as_image(row, region)) for row in rows]
    states = _snapshot_states(ec2, [snapshot for _, image in images for snapshot in image.snapshots])
    return tuple(
        ImageFacts(
            image=image,
            state=str(row.get("State", "")),
            architecture=str(row.get("Architecture", "")),
            public=bool(row.get("Public")),
            snapshots={name: states[name] for name in image.snapshots if name in states},
        )
        for row, image in images
        if image.pool
    )


def differences(record: Image | None, facts: ImageFacts | None) -> tuple[str, ...]:
    """In what an image is not what its record says, in words; empty when it is.

    Args:
        record: its row in the list beside the spec; None when it has none.
        facts: what EC2 says; None when the account has no such image.
    """
    if facts is None:
        return ("the account has no such image",)
    return (*_of_ec2(facts), *(_of_record(record, facts) if record is not None else ()))


def _of_ec2(facts: ImageFacts) -> Iterator[str]:
    image = facts.image
    if facts.state != _READY:
        yield f"EC2 says it is {facts.state or 'in no state'}, so that no host can start from it"
    if facts.architecture != ARCHITECTURES.get(image.arch):
        yield f"its tag says {image.arch or 'no architecture'}, EC2 says {facts.architecture or 'none'}"
    if facts.public:
        yield "everybody may start hosts from it, and read what it holds"
    if not image.snapshots:
        yield "it has no snapshot"
    states = {snapshot: facts.snapshots.get(snapshot, "gone") for snapshot in image.snapshots}
    yield from (f"its snapshot {name} is {state}" for name, state in states.items() if state != _WHOLE)


def _of_record(record: Image, facts: ImageFacts) -> Iterator[str]:
    for name in _RECORDED:
        before, now = getattr(record, name), getattr(facts.image, name)
        if before != now:
            yield f"{name}: the list says {_words(before)}, its tags say {_words(now)}"
    if record.checked and not facts.image.checked and facts.state == _READY:
        yield "the list says that it was checked, its tags do not"


def _words(value: str | Sequence[str]) -> str:
    return (value if isinstance(value, str) else ", ".join(value)) or "nothing"


def _snapshot_states(ec2: Any, ids: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for start in range(0, len(ids), _AT_ONCE):
        # A filter, not SnapshotIds: with these one that is gone fails the whole request.
        asked = [{"Name": "snapshot-id", "Values": list(ids[start : start + _AT_ONCE])}]
        for page in ec2.get_paginator("describe_snapshots").paginate(OwnerIds=["self"], Filters=asked):
            found |= {row["SnapshotId"]: str(row.get("State", "")) for row in page["Snapshots"]}
    return found
