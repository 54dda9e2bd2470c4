"""What moves packages besides gpuprov: unattended upgrades, pins, apt's history, and who offers what is installed."""

import re

from gpuprov.model.fact import Absent, Known, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import MAY_ENTER, Collector, Found, ended, failure, first_line, fixed, is_missing, need
from gpuprov.probe.collectors.own import parse_owned

UNATTENDED_GIVES = ("apt.unattended", "apt.unattended_origins", "apt.unattended_blacklist", "apt.pins")

_STACK = (
    "containerd",
    "cuda",
    "datacenter-gpu",
    "dcgm",
    "docker",
    "libcudnn",
    "libnccl",
    "libnvidia",
    "linux-image-",
    "nvidia",
    "prometheus-",
)
"""Beginnings of the names of packages of which it matters who offers and who moved them."""

# apt-config reads files alone, and answers `NAME "VALUE";`, one for each member of a list. It takes ten times as long
# as looking whether a file names one of these settings at all.
_UNATTENDED = (
    need("apt-config")
    + r"""
f=
for n in /etc/apt/apt.conf /etc/apt/apt.conf.d; do [ -e "$n" ] && f="$f $n"; done
m=$(grep -r -l -E 'Periodic|Unattended-Upgrade' $f /dev/null) || [ $? = 1 ] || exit 1
if [ -n "$m" ]; then
  t=$(apt-config dump) || exit 1
  printf '%s\n' "$t" | grep -E '^(APT::Periodic|Unattended-Upgrade)::'
fi
[ -x /usr/bin/unattended-upgrade ] && echo 'program unattended-upgrade'
for f in /etc/apt/preferences /etc/apt/preferences.d/*; do
  [ -f "$f" ] || continue
  case ${f##*/} in *.pref|preferences) ;; *.*) continue ;; esac
  printf 'pins %s\n' "$f"
  cat "$f" || exit 1
  echo
done
echo end
"""
)
_SETTING = re.compile(r'([A-Za-z][A-Za-z0-9:-]*) "(.*)";')
_STANZA = re.compile(r"(Package|Pin|Pin-Priority):\s*(.*)", re.IGNORECASE)


def parse_unattended(output: CollectorOutput, recording: Recording) -> Found:
    """apt.unattended: whether packages are upgraded with nobody there (apt.systemd.daily(8)); and apt.pins."""
    if is_missing(output):
        return dict.fromkeys(UNATTENDED_GIVES, Absent())
    if not ended(output):
        return dict.fromkeys(UNATTENDED_GIVES, failure(output, recording, "reading apt's settings"))
    text = "\n" + output.stdout.removesuffix("end\n")
    head, *pins = text.split("\npins ")
    lines = head.split("\n")
    settings = [(found[1], found[2]) for line in lines if (found := _SETTING.fullmatch(line))]
    values = dict(settings)
    often = values.get("APT::Periodic::Unattended-Upgrade", "0")
    on = values.get("APT::Periodic::Enable", "1") != "0" and often not in {"0", ""}
    origins = {
        value
        for name, value in settings
        if name in {"Unattended-Upgrade::Allowed-Origins::", "Unattended-Upgrade::Origins-Pattern::"}
    }
    blacklist = {value for name, value in settings if name == "Unattended-Upgrade::Package-Blacklist::"}
    return {
        "apt.unattended": Known(on and "program unattended-upgrade" in lines),
        "apt.unattended_origins": Known([*sorted(origins)]),
        "apt.unattended_blacklist": Known([*sorted(blacklist)]),
        "apt.pins": Known([row for part in pins for row in _pins(part)]),
    }


def _pins(text: str) -> list[Value]:
    """The stanzas of one file of apt_preferences(5): file, package, pin, priority."""
    file, _, body = text.partition("\n")
    rows: list[Value] = []
    for paragraph in re.split(r"\n[ \t]*\n", body):
        lines = [line for line in paragraph.split("\n") if not line.startswith("#")]
        fields = {m[1].lower(): m[2].strip() for line in lines if (m := _STANZA.fullmatch(line))}
        if {"package", "pin", "pin-priority"} <= fields.keys():
            rows.append(
                {
                    "file": file,
                    "package": fields["package"],
                    "pin": fields["pin"],
                    "priority": fields["pin-priority"],
                }
            )
    return rows


# The end of the newest files is enough: a record is a few hundred bytes. A person's command may hold a password.
_HISTORY = (
    MAY_ENTER
    + r"""
h=/var/log/apt/history.log
[ -d /var/log/apt ] || { echo none; exit 0; }
may_enter /var/log/apt
[ -e $h ] || { echo none; exit 0; }
[ -r $h ] || { echo "$h: Permission denied" >&2; exit 1; }
[ "$(stat -c %s $h)" -gt 16384 ] || [ ! -r $h.1.gz ] || gzip -dc $h.1.gz | tail -c 32768
tail -c 65536 $h
echo end
"""
)
_MOVED = re.compile(r"([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9]+)? \(([^)]*)\)")
_ACTIONS = ("Install", "Reinstall", "Upgrade", "Downgrade", "Remove", "Purge")
_NEWEST = 20
_LONGEST = 200


