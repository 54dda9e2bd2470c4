"""What already stands in a stack's state, as far as it binds later decisions: it must not be decided anew."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from gpuprov.cloud.decide.market import Bought, bought_of
from gpuprov.cloud.decide.tags import Tags


@dataclass(frozen=True, kw_only=True, slots=True)
class StandingHost:
    """An instance that the state holds."""

    zone: str
    type: str
    root_gib: int
    bought: Bought = field(default_factory=Bought)
    profile: str = ""
    """Name of its instance profile; empty for none."""
    placement: str = ""
    """Name of its placement group; empty for none."""
    template: str = ""
    """Name of the launch template that it was made from; empty for none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StandingVolume:
    """A data volume that the state holds, attached or not."""

    zone: str
    size_gib: int
    iops: int
    throughput: int
    device: str | None
    """Device name of its attachment; None when it is attached to nothing."""
    tags: Tags


@dataclass(frozen=True, kw_only=True, slots=True)
class StandingBucket:
    """A bucket that the state holds."""

    bucket: str
    """Its name in S3."""
    tags: Tags


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """What a new document must keep: zones, device names and bucket names are for life."""

    hosts: Mapping[str, StandingHost] = field(default_factory=dict)
    volumes: Mapping[str, StandingVolume] = field(default_factory=dict)
    """`STORAGE/HOST` -> volume."""
    buckets: Mapping[str, StandingBucket] = field(default_factory=dict)
    """Storage name -> bucket."""
    shares: Mapping[str, Tags] = field(default_factory=dict)
    """Storage name -> tags of its file system."""
    role: bool = False
    """Whether the hosts have a role."""

    def without(self, names: Collection[str]) -> "Standing":
        """What still binds when hosts and volumes of these names are made anew; a storage names all its volumes."""
        return replace(
            self,
            hosts={name: host for name, host in self.hosts.items() if name not in names},
            volumes={name: volume for name, volume in self.volumes.items() if not is_named(name, names)},
        )


def is_named(volume: str, names: Collection[str]) -> bool:
    """Whether a volume (`STORAGE/HOST`) is among the names, by its own or by its storage's."""
    return volume in names or volume.partition("/")[0] in names


def standing_of(resources: Mapping[str, Mapping[str, object]]) -> Standing:
    """Read what stands from a state.

    Args:
        resources: address (`volume.scratch/train-a`) -> the resource's inputs as the state holds them.
    """
    hosts: dict[str, StandingHost] = {}
    volumes: dict[str, StandingVolume] = {}
    buckets: dict[str, StandingBucket] = {}
    shares: dict[str, Tags] = {}
    for address, inputs in resources.items():
        kind, _, name = address.partition(".")
        if kind == "instance":
            root = inputs.get("rootBlockDevice")
            hosts[name] = StandingHost(
                zone=_text(inputs, "availabilityZone"),
                type=_text(inputs, "instanceType"),
                root_gib=_number(root, "volumeSize") if isinstance(root, Mapping) else 0,
                profile=_text(inputs, "iamInstanceProfile"),
                placement=_text(inputs, "placementGroup"),
                template=_member(inputs, "launchTemplate", "name"),
                bought=bought_of(inputs),
            )
        elif kind == "volume":
            attachment = resources.get(f"volume_attachment.{name}", {})
            volumes[name] = StandingVolume(
                zone=_text(inputs, "availabilityZone"),
                size_gib=_number(inputs, "size"),
                iops=_number(inputs, "iops"),
                throughput=_number(inputs, "throughput"),
                device=_text(attachment, "deviceName") or None,
                tags=_tags(inputs),
            )
        elif kind == "bucket":
            buckets[name] = StandingBucket(bucket=_text(inputs, "bucket"), tags=_tags(inputs))
        elif kind == "share":
            shares[name] = _tags(inputs)
    return Standing(hosts=hosts, volumes=volumes, buckets=buckets, shares=shares, role="role.main" in resources)


def _text(inputs: Mapping[str, object], key: str) -> str:
    value = inputs.get(key)
    return value if isinstance(value, str) else ""


def _member(inputs: Mapping[str, object], key: str, member: str) -> str:
    value = inputs.get(key)
    return _text(value, member) if isinstance(value, Mapping) else ""


def _number(inputs: Mapping[str, object], key: str) -> int:
    # Pulumi's states hold every number as a float.
    value = inputs.get(key)
    return int(value) if isinstance(value, int | float) else 0


def _tags(inputs: Mapping[str, object]) -> Tags:
    value = inputs.get("tags")
    return {str(key): str(text) for key, text in value.items()} if isinstance(value, Mapping) else {}
