"""The container engine: its version, the runtimes that it has now, and what it uses."""

import json
import re

from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, is_missing, need, needs_root, odd

_VERSION = need("dockerd") + "dockerd --version"
_VERSION_LINE = re.compile(r"Docker version (\d+(?:\.\d+)+(?:[-+~][A-Za-z0-9.+~-]+)?)")

# The engine itself is asked, because it reads its file only when it starts. One that does not run is not asked: its
# socket would start it. Only names travel; a runtime's arguments may hold anything. The client may end with 0 where the
# engine answers with an error (28.2.2, tried 2026-11-30), so that what it says of errors counts too.
# Debian 13 has the client in a package of its own; python3 is there wherever gpuprov changes hosts.
_RUNTIMES = (
    need("dockerd")
    + r"""
engine() {
  p=$(cat /run/docker.pid 2>/dev/null) && [ "$(cat "/proc/$p/comm" 2>/dev/null)" = dockerd ] && { echo active; return; }
  if [ -d /run/systemd/system ]; then systemctl is-active docker.service; else echo inactive; fi
}
names() {
  if command -v docker >/dev/null 2>&1; then
    docker -H unix:///var/run/docker.sock info --format \
      '{{range .ServerErrors}}error {{.}}{{println}}{{end}}'\
'{{range $n, $v := .Runtimes}}runtime {{$n}}{{println}}{{end}}'\
'default {{.DefaultRuntime}}{{println}}cgroup {{.CgroupDriver}}{{println}}storage {{.Driver}}{{println}}'
  elif command -v python3 >/dev/null 2>&1; then
    python3 -c 'import http.client, json, socket
c = http.client.HTTPConnection("localhost")
c.sock = socket.socket(socket.AF_UNIX)
c.sock.settimeout(15)
c.sock.connect("/var/run/docker.sock")
c.request("GET", "/info")
i = json.load(c.getresponse())
for name in i["Runtimes"]: print("runtime", name)
for word, key in ("default", "DefaultRuntime"), ("cgroup", "CgroupDriver"), ("storage", "Driver"): print(word, i[key])'
  else
    echo 'neither docker nor python3 is there to ask the engine with' >&2; return 1
  fi
}
e=$(engine)
printf 'engine %s\n' "$e"
case $e in
  active|reloading) names || exit 1 ;;
  inactive|failed) if [ -e /etc/docker/daemon.json ]; then sed -E "$R" /etc/docker/daemon.json || exit 1; echo; fi ;;
esac
echo 'end '
"""
)
RUNTIMES_GIVES = (
    "stack.container.runtimes",
    "stack.container.default_runtime",
    "stack.container.cgroup_driver",
    "stack.container.storage_driver",
)
_USED = dict(zip(("default", "cgroup", "storage"), RUNTIMES_GIVES[1:], strict=True))
_BUILT_IN = re.compile(r"runc|io\.containerd\.(?:runc\.v\d|runtime\.v1\.linux)")
"""Runtimes that every engine has and no file can name (dockerd refuses them there): they say nothing of a host."""


def parse_docker(output: CollectorOutput, recording: Recording) -> Found:
    """stack.container.version from dockerd itself."""
    if is_missing(output):
        return {"stack.container.version": Absent()}
    if output.status != 0:
        return {"stack.container.version": failure(output, recording, "dockerd")}
    found = _VERSION_LINE.search(output.stdout)
    return {"stack.container.version": Known(found[1]) if found else odd(output, "the answer of dockerd")}


def parse_runtimes(output: CollectorOutput, recording: Recording) -> Found:
    """The runtimes that were added to the engine's own, and what the engine uses: runtime, cgroups, storage.

    They are the running engine's. Where it does not run, the runtimes are those of daemon.json, and it uses nothing.
    """
    if is_missing(output):
        return dict.fromkeys(RUNTIMES_GIVES, Absent())
    head, _, body = output.stdout.partition("\n")
    engine = head.removeprefix("engine ")
    text = body.removesuffix("end \n")
    said = next((line.removeprefix("error ") for line in body.splitlines() if line.startswith("error ")), "")
    if said and "ermission denied" in said:
        seen: Observation = needs_root(said, recording)
    elif said:
        seen = Unknown(f"the container engine answers: {said}")
    elif output.status != 0 or text == body or head == engine:
        seen = failure(output, recording, "asking the container engine for its runtimes")
    elif engine in {"active", "reloading"}:
        return _of_engine(text, output)
    elif engine in {"inactive", "failed"}:
        return dict.fromkeys(RUNTIMES_GIVES, Absent()) | {RUNTIMES_GIVES[0]: _of_file(text)}
    else:
        seen = Unknown(f"the container engine is neither running nor stopped: {engine or 'systemctl does not tell'}")
    return dict.fromkeys(RUNTIMES_GIVES, seen)


def _of_engine(text: str, output: CollectorOutput) -> Found:
    pairs = [line.partition(" ")[::2] for line in text.splitlines() if line]  # the client ends with an empty line
    names = [value for word, value in pairs if word == "runtime"]
    used = {word: value for word, value in pairs if word in _USED}
    # An answer without a single runtime is none: the engine has some of its own.
    if not names or len(names) + len(used) != len(pairs):
        return dict.fromkeys(RUNTIMES_GIVES, odd(output, "the container engine's answer"))
    found: Found = {RUNTIMES_GIVES[0]: _added(names)}
    for word, address in _USED.items():
        found[address] = Known(used[word]) if used.get(word) else Unknown("the container engine does not tell")
    return found


def _of_file(text: str) -> Observation:
    if not text.strip():
        return Known([])  # There is no file, or an empty one, which dockerd takes for an empty object.
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Unknown(f"/etc/docker/daemon.json is no JSON: {error}")
    runtimes = data.get("runtimes", {}) if isinstance(data, dict) else None
    if not isinstance(runtimes, dict):
        return Unknown("/etc/docker/daemon.json has an unknown form")
    return _added(list(runtimes))


def _added(names: list[str]) -> Observation:
    return Known([*sorted({name for name in names if not _BUILT_IN.fullmatch(name)})])


COLLECTORS = (
    Collector(name="docker", command=fixed(_VERSION), gives=("stack.container.version",), parse=parse_docker),
    Collector(name="runtimes", command=fixed(_RUNTIMES), gives=RUNTIMES_GIVES, parse=parse_runtimes, limit=20),
)
