"""What a rollback of the host would stand on: the runs that it keeps, and the archives of packages."""

import json

from gpuprov.model.fact import Absent, Known, Observation, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, odd

_ARCHIVES = """\
s=$(stat -c %s /var/lib/gpuprov/rollback/index.json 2>&1) || { printf '%s\\n' "$s" >&2; exit 2; }
cat /var/lib/gpuprov/rollback/index.json
"""
_RUNS = """\
s=$(ls -1 /var/lib/gpuprov/runs 2>&1) || { printf '%s\\n' "$s" >&2; exit 2; }
for f in /var/lib/gpuprov/runs/*/run.json; do
  [ ! -e "$f" ] || cat "$f" || exit 1
done
echo 'end '
"""
_ROW = {"run": str, "number": int, "want": str, "done": bool, "left": bool}


def parse_archives(output: CollectorOutput, recording: Recording) -> Found:
    """gpuprov.archives: versions by package name, and the bytes of all."""
    missing = _missing(output, recording, "reading the index of kept archives")
    if missing is not None:
        return {"gpuprov.archives": missing}
    rows = _json(output.stdout)
    versions: dict[str, list[Value]] = {}
    size = 0
    for row in rows if isinstance(rows, list) else [None]:
        if not isinstance(row, dict) or not isinstance(row.get("size"), int) or not _texts(row, "name", "version"):
            return {"gpuprov.archives": odd(output, "the index of kept archives")}
        versions.setdefault(row["name"], []).append(row["version"])
        size += row["size"]
    return {"gpuprov.archives": Known({"packages": dict(versions), "bytes": size})}


def parse_runs(output: CollectorOutput, recording: Recording) -> Found:
    """gpuprov.runs: the runs that the host keeps, the oldest first."""
    missing = _missing(output, recording, "reading the runs of the host")
    if missing is not None:
        return {"gpuprov.runs": missing}
    rows = [_json(line) for line in output.stdout.removesuffix("end \n").splitlines()]
    good = [row for row in rows if isinstance(row, dict) and all(type(row.get(k)) is kind for k, kind in _ROW.items())]
    if not output.stdout.endswith("end \n") or len(good) != len(rows):
        return {"gpuprov.runs": odd(output, "the runs of the host")}
    plain: list[Value] = [{key: row[key] for key in _ROW} for row in sorted(good, key=lambda row: int(row["number"]))]
    return {"gpuprov.runs": Known(plain)}


def _missing(output: CollectorOutput, recording: Recording, what: str) -> Observation | None:
    if "No such file" in output.stderr or "Not a directory" in output.stderr:
        return Absent()
    return failure(output, recording, what) if output.status != 0 else None


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _texts(row: dict[str, object], *keys: str) -> bool:
    return all(isinstance(row.get(key), str) for key in keys)


COLLECTORS = (
    Collector(name="archives", command=fixed(_ARCHIVES), gives=("gpuprov.archives",), parse=parse_archives, limit=0),
    Collector(name="runs", command=fixed(_RUNS), gives=("gpuprov.runs",), parse=parse_runs, limit=0),
)
