"""Packages of dpkg: version, state and hold of each, and whether dpkg itself is in order."""

import re

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, is_missing, need, odd, unknown

GIVES = ("package[*].version", "package[*].state", "package[*].held", "apt.dpkg")

# Whole words and not `ii`: a hold is part of the first letter there, and tools that look for `ii` miss it (A07).
_COMMAND = (
    need("dpkg-query")
    + "dpkg-query -W -f '${db:Status-Want} ${db:Status-Eflag} ${db:Status-Status} ${Architecture} ${Version}"
    r" ${Package}\n' && { echo audit; dpkg --audit; echo end; }"
)
_ROW = re.compile(
    r"(?P<want>unknown|install|hold|deinstall|purge) (?P<flag>ok|reinstreq) "
    r"(?P<state>not-installed|config-files|half-installed|unpacked|half-configured|triggers-awaited|triggers-pending"
    r"|installed) (?P<arch>[a-z0-9-]*) (?P<version>\S*) (?P<name>\S+)"
)
_GONE = frozenset({"not-installed", "config-files"})
_IN_ORDER = frozenset({"installed", "triggers-pending", "triggers-awaited", *_GONE})
_AUDITED = re.compile(r" ([a-z0-9][a-z0-9+.-]+(?::[a-z0-9-]+)?)(?:\s.*)?")


def parse_packages(output: CollectorOutput, recording: Recording) -> Found:
    """All packages; a host without dpkg has none, and one that is only removed (`rc`) is not there."""
    if is_missing(output):
        return {"package[*]": Absent(), "apt.dpkg": Absent()}
    if output.status != 0:
        return unknown(GIVES, failure(output, recording, "dpkg-query").reason)
    table, mark, audit = output.stdout.partition("audit\n")
    rows = [_ROW.fullmatch(line) for line in table.splitlines()]
    if not mark or not audit.endswith("end\n") or not rows or not all(rows):
        bad = next((line for line, row in zip(table.splitlines(), rows, strict=True) if row is None), "")
        reason = Unknown(f"dpkg-query gave an unknown line: {bad[:100]}") if bad else odd(output, "dpkg-query's table")
        return unknown(GIVES, reason.reason)
    native = _native(recording)
    found: Found = {"package[*]": Absent()}
    broken: set[str] = set()
    for row in rows:
        if row is not None:
            foreign = native and row["arch"] not in {"all", native, ""}
            name = f"{row['name']}:{row['arch']}" if foreign else row["name"]
            if row["state"] not in _IN_ORDER or row["flag"] != "ok":
                broken.add(name)
            if row["state"] not in _GONE:
                found |= _package(name, row)
    broken |= {found_[1] for line in audit.splitlines() if (found_ := _AUDITED.fullmatch(line))}
    order: Observation = Known([*sorted(broken)]) if broken else Known("ok")
    return found | {"apt.dpkg": order}


def _package(name: str, row: "re.Match[str]") -> Found:
    return {
        member_address("package", name, "version"): Known(row["version"]),
        member_address("package", name, "state"): Known(row["state"]),
        member_address("package", name, "held"): Known(row["want"] == "hold"),
    }


def _native(recording: Recording) -> str:
    output = recording.collectors.get("arch")
    return output.stdout.strip() if output is not None and output.status == 0 else ""


COLLECTORS = (Collector(name="packages", command=fixed(_COMMAND), gives=GIVES, parse=parse_packages),)
