"""Disks that the probe was asked for: whether each is there, what it holds, and where it is mounted."""

import re
import shlex

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, needs_root, odd, unknown
from gpuprov.probe.request import ProbeRequest

LEAVES = ("content", "mounts")
GIVES = tuple(f"device[*].{leaf}" for leaf in LEAVES)
_NOT_ASKED = "the probe was not asked for this device"

# Empty is what nobody knows a use of: no signature (blkid(8), which ends with 2 then), no partition, nothing built upon
# it (RAID, LVM, encryption), and nothing but zeros in its first MiB, where those without a signature write too.
_ONE = r"""
one() {
  printf 'device %s\n' "$1"
  # Volumes of other hosts are asked for as well: what is not there costs no process.
  [ -e "$1" ] || { echo missing; return; }
  r=$(readlink -f "$1") || { echo missing; return; }
  [ -b "$r" ] || { echo 'error it is no block device'; return; }
  command -v blkid >/dev/null 2>&1 || { echo 'error blkid is not installed'; return; }
  [ -r "$r" ] || { echo 'error Permission denied'; return; }
  n=${r##*/}
  b=$(blkid -p -o export "$r" 2>&1); s=$?
  case $s in
    0) printf '%s\n' "$b" | sed -n -E 's/^(TYPE|PTTYPE)=(.*)/\1 \2/p' ;;
    2)
      p= ; for d in /sys/class/block/"$n"/"$n"* /sys/class/block/"$n"/holders/*; do [ ! -e "$d" ] || p=${d##*/}; done
      if [ -n "$p" ]; then printf 'used %s\n' "$p"
      elif [ "$(head -c 1048576 "$r" | tr -d '\000' | head -c 1 | wc -c)" = 0 ]; then echo empty
      else echo data; fi ;;
    *) printf 'error blkid ended with status %s: %s\n' "$s" "$(printf '%s' "$b" | head -n 1)" ;;
  esac
  while read -r w p _; do [ "$(readlink -f "$w")" != "$r" ] || printf 'mounted %s\n' "$p"; done </proc/self/mounts
}
"""
_OCTAL = re.compile(r"\\([0-3][0-7]{2})")


def command(request: ProbeRequest) -> str:
    """Look at each device once."""
    calls = "".join(f"one {shlex.quote(path)}\n" for path in sorted(set(request.devices)) if "\n" not in path)
    return (_ONE + calls if calls else "") + "echo end\n"


def parse_devices(output: CollectorOutput, recording: Recording) -> Found:
    """The content of each device: a file system, `empty`, or what else it holds; and where it is mounted."""
    if not ended(output):
        return unknown(GIVES, failure(output, recording, "looking at devices").reason)
    found: Found = {"device[*]": Unknown(_NOT_ASKED)}
    path, lines = "", list[str]()
    for line in [*output.stdout.splitlines()[:-1], "device "]:
        if line.startswith("device "):
            if path:
                found |= _device(path, lines, output, recording)
            path, lines = line.removeprefix("device "), []
        else:
            lines.append(line)
    return found


def _device(path: str, lines: list[str], output: CollectorOutput, recording: Recording) -> Found:
    places = [_plain(line.removeprefix("mounted ")) for line in lines if line.startswith("mounted ")]
    rest = [line for line in lines if not line.startswith("mounted ")]
    error = next((line.removeprefix("error ") for line in rest if line.startswith("error ")), "")
    if error:
        reason = needs_root(f"{path}: {error}", recording) if "ermission denied" in error else Unknown(error)
        return {member_address("device", path, leaf): reason for leaf in LEAVES}
    if rest == ["missing"]:
        return {member_address("device", path, leaf): Absent() for leaf in LEAVES}
    return {
        member_address("device", path, "content"): _content(rest, output),
        member_address("device", path, "mounts"): Known([*places]),
    }


def _content(lines: list[str], output: CollectorOutput) -> Observation:
    pairs = dict(line.partition(" ")[::2] for line in lines)
    if "TYPE" in pairs:
        return Known(pairs["TYPE"])
    if "PTTYPE" in pairs:
        return Known(f"partitions ({pairs['PTTYPE']})")
    if "used" in pairs:
        return Known(f"in use ({pairs['used']})")
    words = {"empty": "empty", "data": "data without a file system"}
    return Known(words[lines[0]]) if len(lines) == 1 and lines[0] in words else odd(output, "what blkid says")


def _plain(text: str) -> str:
    return _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)


COLLECTORS = (Collector(name="devices", command=command, gives=GIVES, parse=parse_devices),)
