"""What listens, and the exporters among it: whether they answer on the host's own loopback, and with which metrics."""

import re
import shlex

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, odd, unknown
from gpuprov.probe.collectors.sockets import SOCKETS, read_ports
from gpuprov.probe.request import EXPORTER_PORTS, ProbeRequest

GIVES = ("exporter[*].answers", "exporter[*].metrics", "host.ports")

# Where nothing listens no client need be started. Any client will do, and what counts is the same for all: no
# connection is "does not answer", no client is "could not look".
_ONE = r"""
get() {
  u="http://127.0.0.1:$1/metrics"
  if command -v curl >/dev/null 2>&1; then echo 'client curl'; curl -q -s -S -f --noproxy '*' -m 5 "$u"; return; fi
  if command -v bash >/dev/null 2>&1; then
    echo 'client bash'
    bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" || exit 1
printf "GET /metrics HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n" >&3 && cat <&3' "$1"
    return
  fi
  if command -v wget >/dev/null 2>&1; then echo 'client wget'; wget -q -O - -T 5 "$u"; return; fi
  if command -v python3 >/dev/null 2>&1; then
    echo 'client python3'
    python3 -c 'import sys,urllib.request as u
sys.stdout.write(u.build_opener(u.ProxyHandler({})).open(sys.argv[1],timeout=5).read().decode("utf-8","replace"))' "$u"
    return
  fi
  echo 'client none'; return 127
}
one() {
  printf 'exporter %s\n' "$1"
  listening "$2" || { printf 'client none-needed\nstatus 7\n'; return; }
  { get "$2"; printf '\nstatus %s\n' "$?"; } 2>&1 | sed -n -E \
    -e 's/^# TYPE ([A-Za-z_:][A-Za-z0-9_:]*) .*/metric \1/p' -e '/^client /p' -e '/^status [0-9]+$/p' \
    -e 's/^HTTP\/[0-9.]+ ([0-9]+).*/http \1/p' -e 's/^(curl|bash|wget):.*/said &/p' \
    -e 's/.*(Connection refused).*/said \1/p'
}
"""
_NO_ANSWER = {"curl": {7, 28, 52, 56, 22}, "wget": {4, 8}, "none-needed": {7}}
"""Statuses of curl (connect, timeout, empty, reset, HTTP error) and GNU wget (network, HTTP error): their manuals."""


def command(request: ProbeRequest) -> str:
    """Ask the exporters one after the other; only names of metrics travel, no label and no value."""
    calls = []
    for name in sorted(set(request.exporters)):
        if name in EXPORTER_PORTS:
            calls.append(f"one {shlex.quote(name)} {EXPORTER_PORTS[name]}\n")
        else:
            calls.append(f"printf 'exporter %s\\nunknown\\n' {shlex.quote(name)}\n")
    return SOCKETS + _ONE + "".join(calls) + "echo end\n"


def parse_exporters(output: CollectorOutput, recording: Recording) -> Found:
    """Answers and metrics of each exporter that was asked for, and the ports that are open."""
    lines = output.stdout.splitlines()
    if output.status != 0 or not lines or lines[-1] != "end":
        return unknown(GIVES, failure(output, recording, "asking exporters").reason)
    sockets, *parts = ("\n" + "\n".join(lines[:-1])).split("\nexporter ")
    found: Found = {
        "exporter[*]": Unknown("the probe was not asked about this exporter"),
        "host.ports": read_ports(sockets.removeprefix("\n")),
    }
    for part in parts:
        name, _, rest = part.partition("\n")
        answers, metrics = _exporter(rest.splitlines(), output)
        found[member_address("exporter", name, "answers")] = answers
        found[member_address("exporter", name, "metrics")] = metrics
    return found


def _exporter(lines: list[str], output: CollectorOutput) -> tuple[Observation, Observation]:
    def last(key: str) -> str:
        return next((line.removeprefix(key + " ") for line in reversed(lines) if line.startswith(key + " ")), "")

    client, status = last("client"), last("status")
    if "unknown" in lines:
        return (reason := Unknown("no port is known for this exporter")), reason
    if client == "none":
        return (reason := Unknown("the host has no curl, wget, bash or python3 to ask with")), reason
    if not re.fullmatch(r"\d{1,3}", status):
        return (reason := odd(output, "the exporter's answer")), reason
    metrics = sorted({line.removeprefix("metric ") for line in lines if line.startswith("metric ")})
    http = last("http")
    if metrics and status == "0" and http in {"", "200"}:
        return Known(True), Known([*metrics])
    refused = "refused" in last("said") or int(status) in _NO_ANSWER.get(client, set())
    if refused or status == "0":
        # Something may answer on the port without being an exporter: that is no answer either.
        return Known(False), Absent()
    said = last("said") or f"{client} ended with status {status}"
    return (reason := Unknown(f"could not ask: {said}")), reason


COLLECTORS = (Collector(name="exporters", command=command, gives=GIVES, parse=parse_exporters),)
