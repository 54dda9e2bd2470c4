"""The part of a spec that says what keeps data."""

from dataclasses import dataclass
from typing import Annotated

from gpuprov.spec.about import About
from gpuprov.spec.sizes import size_in_gib


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageSpec:
    """Something that keeps data."""

    kind: Annotated[
        str,
        About(
            "`object` is a bucket that the cloud hosts may use; `volume` is an encrypted disk on each cloud host; "
            "`local` is a disk that the hosts have already, which is mounted.",
            choices=("object", "volume", "local"),
            later=("shared",),
        ),
    ]
    size: Annotated[str, About("Size of each volume; not for buckets.", check="size", example="500GiB")] = ""
    prefixes: Annotated[
        tuple[str, ...],
        About("Parts of the bucket that hosts may use; all when left out.", check="prefix", example="[runs/]"),
    ] = ()
    write: Annotated[bool, About("Whether hosts may write to the bucket.")] = True
    device: Annotated[
        str,
        About(
            "Of a local disk: its path, best one below /dev/disk/by-id; it must hold the file system, or nothing at "
            "all, and is formatted then. Anything else is never touched.",
            check="path",
            example="/dev/disk/by-id/nvme-Samsung_S1",
        ),
    ] = ""
    filesystem: Annotated[
        str, About("Of a local disk: what an empty one is formatted with.", choices=("ext4", "xfs"))
    ] = "ext4"
    mount: Annotated[
        str,
        About(
            "Where a local disk is mounted; mounting buckets and volumes is built by a later release.",
            check="path",
            example="/scratch",
        ),
    ] = ""
    pools: Annotated[
        tuple[str, ...],
        About("Of a local disk: pools whose hosts have it; all when left out.", check="name", example="[train]"),
    ] = ()

    @property
    def size_gib(self) -> int | None:
        """Size in GiB; None for a bucket."""
        return size_in_gib(self.size)
