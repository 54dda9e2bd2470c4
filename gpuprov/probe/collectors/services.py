"""Services: whether systemd has the unit active and enabled."""

import re
import shlex

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, need, odd, unknown
from gpuprov.probe.request import STACK_SERVICES, ProbeRequest

GIVES = ("service[*].active", "service[*].enabled")
_NOT_ASKED = "the probe was not asked about this service"
_BLOCK = re.compile(r"(?P<key>[A-Za-z]+)=(?P<value>.*)")
_FOUND = frozenset({"loaded", "masked", "not-found", "error", "bad-setting", "merged", "stub"})


def command(request: ProbeRequest) -> str:
    """Ask systemd once for all units; the names are printed first, because an alias is answered under another name."""
    names = sorted({*STACK_SERVICES, *request.services})
    units = " ".join(shlex.quote(f"{name}.service") for name in names)
    listing = " ".join(shlex.quote(name) for name in names)
    return (
        need("systemctl") + f"printf 'asked %s\\n' {listing}; echo; "
        f"systemctl show -p Id -p LoadState -p ActiveState -p UnitFileState -- {units}"
    )


def parse_services(output: CollectorOutput, recording: Recording) -> Found:
    """Active and enabled of each unit that was asked for; one that systemd does not find is Absent."""
    if output.status != 0:
        # Without a running systemd nothing is known of services, installed or not.
        return unknown(GIVES, failure(output, recording, "systemctl show").reason)
    head, _, body = output.stdout.partition("\n\n")
    names = [line.removeprefix("asked ") for line in head.splitlines() if line.startswith("asked ")]
    blocks = [b for b in body.strip("\n").split("\n\n") if b.strip()]
    if not names or len(names) != len(blocks):
        return unknown(GIVES, odd(output, "the answer of systemctl").reason)
    found: Found = {"service[*]": Unknown(_NOT_ASKED)}
    for name, block in zip(names, blocks, strict=True):
        values = {m["key"]: m["value"] for line in block.splitlines() if (m := _BLOCK.fullmatch(line))}
        found |= _service(name, values)
    return found


def _service(name: str, values: dict[str, str]) -> Found:
    active, enabled = member_address("service", name, "active"), member_address("service", name, "enabled")
    load = values.get("LoadState", "")
    if load == "not-found":
        return {active: Absent(), enabled: Absent()}
    if load not in _FOUND or not re.fullmatch(r"[a-z]+", values.get("ActiveState", "")):
        reason = Unknown(f"systemctl answered in an unknown form for {name}")
        return {active: reason, enabled: reason}
    state = values.get("UnitFileState", "")
    return {
        active: Known(values["ActiveState"]),
        enabled: Known(state)
        if re.fullmatch(r"[a-z-]+", state)
        else Unknown("systemd tells no state of the unit's file"),
    }


COLLECTORS = (Collector(name="services", command=command, gives=GIVES, parse=parse_services),)
