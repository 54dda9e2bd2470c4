"""The kernel's log of this boot: what it says of GPUs, NVSwitches, PCI errors and refused modules."""

import json
import re
from collections.abc import Iterator

from gpuprov.model.fact import Known, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, first_line, fixed, is_missing, need, needs_root
from gpuprov.probe.collectors.pci import bus_address

GIVES = ("gpu.events", "gpu.fallen", "gpu.ignored")

# The ring buffer may have lost its beginning; what is gone is not seen. At most the last 1000 lines travel.
_COMMAND = (
    need("dmesg")
    + r"""
{ dmesg || echo "failed $?"; } | grep -a -E \
  '^failed [0-9]+$|NVRM|SXid|AER: |PCIe Bus Error|[Mm]odule verification failed|[Mm]odule (is|with .*) rejected' \
  | tail -n 1000
echo end
"""
)
_HEAD = re.compile(r"^(?:<\d+>)?\[[^\]]*\]\s*|^.*? kernel: (?:\[[^\]]*\]\s*)?")
_STARTS = ("Xid (", "The NVIDIA ", "API mismatch", "GPU ", "loading ", "No NVIDIA ", "Try ", "This can occur")
_BUS = r"(?:PCI:)?(?P<bus>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)"
_XID = re.compile(
    rf"Xid \({_BUS}\): (?P<code>\d{{1,5}})(?:, pid='?[^',]*'?(?:\([^)]*\))?)?(?:, name='?(?P<name>[^',]*)'?)?"
)
_SXID = re.compile(rf"SXid \({_BUS}\): (?P<code>\d{{1,6}})")
_FALLEN = re.compile(rf"(?:The NVIDIA )?GPU (?:at )?{_BUS}:?.*fallen off the bus.*")
_IGNORED = re.compile(
    r"The (?P<name>NVIDIA .+?) GPU installed in this system is"
    r" supported through the NVIDIA (?P<branch>\d{2,4})[\d.]*\.xx"
)
_OPEN_ONLY = re.compile(rf"The NVIDIA GPU {_BUS}.*requires use of the NVIDIA open kernel modules.*")
_MISMATCH = re.compile(
    r"API mismatch: the client has the version (?P<client>[\d.]+\d),"
    r" but this kernel module has the version (?P<module>[\d.]+\d)"
)
_AER = re.compile(rf"\S+ {_BUS}: (?:AER: )?PCIe Bus Error: severity=(?P<severity>[A-Za-z]+(?: \([A-Za-z-]+\))?).*")
_OFF_BUS = 79
"""Xid 79: the GPU has fallen off the bus (NVIDIA, Xid Errors)."""

Event = dict[str, Value]


def parse_kernel_log(output: CollectorOutput, recording: Recording) -> Found:
    """Events, each once with how often it was seen; the GPUs that fell off the bus; those that the driver ignores."""
    lines = output.stdout.splitlines()
    failed = next((line.removeprefix("failed ") for line in lines if re.fullmatch(r"failed \d+", line)), "")
    if failed:
        return dict.fromkeys(GIVES, _refused(failed, output.stderr, recording))
    if is_missing(output) or lines[-1:] != ["end"]:
        return dict.fromkeys(GIVES, failure(output, recording, "dmesg"))
    events = _counted([event for text in _messages(lines[:-1]) if (event := _event(text))])
    fallen = sorted({str(e["gpu"]) for e in events if e["kind"] == "xid" and e["code"] == _OFF_BUS})
    ignored: list[Value] = [{"gpu": e["gpu"], "last_branch": e["code"]} for e in events if e["kind"] == "ignored"]
    told: list[Value] = [{**e} for e in events]
    return {"gpu.events": Known(told), "gpu.fallen": Known([*fallen]), "gpu.ignored": Known(ignored)}


def _refused(status: str, said: str, recording: Recording) -> Unknown:
    """Why dmesg gave nothing: for want of root, or, in a container, for root too."""
    root = recording.collectors.get("root")
    if "not permitted" in said and not (root is not None and root.stdout == "0\n"):
        return needs_root(first_line(said), recording)
    return Unknown(f"dmesg ended with status {status}: {first_line(said)}")


def _messages(lines: list[str]) -> Iterator[str]:
    """Whole messages: NVRM breaks its own over several lines, each with NVRM before it (A16, A24)."""
    joined: list[str] = []
    for line in lines:
        body = _HEAD.sub("", line).strip()
        if not body.startswith("NVRM:"):
            if joined:
                yield " ".join(joined)
                joined = []
            yield body
            continue
        text = body.removeprefix("NVRM:").strip()
        if joined and text.startswith(_STARTS):
            yield " ".join(joined)
            joined = []
        joined.append(text)
    if joined:
        yield " ".join(joined)


def _event(text: str) -> Event | None:  # noqa: PLR0911 - one kind of message each
    if found := _XID.match(text):
        name = (found["name"] or "").strip("<>")
        process = {} if name in {"", "unknown"} else {"process": name}
        return {"kind": "xid", "gpu": _gpu(found["bus"]), "code": int(found["code"]), **process}
    if found := _SXID.search(text):
        return {"kind": "sxid", "switch": _gpu(found["bus"]), "code": int(found["code"])}
    if found := _FALLEN.match(text):
        return {"kind": "xid", "gpu": _gpu(found["bus"]), "code": _OFF_BUS, "form": "text"}
    if found := _IGNORED.match(text):
        return {"kind": "ignored", "gpu": found["name"], "code": int(found["branch"])}
    if found := _OPEN_ONLY.match(text):
        return {"kind": "needs open modules", "gpu": _gpu(found["bus"])}
    if found := _MISMATCH.match(text):
        return {"kind": "version mismatch", "library": found["client"], "module": found["module"]}
    if found := _AER.match(text):
        return {"kind": "pci error", "device": _gpu(found["bus"]), "severity": found["severity"].lower()}
    if re.search(r"odule (?:is|with .*) rejected|odule verification failed", text):
        return {"kind": "module rejected" if "rejected" in text else "module not verified"}
    return None


def _gpu(bus: str) -> str:
    address = bus_address(bus)
    return address if "." in address else f"{address}.0"


def _counted(events: list[Event]) -> list[Event]:
    """Each event once, with how often; a fall that is told in both forms counts as often as in the commoner one."""
    counts: dict[str, dict[object, int]] = {}
    for event in events:
        left_out = {"form", "process"} if event.get("code") == _OFF_BUS else {"form"}
        key = json.dumps({name: value for name, value in event.items() if name not in left_out}, sort_keys=True)
        forms = counts.setdefault(key, {})
        forms[event.get("form")] = forms.get(event.get("form"), 0) + 1
    told: list[Event] = [{**json.loads(key), "count": max(forms.values())} for key, forms in counts.items()]
    return sorted(told, key=lambda event: (str(event["kind"]), str(event.get("gpu", "")), repr(sorted(event.items()))))


COLLECTORS = (Collector(name="kernel_log", command=fixed(_COMMAND), gives=GIVES, parse=parse_kernel_log),)
