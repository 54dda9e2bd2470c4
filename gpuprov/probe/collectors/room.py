"""What a change needs room for: free disk, free memory, and the size of an initramfs that would be made anew."""

import re

from gpuprov.model.fact import Absent, Known, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed

GIVES = ("host.space", "host.memory_free", "host.initramfs_bytes")
FOLDERS = ("/", "/usr", "/boot", "/var", "/var/lib/dpkg", "/var/lib/gpuprov", "/var/cache", "/var/tmp", "/tmp")  # noqa: S108 - only asked for their size
"""Where apt, dpkg and initramfs-tools write."""

# Free blocks for ordinary users: what is kept for root is no room to plan with.
_COMMAND = (
    "for d in "
    + " ".join(FOLDERS)
    + r"""; do [ -d "$d" ] && set -- "$@" "$d"; done
stat -f -c 'space %a %S %n' "$@" || exit 1
sed -n -E 's/^MemAvailable: *([0-9]+) kB$/memory \1/p' /proc/meminfo
set --
for f in /boot/initrd.img-* /boot/initramfs-*.img; do [ -f "$f" ] && set -- "$@" "$f"; done
[ $# = 0 ] || stat -c 'initramfs %s' "$@" || exit 1
echo end
"""
)
_SPACE = re.compile(r"space (\d{1,18}) (\d{1,9}) (/.*)")


def parse_room(output: CollectorOutput, recording: Recording) -> Found:
    """host.space: folder -> free bytes; host.memory_free in MiB; host.initramfs_bytes: the largest one's size."""
    if not ended(output):
        return dict.fromkeys(GIVES, failure(output, recording, "asking for free space"))
    lines = output.stdout.split("\n")
    space: dict[str, Value] = {
        found[3]: int(found[1]) * int(found[2]) for line in lines if (found := _SPACE.fullmatch(line))
    }
    memory = next((found[1] for line in lines if (found := re.fullmatch(r"memory (\d{1,15})", line))), None)
    sizes = [int(found[1]) for line in lines if (found := re.fullmatch(r"initramfs (\d{1,15})", line))]
    return {
        "host.space": Known(space) if space else Unknown("stat tells no free space"),
        "host.memory_free": Unknown("/proc/meminfo tells no MemAvailable")
        if memory is None
        else Known(int(memory) // 1024),
        "host.initramfs_bytes": Known(max(sizes)) if sizes else Absent(),
    }


COLLECTORS = (Collector(name="room", command=fixed(_COMMAND), gives=GIVES, parse=parse_room),)
