"""GPUs as the driver tells of them: one call of nvidia-smi for all their settings."""

import re

from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, first_line, fixed, is_missing, need, odd
from gpuprov.probe.collectors.pci import bus_address, parse_pci
from gpuprov.probe.collectors.per_gpu import settle
from gpuprov.probe.collectors.smi_fields import FIELDS, VERSION, Row, read_field

GIVES = ("stack.driver.nvml", "gpu.models", "gpu.lost", *FIELDS, "gpu.mig_devices", "gpu.vgpu")
NEEDS_DRIVER = (
    # nvidia-smi loads the driver when it is not loaded; a probe must not. WSL has no module of its own (A28): there
    # /dev/dxg stands for it.
    "[ -e /proc/driver/nvidia/version ] || [ -e /dev/dxg ] || { echo 'gpuprov: no driver is loaded' >&2; exit 9; }; "
)

_FIXED = ("index", "pci.bus_id", "driver_version", "name")
_ASKED = (*_FIXED, *(field for fields in FIELDS.values() for field in fields))

# A driver that does not know a field refuses the whole query (A29): the field's group is left out then, and the query
# asked again. The first line says what was asked, in order. For the groups that drivers up to 550 refuse (the programs
# of 535.261.03 and 550.163.01, asked 2026-11-30) no call is spent; these tell remapped rows in a query of their own.
# MIG's devices are listed only where MIG is on: its mode is the last column.
_COMMAND = (
    need("nvidia-smi")
    + NEEDS_DRIVER
    + f"f={','.join(_ASKED)}\n"
    + r"""
leave_out() {
  k=
  IFS=,
  for x in $f; do case $x in "$1"|"$1".*) ;; *) k="$k,$x" ;; esac; done
  unset IFS
  f=${k#,}
}
v=; [ -r /sys/module/nvidia/version ] && read -r v </sys/module/nvidia/version
old=
case ${v%%.*} in [1-4]??|5[0-4]?|550) old=1; leave_out gpu_recovery_action; leave_out remapped_rows ;; esac
for try in 1 2 3 4 5 6 7 8; do
  o=$(nvidia-smi --query-gpu="$f" --format=csv,noheader); s=$?
  case $o in 'Field "'*'" is not a valid field to query'*) ;; *) break ;; esac
  b=${o#Field \"}; b=${b%%\"*}; g=$f
  leave_out "${b%%.*}"
  [ "$f" != "$g" ] || break
done
printf 'fields %s\n%s\n' "$f" "$o"
if [ -n "$old" ] && [ "$s" = 0 ]; then
  echo remapped; nvidia-smi --query-remapped-rows=gpu_bus_id,@ROWS@ --format=csv,noheader
fi
case "$o
" in *"Enabled
"*) echo list; nvidia-smi -L || s=$? ;; esac
exit "$s"
""".replace("@ROWS@", ",".join(FIELDS["gpu.remapped_rows"]))
)
_LOST = re.compile(
    r"(?:Unable to determine the device handle for )?GPU *\d*:? *([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)"
)
_LISTED = re.compile(r"GPU (\d+): .+")
_MIG_DEVICE = re.compile(r"\s+MIG (\S+)\s+Device\s+\d+: .*")
_VGPU = re.compile(r"(?:NVIDIA |GRID )?(?P<base>\S+?(?: \S+?)*)-(?P<profile>(?:\d-)?\d+[ABCQ](?:ME)?)")
"""A virtual GPU's name: board and profile, as in `NVIDIA L4-12Q` (NVIDIA vGPU User Guide, vGPU type names)."""


def parse_smi(output: CollectorOutput, recording: Recording) -> Found:
    """All that the driver tells of its GPUs, or why it does not tell (A01, A25, A26, A29)."""
    if without_driver(output):
        # No NVML, and a GPU that no driver runs is in no mode; gpu.devices says what is on the bus.
        return dict.fromkeys(GIVES, Absent())
    head, _, body = output.stdout.partition("\n")
    rest, _, listing = body.partition("\nlist\n")
    table, _, remapped = rest.partition("\nremapped\n")
    rows = _rows(head.removeprefix("fields ").split(","), table) if head.startswith("fields ") else None
    if output.status == 0 and rows:
        return _found(_with_remapped(rows, remapped), listing, recording)
    lost = _lost(output)
    found: Found = dict.fromkeys(GIVES, _trouble(lost, output, recording))
    return found | {"gpu.lost": Known([lost])} if lost else found


def without_driver(output: CollectorOutput) -> bool:
    """Whether a collector that needs nvidia-smi and NEEDS_DRIVER found one of them missing."""
    return is_missing(output) or "gpuprov: no driver is loaded" in output.stderr


def _rows(fields: list[str], table: str) -> list[Row] | None:
    """The table by the order in which its columns were asked for; None when a line is no row of it."""
    lines = [line for line in table.splitlines() if line.strip()]
    rows = [[value.strip() for value in line.split(", ")] for line in lines]
    if not set(_FIXED) <= set(fields) or any(len(row) != len(fields) for row in rows):
        return None
    named: list[Row] = [dict(zip(fields, row, strict=True)) for row in rows]
    indexes = {row["index"] for row in named}
    fits = all(row["index"].isdecimal() and re.fullmatch(r"[0-9A-Fa-f:.]+", row["pci.bus_id"]) for row in named)
    return named if fits and len(indexes) == len(named) else None


