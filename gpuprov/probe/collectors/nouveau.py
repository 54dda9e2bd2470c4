"""nouveau, the kernel's own driver: whether it has the GPUs, and whether the next boot will keep it away."""

import re

from gpuprov.model.fact import Absent, Known, Observation
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, odd

GIVES = ("host.nouveau", "host.nouveau_blocked", "host.initramfs")

# Loaded is enough: while nouveau is there, its devices are in use and NVIDIA's module finds none to take. A built-in
# nouveau has no folder in /sys/module where it has no parameters; the devices that it took tell.
# The initramfs holds the modprobe files of when it was made; one that is older than a file that blocks nouveau may load
# it before the root file system is there. Files of packages carry the time of their package, so this can miss some.
_COMMAND = r"""
[ -d /sys/module ] || { echo 'no /sys/module here' >&2; exit 1; }
[ -d /sys/module/nouveau ] && echo loaded
for d in /sys/bus/pci/drivers/nouveau/*:*; do [ -e "$d" ] && echo "holds ${d##*/}"; done
read -r k </proc/sys/kernel/osrelease; read -r c </proc/cmdline
for a in $c; do
  case $a in nouveau.modeset=0|*blacklist=*nouveau*) echo "blocked option $a" ;; esac
done
i=
for f in "/boot/initrd.img-$k" "/boot/initramfs-$k.img" "/boot/initrd-$k"; do [ -e "$f" ] && i=$f; done
[ -z "$i" ] || echo "initramfs $i"
for f in $(grep -l -s -E '^[[:space:]]*((blacklist|install)[[:space:]]+nouveau|options[[:space:]]+nouveau.*modeset=0)' \
  /etc/modprobe.d/*.conf /run/modprobe.d/*.conf /usr/lib/modprobe.d/*.conf /lib/modprobe.d/*.conf); do
  echo "blocked file $f"
  [ -n "$i" ] && [ "$i" -ot "$f" ] && echo "older $f"
done
echo end
"""
_LINE = re.compile(
    r"loaded|holds [0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
    r"|(?:blocked option|blocked file|initramfs|older) \S.*"
)


def parse_nouveau(output: CollectorOutput, recording: Recording) -> Found:
    """Whether nouveau is loaded or holds a GPU, is blocked, and whether the initramfs knows that yet (A11)."""
    if output.status != 0:
        return dict.fromkeys(GIVES, failure(output, recording, "looking for nouveau"))
    lines = output.stdout.splitlines()
    if not lines or lines[-1] != "end" or not all(_LINE.fullmatch(line) for line in lines[:-1]):
        return dict.fromkeys(GIVES, odd(output, "the list of nouveau's devices"))
    return {
        "host.nouveau": Known(any(line == "loaded" or line.startswith("holds ") for line in lines)),
        "host.nouveau_blocked": Known(any(line.startswith("blocked ") for line in lines)),
        "host.initramfs": _initramfs(lines),
    }


def _initramfs(lines: list[str]) -> Observation:
    if not any(line.startswith("initramfs ") for line in lines):
        return Absent()
    older = [line.removeprefix("older ") for line in lines if line.startswith("older ")]
    return Known(f"older than {', '.join(older)}" if older else "current")


COLLECTORS = (Collector(name="nouveau", command=fixed(_COMMAND), gives=GIVES, parse=parse_nouveau, limit=0),)
