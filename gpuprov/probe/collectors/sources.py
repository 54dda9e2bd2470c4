"""Package sources of apt: one-line and deb822 files, keys of URLs replaced."""

import re

from gpuprov.model.fact import Absent, Known, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, odd

_COMMAND = r"""
[ -d /etc/apt ] || { echo none; exit 0; }
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  [ -e "$f" ] || continue
  case $f in *.list|*.sources) ;; *) continue ;; esac
  printf 'source-file %s\n' "$f"
  sed -E "$R" "$f" || exit 1
  echo
done
echo 'end '
"""
_LINE = re.compile(
    r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)(?P<components>(?:\s+[^\s#]+)*)\s*(?:#.*)?"
)

Row = dict[str, Value]


def parse_sources(output: CollectorOutput, recording: Recording) -> Found:
    """apt.sources: every enabled binary source, in apt's order."""
    if output.stdout == "none\n":
        return {"apt.sources": Absent()}
    if output.status != 0:
        return {"apt.sources": failure(output, recording, "reading apt's sources")}
    if not output.stdout.endswith("end \n"):
        return {"apt.sources": odd(output, "the list of sources")}
    rows: list[Value] = []
    text = "\n" + output.stdout.removesuffix("end \n")
    for part in text.split("\nsource-file ")[1:]:
        file, _, body = part.partition("\n")
        rows += _deb822(file, body) if file.endswith(".sources") else _one_line(file, body)
    return {"apt.sources": Known(rows)}


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


COLLECTORS = (Collector(name="sources", command=fixed(_COMMAND), gives=("apt.sources",), parse=parse_sources, limit=0),)
