"""The part of a spec that says what keeps data."""

from dataclasses import dataclass
from typing import Annotated, Final

from gpuprov.spec.about import About
from gpuprov.spec.sizes import size_in_gib

SERVER: Final = r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?"
EXPORT: Final = r"/|(/[A-Za-z0-9._@%+=~-]+)+"
"""Without blanks, commas and backslashes, which mean something else in mount units and in /proc/self/mounts."""
OPTION: Final = r"[a-z][a-z0-9_.-]*(=[A-Za-z0-9_./:@%+-]+)?"
LOCAL: Final = "local"
VOLUME: Final = "volume"
SHARED: Final = "shared"
EFS: Final = "efs"


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageSpec:
    """Something that keeps data."""

    kind: Annotated[
        str,
        About(
            "`object` is a bucket that the cloud hosts may use; `volume` is an encrypted disk on each cloud host; "
            "`local` is a disk that the hosts have already; `shared` is one file system for all hosts: NFS in the "
            "rack, a file system of AWS in the cloud, at the same place on both.",
            choices=("object", "volume", "local", "shared"),
        ),
    ]
    size: Annotated[str, About("Size of each volume; nothing else has one.", check="size", example="500GiB")] = ""
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
        str, About("Of a local disk or a mounted volume: what an empty one is formatted with.", choices=("ext4", "xfs"))
    ] = "ext4"
    mount: Annotated[
        str,
        About(
            "Where it is mounted, the same place on all hosts; a volume without it is attached and left alone. "
            "Mounting buckets is built by a later release.",
            check="path",
            example="/scratch",
        ),
    ] = ""
    server: Annotated[
        str,
        About("Of shared storage, for hosts of the rack: name or address of the NFS server.", check="nfs_server"),
    ] = ""
    export: Annotated[
        str,
        About("Of shared storage, for hosts of the rack: what the NFS server exports.", check="nfs_export"),
    ] = ""
    options: Annotated[
        tuple[str, ...],
        About(
            "Of shared storage: mount options besides gpuprov's own (`nfsvers=4.1,hard,timeo=600,retrans=2,"
            "noresvport`); one of the same name takes the place of that.",
            check="mount_option",
            example="[nfsvers=4.2, ro]",
        ),
    ] = ()
    service: Annotated[
        str,
        About(
            "Of shared storage: the service of AWS that keeps it for the cloud hosts.",
            choices=(EFS,),
            later=("fsx-lustre",),
        ),
    ] = EFS
    pools: Annotated[
        tuple[str, ...],
        About(
            "Not of volumes: pools whose hosts have it; all when left out.",
            check="name",
            example="[train]",
        ),
    ] = ()

    @property
    def size_gib(self) -> int | None:
        """Size in GiB; None for a bucket."""
        return size_in_gib(self.size)

    def serves(self, pool: str) -> bool:
        """Whether hosts of a pool have it."""
        return not self.pools or pool in self.pools
