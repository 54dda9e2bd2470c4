"""The host itself: name, operating system, architecture, kernel, boot."""

import re
import shlex

from gpuprov.model.fact import Known, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, odd

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~-]*")
_BOOT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ARCHES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Machine names of the kernel -> Debian architectures; dpkg itself answers with the latter."""


def _word(address: str, what: str, output: CollectorOutput, recording: Recording) -> Found:
    if output.status != 0:
        return {address: failure(output, recording, what)}
    text = output.stdout.strip()
    return {address: Known(text) if _WORD.fullmatch(text) else odd(output, what)}


def parse_root(output: CollectorOutput, recording: Recording) -> Found:
    """Nothing is observed here: it tells the other collectors whether they ran as root."""
    del output, recording
    return {}


def parse_name(output: CollectorOutput, recording: Recording) -> Found:
    """host.name from `uname -n`."""
    return _word("host.name", "uname -n", output, recording)


def parse_kernel(output: CollectorOutput, recording: Recording) -> Found:
    """host.kernel.release from `uname -r`."""
    return _word("host.kernel.release", "uname -r", output, recording)


def parse_os(output: CollectorOutput, recording: Recording) -> Found:
    """host.os from os-release: ID and VERSION_ID, such as debian-12 (os-release(5))."""
    if output.status != 0:
        return {"host.os": failure(output, recording, "reading os-release")}
    values: dict[str, str] = {}
    for line in output.stdout.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            try:
                values[name] = "".join(shlex.split(value))
            except ValueError:
                continue  # A line that no shell could read either; the two that matter are checked below.
    system, version = values.get("ID", ""), values.get("VERSION_ID", "")
    if not _WORD.fullmatch(system):
        return {"host.os": odd(output, "os-release")}
    if not _WORD.fullmatch(version):
        return {"host.os": Unknown(f"os-release of {system} names no VERSION_ID (a rolling release?)")}
    return {"host.os": Known(f"{system}-{version}")}


def parse_arch(output: CollectorOutput, recording: Recording) -> Found:
    """host.arch from dpkg, or from the kernel's machine name."""
    if output.status != 0:
        return {"host.arch": failure(output, recording, "asking for the architecture")}
    text = output.stdout.strip()
    text = _ARCHES.get(text, text)
    return {"host.arch": Known(text) if re.fullmatch(r"[a-z][a-z0-9-]*", text) else odd(output, "the architecture")}


def parse_boot(output: CollectorOutput, recording: Recording) -> Found:
    """host.boot_id and host.uptime from /proc."""
    if output.status != 0:
        reason = failure(output, recording, "reading /proc")
        return {"host.boot_id": reason, "host.uptime": reason}
    lines = output.stdout.split("\n")
    boot_id = lines[0].strip()
    uptime = re.match(r"(\d{1,12})(?:\.\d+)?(?: |$)", lines[1]) if len(lines) > 1 else None
    return {
        "host.boot_id": Known(boot_id) if _BOOT_ID.fullmatch(boot_id) else odd(output, "the boot id"),
        "host.uptime": Known(int(uptime[1])) if uptime else odd(output, "/proc/uptime"),
    }


COLLECTORS = (
    Collector(name="root", command=fixed("id -u"), gives=(), parse=parse_root, limit=0),
    Collector(name="name", command=fixed("uname -n"), gives=("host.name",), parse=parse_name, limit=0),
    Collector(
        name="os",
        command=fixed("cat /etc/os-release 2>/dev/null || cat /usr/lib/os-release"),
        gives=("host.os",),
        parse=parse_os,
        limit=0,
    ),
    Collector(
        name="arch",
        command=fixed("if command -v dpkg >/dev/null 2>&1; then dpkg --print-architecture; else uname -m; fi"),
        gives=("host.arch",),
        parse=parse_arch,
        limit=0,
    ),
    Collector(name="kernel", command=fixed("uname -r"), gives=("host.kernel.release",), parse=parse_kernel, limit=0),
    Collector(
        name="boot",
        command=fixed("cat /proc/sys/kernel/random/boot_id /proc/uptime"),
        gives=("host.boot_id", "host.uptime"),
        parse=parse_boot,
        limit=0,
    ),
)