def parse_history(output: CollectorOutput, recording: Recording) -> Found:
    """apt.history: the newest records that moved packages of the stack or of gpuprov, and who asked for it (A02)."""
    if output.stdout == "none\n" and output.status == 0:
        return {"apt.history": Absent()}
    if not ended(output):
        return {"apt.history": failure(output, recording, "reading apt's history")}
    owned = _owned(recording)
    rows: list[Value] = []
    for record in re.split(r"\n[ \t]*\n", output.stdout.removesuffix("end\n")):
        fields = dict(line.partition(": ")[::2] for line in record.split("\n"))
        when = re.sub(r"\s+", " ", fields.get("Start-Date", "")).strip()
        moves = {action: _moves(fields.get(action, ""), owned) for action in _ACTIONS}
        if when and any(moves.values()):  # A record without a date is one that was cut in the middle.
            row: dict[str, Value] = {"when": when, "command": fields.get("Commandline", "")[:_LONGEST]}
            if fields.get("Requested-By"):
                row["by"] = fields["Requested-By"].split(" ")[0]
            rows.append(row | {action.lower(): moved for action, moved in moves.items() if moved})
    return {"apt.history": Known(rows[-_NEWEST:])}


def _moves(text: str, owned: frozenset[str]) -> dict[str, Value]:
    """Package -> its versions, `OLD -> NEW` where there are two."""
    found: dict[str, Value] = {}
    for name, versions in _MOVED.findall(text):
        if name in owned or name.startswith(_STACK):
            found[name] = " -> ".join(version for version in versions.split(", ") if version != "automatic")
    return found


def _owned(recording: Recording) -> frozenset[str]:
    output = recording.collectors.get("owned")
    record = parse_owned(output, recording)["gpuprov.owned"] if output is not None else None
    packages = record.value.get("packages") if isinstance(record, Known) and isinstance(record.value, dict) else None
    return frozenset(packages) if isinstance(packages, dict) else frozenset()


# apt's own cache is asked only when it is up to date: else apt-cache would build and write it anew, for a second of
# processor time. Where apt keeps none (as in container images) nothing is known.
_ORIGINS = (
    need("apt-cache")
    + need("dpkg-query")
    + r"""
c=/var/cache/apt/pkgcache.bin
[ -e "$c" ] || { echo 'apt keeps no cache here, and gpuprov makes none' >&2; exit 3; }
n=$(find /var/lib/apt/lists /etc/apt /var/lib/dpkg/status -newer "$c" ! -name lock ! -type d 2>/dev/null | head -n 1)
[ -z "$n" ] || { echo "apt's cache is older than $n, and gpuprov does not write it" >&2; exit 3; }
p=$(dpkg-query -W -f '${db:Status-Status} ${Package}:${Architecture}\n' @NAMES@ 2>/dev/null |
  sed -n -E -e 's/:all$//' -e 's/^installed //p')
[ -z "$p" ] || apt-cache policy $p
echo end
"""
).replace("@NAMES@", " ".join(f"'{name}*'" for name in _STACK))
ORIGIN_GIVES = ("apt.origins", "apt.upgradable")


def parse_origins(output: CollectorOutput, recording: Recording) -> Found:
    """Of the stack's packages: who offers the installed version, and which another version would replace."""
    if is_missing(output):
        return dict.fromkeys(ORIGIN_GIVES, Absent())
    if not ended(output):
        return dict.fromkeys(ORIGIN_GIVES, failure(output, recording, "asking apt-cache"))
    origins: dict[str, Value] = {}
    upgradable: dict[str, Value] = {}
    for part in re.split(r"^(?=\S+:$)", output.stdout.removesuffix("end\n"), flags=re.MULTILINE):
        name, _, body = part.partition(":\n")
        installed = re.search(r"^  Installed: (\S+)$", body, re.MULTILINE)
        candidate = re.search(r"^  Candidate: (\S+)$", body, re.MULTILINE)
        if part and (installed is None or candidate is None):
            reason = Unknown(f"apt-cache answered in an unknown form: {first_line(part)}")
            return dict.fromkeys(ORIGIN_GIVES, reason)
        if installed is not None and candidate is not None:
            origins[name] = [*_offers(body)]
            if candidate[1] not in {installed[1], "(none)"}:
                upgradable[name] = candidate[1]
    return {"apt.origins": Known(origins), "apt.upgradable": Known(upgradable)}


def _offers(body: str) -> list[str]:
    """The sources below the installed version's line (`***`); dpkg's own status is none."""
    offers: set[str] = set()
    inside = False
    for line in body.split("\n"):
        found = re.fullmatch(r"\s+-?\d+ (\S+:/\S*) (\S*).*Packages", line)
        if found is not None and inside:
            offers.add(f"{found[1]} {found[2]}".strip())
        elif found is None and "/var/lib/dpkg/status" not in line:
            inside = line.startswith(" *** ")
    return sorted(offers)


COLLECTORS = (
    Collector(name="unattended", command=fixed(_UNATTENDED), gives=UNATTENDED_GIVES, parse=parse_unattended),
    Collector(name="history", command=fixed(_HISTORY), gives=("apt.history",), parse=parse_history),
    Collector(name="origins", command=fixed(_ORIGINS), gives=ORIGIN_GIVES, parse=parse_origins),
)
