"""Files that the probe was asked for: digest, mode, owner, group, and the text of small ones with secrets replaced."""

import base64
import binascii
import re
import shlex

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, needs_root, odd, unknown
from gpuprov.probe.request import ProbeRequest

LEAVES = ("sha256", "mode", "owner", "group", "text")
GIVES = tuple(f"file[*].{leaf}" for leaf in LEAVES)
_NOT_ASKED = "the probe was not asked for this file"
LARGEST_TEXT = 65536
"""Bytes; of a larger file only the digest is looked at."""

_ONE = r"""
one() {
  printf 'file %s\n' "$1"
  s=$(stat -L -c '%f %a %s %U %G' "$1" 2>&1) || {
    if [ -L "$1" ]; then echo 'error link to nothing'; else printf 'error %s\n' "$s"; fi
    return
  }
  printf 'stat %s\n' "$s"
  case $s in 8*) ;; *) return ;; esac
  h=$({ sha256sum <"$1"; } 2>&1) || { printf 'unread %s\n' "$h"; return; }
  printf 'sha256 %s\n' "${h%% *}"
  set -- "$1" $s
  [ "$4" -le 65536 ] && printf 'text %s\n' "$(sed -E "$R" "$1" | base64 | tr -d '\n')"
}
"""
_STAT = re.compile(r"(?P<kind>[0-9a-f]{4}) (?P<mode>[0-7]{1,4}) (?P<size>\d+) (?P<owner>\S+) (?P<group>\S+)")


def command(request: ProbeRequest) -> str:
    """Look at each file once."""
    calls = "".join(f"one {shlex.quote(path)}\n" for path in sorted(set(request.paths)) if "\n" not in path)
    return _ONE + calls + "echo 'end '\n"


def parse_files(output: CollectorOutput, recording: Recording) -> Found:
    """The leaves of each file; one that is not there is Absent, one that may not be read is Unknown."""
    if output.status != 0:
        return unknown(GIVES, failure(output, recording, "looking at files").reason)
    lines = output.stdout.splitlines()
    if not lines or lines[-1] != "end ":
        return unknown(GIVES, odd(output, "the list of files").reason)
    found: Found = {"file[*]": Unknown(_NOT_ASKED)}
    path, words = "", dict[str, str]()
    for line in lines:
        key, _, value = line.partition(" ")
        if key in {"file", "end"}:
            if path:
                found |= _file(path, words, recording)
            path, words = value, {}
        else:
            words.setdefault(key, value)
    return found


def _all(path: str, observation: Observation) -> Found:
    return {member_address("file", path, leaf): observation for leaf in LEAVES}


def _file(path: str, words: dict[str, str], recording: Recording) -> Found:
    error = words.get("error", "")
    if "No such file" in error or "Not a directory" in error:
        return _all(path, Absent())
    if "ermission denied" in error:
        return _all(path, needs_root(f"{path} cannot be looked at", recording))
    stat = _STAT.fullmatch(words.get("stat", ""))
    if stat is None:
        return _all(path, Unknown(error or "stat answered in an unknown form"))
    found = _all(path, Unknown("it is not a regular file"))
    found[member_address("file", path, "mode")] = Known(stat["mode"].zfill(4))
    found[member_address("file", path, "owner")] = Known(stat["owner"])
    found[member_address("file", path, "group")] = Known(stat["group"])
    if stat["kind"].startswith("8"):
        found[member_address("file", path, "sha256")] = _digest(path, words, recording)
        found[member_address("file", path, "text")] = _text(path, words, int(stat["size"]), recording)
    return found


def _digest(path: str, words: dict[str, str], recording: Recording) -> Observation:
    digest = words.get("sha256", "")
    if re.fullmatch(r"[0-9a-f]{64}", digest):
        return Known(digest)
    if "ermission denied" in words.get("unread", ""):
        return needs_root(f"{path} cannot be read", recording)
    return Unknown(words.get("unread", "") or "sha256sum answered in an unknown form")


def _text(path: str, words: dict[str, str], size: int, recording: Recording) -> Observation:
    if "text" not in words:
        if "ermission denied" in words.get("unread", ""):
            return needs_root(f"{path} cannot be read", recording)
        return Unknown(f"larger than {LARGEST_TEXT} bytes" if size > LARGEST_TEXT else "its text could not be read")
    try:
        text = base64.b64decode(words["text"], validate=True).decode()
    except (binascii.Error, ValueError):
        return Unknown("it is no UTF-8 text")
    return Known(text) if text or size == 0 else Unknown("its text could not be read")


COLLECTORS = (Collector(name="files", command=command, gives=GIVES, parse=parse_files),)
