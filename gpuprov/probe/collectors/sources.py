"""Package sources of apt: one-line and deb822 files, keys of URLs replaced."""

import re
from collections.abc import Iterable

from gpuprov.model.fact import Absent, Known, Observation, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, odd

_COMMAND = r"""
[ -d /etc/apt ] || { echo none; exit 0; }
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  [ -e "$f" ] || continue
  case $f in *.list|*.sources) ;; *) continue ;; esac
  printf 'source-file %s\n' "$f"
  cat "$f" || exit 1
  echo
done
echo 'end '
"""
_LINE = re.compile(
    r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)(?P<components>(?:\s+[^\s#]+)*)\s*(?:#.*)?"
)

Row = dict[str, Value]


def parse_sources(output: CollectorOutput, recording: Recording) -> Found:
    """apt.sources: every enabled binary source, in apt's order; apt.conflicts: those that apt refuses."""
    gives = ("apt.sources", "apt.conflicts")
    if output.stdout == "none\n":
        return dict.fromkeys(gives, Absent())
    if output.status != 0:
        return dict.fromkeys(gives, failure(output, recording, "reading apt's sources"))
    if not output.stdout.endswith("end \n"):
        return dict.fromkeys(gives, odd(output, "the list of sources"))
    rows: list[Row] = []
    text = "\n" + output.stdout.removesuffix("end \n")
    for part in text.split("\nsource-file ")[1:]:
        file, _, body = part.partition("\n")
        rows += _deb822(file, body) if file.endswith(".sources") else _one_line(file, body)
    return {"apt.sources": Known([*rows]), "apt.conflicts": _conflicts(rows)}


def _one_line(file: str, body: str) -> list[Row]:
    rows = []
    for line in body.splitlines():
        found = _LINE.fullmatch(line.strip())
        if found is not None:
            options = dict(o.partition("=")[::2] for o in (found["options"] or "").split())
            rows.append(
                _row(file, [found["uri"]], [found["suite"]], found["components"].split(), options.get("signed-by", ""))
            )
    return rows


def _deb822(file: str, body: str) -> list[Row]:
    rows = []
    for paragraph in re.split(r"\n[ \t]*\n", body):
        fields: dict[str, str] = {}
        key = ""
        for line in paragraph.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in {" ", "\t"} and key:
                fields[key] += "\n" + line.strip()
            elif ":" in line:
                key, _, value = line.partition(":")
                key = key.strip().lower()
                fields[key] = value.strip()
        off = fields.get("enabled", "yes").lower() in {"no", "false", "0", "off", "without", "disable"}
        if "uris" not in fields or off or "deb" not in fields.get("types", "deb").split():
            continue
        signed = fields.get("signed-by", "")
        if "BEGIN PGP" in signed:
            signed = "(a key in the file itself)"
        rows.append(
            _row(
                file,
                fields["uris"].split(),
                fields.get("suites", "").split(),
                fields.get("components", "").split(),
                signed,
            )
        )
    return rows


def _row(file: str, uris: list[str], suites: list[str], components: list[str], signed_by: str) -> Row:
    return {
        "file": file,
        "uris": [*uris],
        "suites": [*suites],
        "components": [*components],
        "signed_by": signed_by,
    }


def _conflicts(rows: Iterable[Row]) -> Observation:
    """Repositories that several files name with different keys: apt reads no list at all then (A10)."""
    keys: dict[str, dict[str, str]] = {}
    for row in rows:
        uris, suites = row["uris"], row["suites"]
        if isinstance(uris, list) and isinstance(suites, list):
            for uri in uris:
                for suite in suites:
                    place = f"{str(uri).rstrip('/')} {str(suite).rstrip('/') or '/'}"
                    keys.setdefault(place, {})[str(row["file"])] = str(row["signed_by"])
    found: dict[str, Value] = {place: [*sorted(files)] for place, files in keys.items() if len(set(files.values())) > 1}
    return Known(found)


# Keys without a file of their own in a source are trusted for every source: these two places.
_KEYS = r"""
[ -d /etc/apt ] || { echo none; exit 0; }
set --
for f in /etc/apt/trusted.gpg /etc/apt/trusted.gpg.d/* /etc/apt/keyrings/* /usr/share/keyrings/*; do
  case $f in *~) ;; *) [ -f "$f" ] && set -- "$@" "$f" ;; esac
done
[ $# = 0 ] || sha256sum "$@" || exit 1
echo end
"""


def parse_keys(output: CollectorOutput, recording: Recording) -> Found:
    """apt.keys: file -> sha256, of the keys that apt may use."""
    if output.stdout == "none\n" and output.status == 0:
        return {"apt.keys": Absent()}
    if not ended(output):
        return {"apt.keys": failure(output, recording, "reading apt's keys")}
    rows = [re.fullmatch(r"([0-9a-f]{64})  (/.+)", line) for line in output.stdout.removesuffix("end\n").splitlines()]
    if not all(rows):
        return {"apt.keys": odd(output, "the list of apt's keys")}
    return {"apt.keys": Known({row[2]: row[1] for row in rows if row is not None})}


COLLECTORS = (
    Collector(
        name="sources",
        command=fixed(_COMMAND),
        gives=("apt.sources", "apt.conflicts"),
        parse=parse_sources,
        limit=0,
    ),
    Collector(name="keys", command=fixed(_KEYS), gives=("apt.keys",), parse=parse_keys),
)