def _with_remapped(rows: list[Row], text: str) -> list[Row]:
    """The rows with what a query of its own told of their remapped rows; as they are where it told nothing."""
    fields = FIELDS["gpu.remapped_rows"]
    told: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        bus, *values = (value.strip() for value in line.split(","))
        if len(values) == len(fields):
            told[bus.lower()] = dict(zip(fields, values, strict=True))
    return [{**row, **told.get(row["pci.bus_id"].lower(), {})} for row in rows]


def _found(rows: list[Row], listing: str, recording: Recording) -> Found:
    names: dict[str, Observation] = {row["index"]: read_field("name", row) for row in rows}
    known = sorted(str(seen.value) for seen in names.values() if isinstance(seen, Known))
    bad = [f"GPU {row['index']}: {row['name']}" for row in rows if not isinstance(names[row["index"]], Known)]
    versions = {row["driver_version"] for row in rows}
    version = versions.pop() if len(versions) == 1 else ""
    found: Found = {
        "stack.driver.nvml": Known(version)
        if VERSION.fullmatch(version)
        else Unknown(f"nvidia-smi gives no driver version: {rows[0]['driver_version']}"),
        "gpu.models": Unknown(f"nvidia-smi gives no name for {', '.join(bad)}") if bad else Known([*known]),
        "gpu.lost": Known([bus_address(row["pci.bus_id"]) for row in rows if "[GPU is lost]" in row.values()]),
        "gpu.mig_devices": _mig_devices(rows, listing),
        "gpu.vgpu": settle({index: _vgpu(seen) for index, seen in names.items()}),
    }
    found |= {address: settle({row["index"]: read_field(address, row) for row in rows}) for address in FIELDS}
    if not set(FIELDS["gpu.fabric"]) & set(rows[0]) and _no_switch(recording):
        found["gpu.fabric"] = Absent()  # Where there is no switch, an old driver that cannot tell has nothing to tell.
    return found


def _no_switch(recording: Recording) -> bool:
    bus = recording.collectors.get("pci")
    return bus is not None and parse_pci(bus, recording)["gpu.switches"] == Known(0)


def _vgpu(name: Observation) -> Observation:
    if not isinstance(name, Known):
        return name
    found = _VGPU.fullmatch(str(name.value))
    return Known({"base": found["base"], "profile": found["profile"]}) if found else Absent()


def _mig_devices(rows: list[Row], listing: str) -> Observation:
    """The profiles of each GPU's MIG devices (A22, A23): none where MIG is on without any, Absent where it is off.

    UUIDs are not among them: they change with every creation.
    """
    devices: dict[str, list[str]] = {}
    current = ""
    for line in listing.splitlines():
        if gpu := _LISTED.fullmatch(line):
            current = gpu[1]
            devices[current] = []
        elif (device := _MIG_DEVICE.fullmatch(line)) and current:
            devices[current].append(device[1])
        elif line.strip():
            return Unknown(f"nvidia-smi -L has an unknown line: {first_line(line)}")

    def one(row: Row) -> Observation:
        mode = read_field("gpu.mig", row)
        if mode != Known("enabled"):
            return mode if isinstance(mode, Unknown) else Absent()
        listed = devices.get(row["index"])
        return Unknown("nvidia-smi -L does not list it") if listed is None else Known([*sorted(listed, reverse=True)])

    return settle({row["index"]: one(row) for row in rows})


def _lost(output: CollectorOutput) -> str:
    """The address of a GPU that the driver lost; empty when it does not say so."""
    text = output.stdout + "\n" + output.stderr
    lost = _LOST.search(text)
    if lost is None or not any(word in text for word in ("lost", "Unknown Error", "device handle")):
        return ""
    return bus_address(lost[1])


def _trouble(lost: str, output: CollectorOutput, recording: Recording) -> Unknown:
    text = output.stdout + "\n" + output.stderr
    if "Driver/library version mismatch" in text:
        library = re.search(r"NVML library version: ([\d.]+)", text)
        more = f" (library {library[1]})" if library else ""
        return Unknown(f"NVML refuses: driver and library have different versions{more}; a reboot or reload is pending")
    if lost:
        return Unknown(f"the driver lost GPU {lost}; nvidia-smi tells nothing about the others then")
    if "No devices were found" in text:
        return Unknown("the driver is loaded but finds no GPU that it supports")
    head, _, rest = output.stdout.partition("\n")
    said = rest if head.startswith("fields ") else output.stdout
    bare = CollectorOutput(command=output.command, stdout=said, stderr=output.stderr, status=output.status)
    if output.status == 0:
        return odd(bare, "the answer of nvidia-smi")
    return failure(bare, recording, "nvidia-smi")


LIMIT = 45
"""Seconds: without persistence the driver starts every GPU anew for each program, which takes seconds each."""

COLLECTORS = (Collector(name="smi", command=fixed(_COMMAND), gives=GIVES, parse=parse_smi, limit=LIMIT),)
