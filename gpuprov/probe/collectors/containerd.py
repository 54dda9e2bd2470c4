"""containerd: its version, and its configuration as it reads it, with everything that the file imports."""

import re
from collections.abc import Mapping

from gpuprov.model.fact import Absent, Known, Observation, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, is_missing, need

GIVES = (
    "stack.containerd.version",
    "stack.containerd.cri",
    "stack.containerd.runtimes",
    "stack.containerd.default_runtime",
    "stack.containerd.registry",
    "stack.containerd.cdi",
)

# The merged configuration counts, not the file (A18); without a file, which `dump` wants (1.6.20, tried 2026-11-30),
# the built-in one. Only these lines of it travel: registries' logins are in it too.
_COMMAND = (
    need("containerd")
    + r"""
containerd --version || exit 1
w=dump; [ -e /etc/containerd/config.toml ] || w=default
c=$(containerd config "$w") || exit 1
printf '%s\n' "$c" | sed -n -E \
  -e '/^[[:space:]]*\[/{/cri/!s/.*/[other]/;p;}' \
  -e '/^[[:space:]]*(version|disabled_plugins|runtime_type|BinaryName|default_runtime_name|config_path|enable_cdi) = /p'
echo end
"""
)
_VERSION = re.compile(r"containerd \S+ v?(\d+(?:\.\d+)+\S*)")
_CRI = r"""\[plugins\.['"]?io\.containerd\.(?:grpc\.v1\.cri|cri\.v1\.(?:runtime|images))['"]?"""
_RUNTIME = re.compile(_CRI + r"""\.containerd\.runtimes\.['"]?(?P<name>[^'".\]]+)['"]?\]""")
_PLACES = {
    "default_runtime_name": re.compile(_CRI + r"\.containerd\]"),
    "config_path": re.compile(_CRI + r"\.registry\]"),
    "enable_cdi": re.compile(_CRI + r"\]"),
}
_PAIR = re.compile(r"(?P<key>\w+) = (?P<value>.*)")


def parse_containerd(output: CollectorOutput, recording: Recording) -> Found:
    """The version; whether Kubernetes' interface is on; and what it has: runtimes with their types, registries, CDI."""
    if is_missing(output):
        return dict.fromkeys(GIVES, Absent())
    version = _VERSION.search(output.stdout)
    found: Found = {
        "stack.containerd.version": Known(version[1]) if version else failure(output, recording, "containerd --version")
    }
    if not ended(output):
        return dict.fromkeys(GIVES, failure(output, recording, "containerd config dump")) | (found if version else {})
    disabled, runtimes, values = _read(output.stdout)
    off = any(name in disabled for name in ('"cri"', "'cri'", "io.containerd.grpc.v1.cri"))
    found["stack.containerd.cri"] = Known(not off)
    if off:
        return dict.fromkeys(GIVES[2:], Absent()) | found
    return found | {
        "stack.containerd.runtimes": Known({**runtimes}) if runtimes else Unknown("the dump has no runtime"),
        "stack.containerd.default_runtime": _text(values.get("default_runtime_name")),
        "stack.containerd.registry": _text(values.get("config_path")),
        "stack.containerd.cdi": Absent() if "enable_cdi" not in values else Known(values["enable_cdi"] == "true"),
    }


def _read(text: str) -> tuple[str, Mapping[str, Value], Mapping[str, str]]:
    """The list of disabled plugins, each runtime's type (`none` without one), and the single values."""
    disabled, place = "", ""
    runtimes: dict[str, Value] = {}
    values: dict[str, str] = {}
    for line in (raw.strip() for raw in text.splitlines()):
        if line.startswith("["):
            place = line
            if runtime := _RUNTIME.fullmatch(line):
                runtimes.setdefault(runtime["name"], "none")
        elif pair := _PAIR.fullmatch(line):
            key, value = pair["key"], pair["value"]
            runtime = _RUNTIME.fullmatch(place)
            if key == "disabled_plugins":
                disabled = value
            elif key == "runtime_type" and runtime:
                runtimes[runtime["name"]] = value.strip("'\"") or "none"
            elif key in _PLACES and _PLACES[key].fullmatch(place):
                values[key] = value
    return disabled, runtimes, values


def _text(value: str | None) -> Observation:
    text = (value or "").strip("'\"")
    return Known(text) if text else Absent()


COLLECTORS = (Collector(name="containerd", command=fixed(_COMMAND), gives=GIVES, parse=parse_containerd),)
