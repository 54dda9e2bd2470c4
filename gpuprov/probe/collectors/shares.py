"""Places of shared storage that the probe was asked for: what is mounted there, and from where."""

import re
import shlex

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, odd, unknown
from gpuprov.probe.request import ProbeRequest

LEAVES = ("source", "type")
GIVES = tuple(f"share[*].{leaf}" for leaf in LEAVES)
_NOT_ASKED = "the probe was not asked for this place"
_OCTAL = re.compile(r"\\([0-3][0-7]{2})")
_TYPES = {"nfs4": "nfs"}
"""The kernel's name of a type -> the one that mount units take: NFS 4 is mounted as `nfs` and shown as `nfs4`."""


def command(request: ProbeRequest) -> str:
    """Read the table of mounts alone: a server that is gone would let any other question wait for ever."""
    places = " ".join(shlex.quote(place) for place in sorted(set(request.shares)) if "\n" not in place)
    if not places:
        return "echo end\n"
    return f"printf 'place %s\\n' {places}\nsed 's/^/mount /' /proc/self/mounts || exit 1\necho end\n"


def parse_shares(output: CollectorOutput, recording: Recording) -> Found:
    """Source and type of what is mounted at each place; absent where nothing is."""
    if not ended(output):
        return unknown(GIVES, failure(output, recording, "reading mounts").reason)
    found: Found = {"share[*]": Unknown(_NOT_ASKED)}
    lines = output.stdout.splitlines()[:-1]
    places = [line.removeprefix("place ") for line in lines if line.startswith("place ")]
    mounts: dict[str, tuple[str, str]] = {}
    for line in lines:
        match line.split():
            case ["mount", source, place, kind, _options, *_]:
                mounts[_plain(place)] = (_plain(source), kind)  # the last one covers those before it
            case ["place", *_]:
                pass
            case _:
                return unknown(GIVES, odd(output, "/proc/self/mounts").reason)
    for place in places:
        source, kind = mounts.get(place, ("", ""))
        leaves: dict[str, Observation] = {
            "source": Known(source) if source else Absent(),
            "type": Known(_TYPES.get(kind, kind)) if kind else Absent(),
        }
        found |= {member_address("share", place, leaf): value for leaf, value in leaves.items()}
    return found


def _plain(text: str) -> str:
    return _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)


COLLECTORS = (Collector(name="shares", command=command, gives=GIVES, parse=parse_shares),)
