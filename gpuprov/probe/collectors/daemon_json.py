"""The container engine's own file: its keys, apart from those that say where a host stands."""

import json

from gpuprov.model.fact import Absent, Known, Observation, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed

GIVES = ("stack.container.daemon", "stack.container.daemon_site")

_COMMAND = r"""
f=/etc/docker/daemon.json
if [ ! -e "$f" ]; then
  if [ -d /etc/docker ] && [ ! -x /etc/docker ]; then echo '/etc/docker: Permission denied' >&2; exit 1; fi
  echo absent; exit 0
fi
sed -E "$R" "$f"
"""
_SITE = frozenset(
    {
        "bip",
        "data-root",
        "default-address-pools",
        "dns",
        "dns-opts",
        "dns-search",
        "fixed-cidr",
        "fixed-cidr-v6",
        "hosts",
        "insecure-registries",
        "ip",
        "labels",
        "mtu",
        "proxies",
        "registry-mirrors",
    }
)
"""Keys about disks, networks and mirrors of a place (dockerd's reference of daemon.json, 2026-11-30)."""
_OWN_FACT = "runtimes"
"""stack.container.runtimes tells these, as the engine has them."""
_DEPTH = 8


def parse_daemon_json(output: CollectorOutput, recording: Recording) -> Found:
    """The file's keys, in two facts; an empty file is one without keys, as dockerd takes it."""
    if output.status != 0:
        return dict.fromkeys(GIVES, failure(output, recording, "reading /etc/docker/daemon.json"))
    if output.stdout == "absent\n":
        return dict.fromkeys(GIVES, Absent())
    try:
        data = json.loads(output.stdout) if output.stdout.strip() else {}
    except (ValueError, RecursionError) as error:
        return dict.fromkeys(GIVES, Unknown(f"/etc/docker/daemon.json is no JSON: {error}"))
    if not isinstance(data, dict):
        return dict.fromkeys(GIVES, Unknown("/etc/docker/daemon.json is no object"))
    site = {key: value for key, value in data.items() if key in _SITE}
    return {
        GIVES[0]: _told({key: value for key, value in data.items() if key not in _SITE and key != _OWN_FACT}),
        GIVES[1]: _told(site) if site else Absent(),
    }


def _told(data: dict[str, object]) -> Observation:
    try:
        value = _value(data, _DEPTH)
    except RecursionError:
        return Unknown(f"/etc/docker/daemon.json is nested deeper than {_DEPTH} levels")
    return Known(value)


def _value(value: object, depth: int) -> Value:
    """A JSON value as a fact's: numbers with a point, and null, as text."""
    if depth == 0:
        raise RecursionError
    if isinstance(value, dict):
        return {str(key): _value(member, depth - 1) for key, member in value.items()}
    if isinstance(value, list):
        return [_value(member, depth - 1) for member in value]
    if isinstance(value, str | int):
        return value
    return json.dumps(value)


COLLECTORS = (Collector(name="daemon_json", command=fixed(_COMMAND), gives=GIVES, parse=parse_daemon_json, limit=0),)
