"""Mounted file systems, what boots with them, and the disks below."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, lines_of_files, unknown

MOUNT_GIVES = (
    "mount[*].type",
    "mount[*].source",
    "mount[*].options",
    "mount[*].fstab",
    "mount[*].bytes",
    "mount[*].free",
)
DISK_GIVES = ("disk[*].bytes", "disk[*].model", "disk[*].serial", "disk[*].volume", "disk[*].mounts", "disk[*].content")

# `df -l` asks local file systems alone: a server that is gone would let any other question wait for ever.
_MOUNTS = r"""
[ ! -e /etc/fstab ] || [ -r /etc/fstab ] || { echo '/etc/fstab: Permission denied' >&2; exit 1; }
grep -s -H '' /proc/self/mounts /etc/fstab
echo 'df '
df -P -k -l 2>/dev/null
echo end
"""
_KERNELS_OWN = frozenset(
    {
        "autofs",
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devpts",
        "devtmpfs",
        "efivarfs",
        "fuse.gvfsd-fuse",
        "fuse.lxcfs",
        "fuse.portal",
        "fusectl",
        "hugetlbfs",
        "mqueue",
        "nfsd",
        "nsfs",
        "overlay",
        "proc",
        "pstore",
        "ramfs",
        "rpc_pipefs",
        "securityfs",
        "selinuxfs",
        "squashfs",
        "sysfs",
        "tmpfs",
        "tracefs",
    }
)
_OF_CONTAINERS = re.compile(r"/(?:proc|sys|dev|run|snap|var/lib/(?:docker|containerd|containers|kubelet))(?:/.*)?")
_KEPT = {"/": frozenset({"overlay", "tmpfs"}), "/dev/shm": frozenset({"tmpfs"}), "/tmp": frozenset({"tmpfs"})}  # noqa: S108
"""Kernel's own types that matter at these places: a root in memory, and the shared memory of data loaders."""
_ESCAPE = re.compile(r"\\([0-3][0-7]{2})")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """One line of fstab(5)'s form."""

    source: str
    place: str
    kind: str
    options: str


def _row(line: str) -> _Row | None:
    match line.split():
        case [source, place, kind, options, *_]:
            return _Row(source=_plain(source), place=_plain(place), kind=kind, options=options)
        case _:
            return None


def parse_mounts(output: CollectorOutput, recording: Recording) -> Found:
    """One member for each mount that holds data; what the kernel and containers mount for themselves is left out."""
    if not ended(output):
        return unknown(MOUNT_GIVES, failure(output, recording, "reading mounts").reason)
    files, _, sizes_text = output.stdout.partition("\ndf \n")
    by_file = lines_of_files(files)
    mounts = [_row(line) for line in by_file.get("/proc/self/mounts", [])]
    if not mounts or None in mounts:
        return unknown(MOUNT_GIVES, "/proc/self/mounts has an unknown form")
    rows = [_row(line) for line in by_file.get("/etc/fstab", []) if not line.lstrip().startswith("#")]
    boots = {row.place for row in rows if row is not None}
    sizes = _sizes(sizes_text.split("\n"))
    found: Found = {"mount[*]": Absent()}
    for row in mounts:
        if row is None or not _holds_data(row.place, row.kind):
            continue
        total, free = sizes.get(row.place, (Unknown("df does not tell"), Unknown("df does not tell")))
        leaves: dict[str, Observation] = {
            "type": Known(row.kind),
            "source": Known(row.source),
            "options": Known([*sorted(set(row.options.split(",")))]),
            "fstab": Known(row.place in boots),
            "bytes": total,
            "free": free,
        }
        # The last mount of a place covers those before it.
        found |= {member_address("mount", row.place, leaf): value for leaf, value in leaves.items()}
    return found


def _holds_data(place: str, kind: str) -> bool:
    if kind in _KEPT.get(place, ()):
        return True
    return kind not in _KERNELS_OWN and not _OF_CONTAINERS.fullmatch(place)


