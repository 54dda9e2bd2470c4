"""What the machine is: product, firmware, processors, memory, IOMMU."""

import re

from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, lines_of_files

GIVES = (
    "host.product",
    "host.firmware",
    "host.cpu.model",
    "host.cpu.count",
    "host.cpu.governor",
    "host.memory",
    "host.iommu",
    "host.hugepages",
    "host.hugepages_transparent",
)

# -s: a machine without DMI, IOMMU or huge pages lacks the files, and all of them may be read by anybody. Of
# /proc/cpuinfo a few lines are enough; the processors are counted where the kernel lists those that are online.
_COMMAND = r"""
[ -e /proc/cpuinfo ] && [ -d /sys/devices ] || { echo 'no /proc and /sys here' >&2; exit 1; }
d=/sys/class/dmi/id
grep -s -H '' $d/sys_vendor $d/product_name $d/bios_vendor $d/bios_version \
  /sys/devices/system/cpu/online /sys/devices/system/cpu/cpufreq/policy*/scaling_governor \
  /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/hugepages/*/nr_hugepages
grep -H -m 4 -E '^(model name|CPU implementer|CPU part|MemTotal:)' /proc/cpuinfo /proc/meminfo || exit 1
for i in /sys/class/iommu/*; do [ -e "$i" ] && echo "iommu ${i##*/}"; done
[ ! -e /sys/kernel/iommu_groups/0/type ] || { echo 'groups '; sort -u /sys/kernel/iommu_groups/*/type; }
echo end
"""
_DMI = "/sys/class/dmi/id/"
_RANGES = re.compile(r"\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*")
_HUGE = re.compile(r"/sys/kernel/mm/hugepages/hugepages-(\d{1,12}kB)/nr_hugepages")
_NONE = frozenset({"", "None", "Not Specified", "To Be Filled By O.E.M.", "Default string", "System Product Name"})
"""What vendors leave in a field that they do not fill."""


def parse_hardware(output: CollectorOutput, recording: Recording) -> Found:
    """Everything of one look: each fact is Unknown by itself where its file has another form."""
    if not ended(output):
        return dict.fromkeys(GIVES, failure(output, recording, "reading /proc and /sys"))
    files = lines_of_files(output.stdout)
    return {
        "host.product": _dmi(files, "sys_vendor", "product_name"),
        "host.firmware": _dmi(files, "bios_vendor", "bios_version"),
        "host.cpu.model": _model(files.get("/proc/cpuinfo", [])),
        "host.cpu.count": _count(files.get("/sys/devices/system/cpu/online", [])),
        "host.cpu.governor": _governor(files),
        "host.memory": _memory(files.get("/proc/meminfo", [])),
        "host.iommu": _iommu(output.stdout.split("\n")),
        "host.hugepages": _hugepages(files),
        "host.hugepages_transparent": _transparent(files.get("/sys/kernel/mm/transparent_hugepage/enabled", [])),
    }


def _dmi(files: dict[str, list[str]], *names: str) -> Observation:
    words = [files.get(_DMI + name, [""])[0].strip() for name in names]
    kept = [word for word in words if word not in _NONE]
    return Known(" ".join(kept)) if kept else Absent()


def _model(lines: list[str]) -> Observation:
    """The name; on ARM, which has none there, the numbers of implementer and part."""
    values = [line.partition(":")[::2] for line in lines]
    pairs = {name.strip(): re.sub(r"\s+", " ", value.strip()) for name, value in reversed(values)}
    if pairs.get("model name"):
        return Known(pairs["model name"])
    if "CPU implementer" in pairs and "CPU part" in pairs:
        return Known(f"ARM implementer {pairs['CPU implementer']} part {pairs['CPU part']}")
    return Unknown("/proc/cpuinfo names no model")


def _count(lines: list[str]) -> Observation:
    text = lines[0].strip() if lines else ""
    if not _RANGES.fullmatch(text):
        return Unknown(f"the list of processors has an unknown form: {text or 'empty'}")
    ends = [[int(n) for n in part.split("-")] for part in text.split(",")]
    return Known(sum(max(e[-1] - e[0] + 1, 0) for e in ends))


def _governor(files: dict[str, list[str]]) -> Observation:
    """How the processors choose their frequency; where they differ, all of the ways, sorted."""
    seen = {lines[0].strip() for path, lines in files.items() if path.endswith("/scaling_governor")}
    return Known(" ".join(sorted(seen))) if seen else Absent()


def _memory(lines: list[str]) -> Observation:
    """In MiB: what the kernel has, which is a little less than what is built in."""
    found = re.fullmatch(r"MemTotal:\s+(\d{1,15}) kB", lines[0].strip()) if lines else None
    return Known(int(found[1]) // 1024) if found else Unknown("/proc/meminfo has an unknown form")


def _iommu(lines: list[str]) -> Observation:
    """The types of the groups (identity is passthrough), or `active` where the kernel does not tell them."""
    if not any(line.startswith("iommu ") for line in lines):
        return Absent()
    kinds = sorted(set(lines[lines.index("groups ") + 1 :]) - {"end", ""}) if "groups " in lines else []
    return Known(" ".join(kinds) if kinds else "active")


def _hugepages(files: dict[str, list[str]]) -> Observation:
    """Size -> how many are set aside; which sizes there could be is the processor's matter."""
    sizes = {found[1]: lines[0].strip() for path, lines in files.items() if (found := _HUGE.fullmatch(path))}
    if not sizes:
        return Absent()
    if not all(re.fullmatch(r"\d{1,12}", number) for number in sizes.values()):
        return Unknown("the number of huge pages has an unknown form")
    return Known({size: int(number) for size, number in sorted(sizes.items()) if int(number)})


def _transparent(lines: list[str]) -> Observation:
    if not lines:
        return Absent()
    found = re.search(r"\[([a-z]+)\]", lines[0])
    return Known(found[1]) if found else Unknown("transparent_hugepage/enabled has an unknown form")


COLLECTORS = (Collector(name="hardware", command=fixed(_COMMAND), gives=GIVES, parse=parse_hardware, limit=0),)
