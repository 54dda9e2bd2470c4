"""The clock: how far it is from the controller's, what keeps it, and the time zone."""

import re
from datetime import UTC, datetime

from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed

GIVES = ("host.clock.correct", "host.clock.offset", "host.clock.service", "host.clock.synchronised", "host.clock.zone")

# No question to systemd-timedated: it would start it. Whoever keeps the time leaves a file in /run.
_COMMAND = r"""
date -u '+now %s' || exit 1
printf 'zone %s\n' "$(readlink /etc/localtime)"
for f in chrony/chronyd.pid chronyd.pid ntpd.pid ntpsec/ntpd.pid openntpd.pid; do
  [ -e "/run/$f" ] && echo "keeper $f"
done
[ ! -e /run/systemd/timesync/synchronized ] || echo 'timesync yes'
[ ! -d /run/systemd/timesync ] || systemctl is-active systemd-timesyncd.service | sed 's/^/timesyncd /'
if { [ -e /run/chrony/chronyd.pid ] || [ -e /run/chronyd.pid ]; } && command -v chronyc >/dev/null 2>&1; then
  chronyc -n tracking 2>&1 | sed -n -E 's/^(Leap status *:.*|[0-9]{3} .*)/chrony \1/p'
fi
if { [ -e /run/ntpd.pid ] || [ -e /run/ntpsec/ntpd.pid ]; } && command -v ntpq >/dev/null 2>&1; then
  ntpq -n -c 'rv 0 leap' 2>&1 | sed -n -E 's/^(leap=.*)/ntp \1/p'
fi
echo end
"""
_SERVICES = {
    "chrony/chronyd.pid": "chrony",
    "chronyd.pid": "chrony",
    "ntpd.pid": "ntp",
    "ntpsec/ntpd.pid": "ntpsec",
    "openntpd.pid": "openntpd",
}
TOLERANCE = 60
"""Seconds between the two clocks that are taken for none: the answer of a busy host takes its time, and certificates,
tickets and munge's credentials bear minutes."""


def parse_clock(output: CollectorOutput, recording: Recording) -> Found:
    """offset: seconds that the host's clock is ahead of the controller's; correct: whether that is within TOLERANCE."""
    if not ended(output):
        return dict.fromkeys(GIVES, failure(output, recording, "reading the clock"))
    words = [line.partition(" ")[::2] for line in output.stdout.split("\n")]
    lines = {key: value.strip() for key, value in reversed(words)}
    keepers = [value for key, value in words if key == "keeper"]
    offset = _offset(lines.get("now", ""), recording.taken)
    service = _service(keepers, lines.get("timesyncd", ""))
    return {
        "host.clock.offset": offset,
        "host.clock.correct": Known(abs(offset.value) <= TOLERANCE)
        if isinstance(offset, Known) and isinstance(offset.value, int)
        else offset,
        "host.clock.service": service,
        "host.clock.synchronised": _synchronised(service, lines),
        "host.clock.zone": _zone(lines.get("zone", "")),
    }


def _offset(now: str, taken: str) -> Observation:
    try:
        began = datetime.strptime(taken, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return Unknown("the recording does not say when it was taken")
    if not re.fullmatch(r"\d{1,12}", now):
        return Unknown("date answered in an unknown form")
    return Known(int(now) - int(began.timestamp()))


def _service(keepers: list[str], timesyncd: str) -> Observation:
    found = sorted({_SERVICES[path] for path in keepers if path in _SERVICES})
    if timesyncd == "active":
        found.append("systemd-timesyncd")
    if len(found) > 1:
        return Unknown(f"several services keep the time: {', '.join(found)}")
    return Known(found[0]) if found else Absent()


def _synchronised(service: Observation, lines: dict[str, str]) -> Observation:
    """What the service that keeps the time says of itself; Absent where there is none."""
    if not isinstance(service, Known):
        return service
    if service.value == "systemd-timesyncd":
        return Known("timesync" in lines)
    if service.value == "chrony" and (found := re.match(r"Leap status\s*: (.+)", lines.get("chrony", ""))):
        return Known(found[1] != "Not synchronised")
    if service.value in {"ntp", "ntpsec"} and (found := re.match(r"leap=(\d+)", lines.get("ntp", ""))):
        return Known(found[1] not in {"11", "3"})
    said = lines.get("chrony") or lines.get("ntp")
    return Unknown(f"{service.value} does not tell" + (f": {said}" if said else ""))


def _zone(link: str) -> Observation:
    """The zone that /etc/localtime links to; without the file it is UTC (localtime(5))."""
    if not link:
        return Absent()
    found = re.search(r"/zoneinfo/(?:posix/|right/)?([A-Za-z0-9_+./-]+)$", link)
    return Known(found[1]) if found else Unknown(f"/etc/localtime links to {link}")


COLLECTORS = (Collector(name="clock", command=fixed(_COMMAND), gives=GIVES, parse=parse_clock, limit=15),)