def _plain(text: str) -> str:
    """A field of fstab(5) without its octal escapes."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), text)


def _sizes(lines: list[str]) -> dict[str, tuple[Observation, Observation]]:
    sizes: dict[str, tuple[Observation, Observation]] = {}
    for line in lines:
        found = re.fullmatch(r".*?\s(\d{1,15})\s+\d+\s+(-?\d{1,15})\s+\d+%\s+(/.*)", line)
        if found is not None:
            sizes[found[3]] = (Known(int(found[1]) * 1024), Known(int(found[2]) * 1024))
    return sizes


# udev's own database says what a disk or a partition holds; blkid would read the disk itself, and only as root.
_DISKS = r"""
[ -d /sys/block ] || { echo 'no /sys/block here' >&2; exit 1; }
cd /sys/block || exit 1
s= u=
for d in *; do
  case $d in loop*|ram*|zram*|sr*|fd*|dm-*|'*') continue ;; esac
  [ -e "$d/size" ] || continue
  s="$s /sys/block/$d/size /sys/block/$d/device/model /sys/block/$d/device/serial /sys/block/$d/serial"
  for p in "$d" "$d"/"$d"*; do
    [ -e "$p/dev" ] || continue
    read -r n <"$p/dev"
    printf 'part %s %s %s\n' "$d" "${p##*/}" "$n"
    u="$u /run/udev/data/b$n"
  done
done
[ -z "$s" ] || grep -s -H '' $s
if [ -d /run/udev/data ]; then echo 'udev '; [ -z "$u" ] || grep -s -H -E '^E:ID_FS_TYPE=' $u; fi
set -- /dev/disk/by-id/nvme-Amazon*
[ ! -e "$1" ] || ls -l "$@" || exit 1
echo end
"""
_CONTENT = re.compile(r"^/run/udev/data/b(\d+:\d+):E:ID_FS_TYPE=(\S+)$", re.MULTILINE)
_EBS = re.compile(r"vol-?([0-9a-f]+)")


def parse_disks(output: CollectorOutput, recording: Recording) -> Found:
    """One member for each disk, by the kernel's name; the serial number tells which it is (A40).

    `volume` is the EBS volume's id: EC2 gives it as the serial number, without the dash.
    """
    if not ended(output):
        return unknown(DISK_GIVES, failure(output, recording, "looking at disks").reason)
    parts: dict[str, dict[str, str]] = {}
    ids: dict[str, str] = {}
    for line in output.stdout.split("\n"):
        match line.split():
            case ["part", disk, part, number]:
                parts.setdefault(disk, {})[part] = number
            case [*_, identity, "->", device]:
                ids[device.rpartition("/")[2]] = identity
    contents = dict(_CONTENT.findall(output.stdout))
    udev = "\nudev \n" in f"\n{output.stdout}"
    files = lines_of_files(output.stdout)
    found: Found = {"disk[*]": Absent()}
    for disk, own in sorted(parts.items()):
        serial = _field(files, disk, "device/serial") or _field(files, disk, "serial")
        size = _field(files, disk, "size")
        leaves: dict[str, Observation] = {
            "bytes": Known(int(size) * 512) if re.fullmatch(r"\d{1,18}", size) else Unknown("/sys tells no size"),
            "model": _known(_field(files, disk, "device/model")),
            "serial": _known(serial),
            "volume": _volume(serial, ids.get(disk, "")),
            "mounts": _mounted(own, recording),
            "content": Known([*sorted({contents[n] for n in own.values() if n in contents})])
            if udev
            else Unknown("the host has no udev to ask"),
        }
        found |= {member_address("disk", disk, leaf): value for leaf, value in leaves.items()}
    return found


def _mounted(parts: Collection[str], recording: Recording) -> Observation:
    """Where a disk or its partitions are mounted, from what the collector `mounts` printed."""
    seen = recording.collectors.get("mounts")
    if seen is None or not ended(seen):
        return Unknown("the mounts could not be read")
    rows = [_row(line) for line in lines_of_files(seen.stdout).get("/proc/self/mounts", [])]
    return Known([*sorted({row.place for row in rows if row and row.source.removeprefix("/dev/") in parts})])


def _field(files: dict[str, list[str]], disk: str, name: str) -> str:
    return files.get(f"/sys/block/{disk}/{name}", [""])[0].strip()


def _known(text: str) -> Observation:
    return Known(text) if text else Absent()


def _volume(serial: str, identity: str) -> Observation:
    found = _EBS.fullmatch(serial) or re.search(r"_vol-?([0-9a-f]+)(?:_\d+)?$", identity)
    return Known(f"vol-{found[1]}") if found else Absent()


COLLECTORS = (
    Collector(name="mounts", command=fixed(_MOUNTS), gives=MOUNT_GIVES, parse=parse_mounts),
    Collector(name="disks", command=fixed(_DISKS), gives=DISK_GIVES, parse=parse_disks),
)
