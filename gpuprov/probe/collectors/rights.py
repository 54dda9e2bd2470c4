"""Who may use the topmost folder of a mount that the probe was asked for: modes, and lists of access control."""

import shlex
from typing import Final

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, odd, unknown
from gpuprov.probe.request import ProbeRequest

GIVES = ("rights[*].entries",)
_NOT_ASKED = "the probe was not asked for this place"
# The lists are extended attributes of a folder: a version, then entries of a tag, a permission and a number (Linux,
# include/uapi/linux/posix_acl_xattr.h). getfacl(1) is in a package that hosts need not have; Ansible needs Python too.
_LOOK = r"""
import errno, grp, os, pwd, struct, sys
def name(table, number):
    try:
        return table(number)[0]
    except KeyError:
        return str(number)
for place in sys.argv[1:]:
    print("place " + place)
    try:
        seen = os.stat(place)
        if not os.path.ismount(place):
            print("nothing")
            continue
        print("mode %o %s" % (seen.st_mode & 0o777, name(pwd.getpwuid, seen.st_uid)))
        for kind in ("access", "default"):
            try:
                raw = os.getxattr(place, "system.posix_acl_" + kind)
            except OSError as error:
                if error.errno not in (errno.ENODATA, errno.EOPNOTSUPP):
                    raise
                continue
            for tag, bits, number in struct.iter_unpack("<HHI", raw[4:]):
                table = grp.getgrgid if tag == 8 else pwd.getpwuid
                print("%s %d %d %s" % (kind, tag, bits, name(table, number) if tag in (2, 8) else "-"))
    except FileNotFoundError:
        print("nothing")
    except OSError as error:
        print("error " + error.strerror)
print("end")
"""
_USER, _OWNING, _GROUP, _MASK, _OTHER = 2, 4, 8, 16, 32
_WORDS: Final = {_USER: "user", _OWNING: "owning group", _GROUP: "group", _OTHER: "others"}


def command(request: ProbeRequest) -> str:
    """Look at each place."""
    places = " ".join(shlex.quote(place) for place in sorted(set(request.rights)) if "\n" not in place)
    return f"python3 -I -S -c {shlex.quote(_LOOK)} {places}\n" if places else "echo end\n"


def parse_rights(output: CollectorOutput, recording: Recording) -> Found:
    """Who has which rights at each place, root apart; absent where nothing is mounted."""
    if not ended(output):
        return unknown(GIVES, failure(output, recording, "looking at rights").reason)
    found: Found = {"rights[*]": Unknown(_NOT_ASKED)}
    place, lines = "", list[str]()
    for line in [*output.stdout.splitlines()[:-1], "place "]:
        if line.startswith("place "):
            if place:
                found[member_address("rights", place, "entries")] = _entries(lines, output)
            place, lines = line.removeprefix("place "), []
        else:
            lines.append(line)
    return found


def _entries(lines: list[str], output: CollectorOutput) -> Observation:
    if lines == ["nothing"]:
        return Absent()
    error = next((line.removeprefix("error ") for line in lines if line.startswith("error ")), "")
    if error:
        return Unknown(error)
    entries: list[str] = []
    lists: dict[str, list[tuple[int, int, str]]] = {"access": [], "default": []}
    for line in lines:
        match line.split():
            case ["mode", mode, owner]:
                bits = int(mode, 8)
                entries += [f"owner {owner}"] if owner != "root" else []
                plain = [(_OWNING, bits >> 3 & 7, "-"), (_OTHER, bits & 7, "-")]
            case [("access" | "default") as kind, tag, permission, who]:
                lists[kind].append((int(tag), int(permission), who))
            case _:
                return odd(output, "a list of access control")
    if not lines:
        return odd(output, "a list of access control")
    entries += _words(lists["access"] or plain, "") + _words(lists["default"], "default ")
    return Known([*sorted(entries)])


def _words(rows: list[tuple[int, int, str]], before: str) -> list[str]:
    """Entries that give something; the mask bounds all but the owner and others (acl(5))."""
    mask = next((bits for tag, bits, _ in rows if tag == _MASK), 7)
    found = []
    for tag, given, who in rows:
        bits = given if tag == _OTHER else given & mask
        if tag in _WORDS and bits:
            text = "".join(letter if bits & bit else "-" for letter, bit in (("r", 4), ("w", 2), ("x", 1)))
            found.append(" ".join(part for part in (f"{before}{_WORDS[tag]}", who.strip("-"), text) if part))
    return found


COLLECTORS = (Collector(name="rights", command=command, gives=GIVES, parse=parse_rights),)
