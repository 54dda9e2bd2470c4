"""The driver as kernel modules: the one that is loaded, those on disk, and the one that the next boot loads."""

import re
from collections.abc import Mapping

from gpuprov.model.fact import Absent, Known, Observation, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, odd
from gpuprov.probe.collectors.kernels import parse_kernels

_LOADED = """\
[ -d /proc/sys ] || { echo 'no /proc here' >&2; exit 1; }
if [ -e /proc/driver/nvidia/version ]; then echo 'proc '; cat /proc/driver/nvidia/version || exit 1; fi
if [ -e /sys/module/nvidia/version ]; then echo 'sys '; cat /sys/module/nvidia/version || exit 1; fi
echo 'end '
"""
_NVRM = re.compile(
    r"NVRM version: NVIDIA UNIX (?P<open>Open Kernel Module for )?.*?\s(?P<version>\d{3,}(?:\.\d+)+)(?:\s|$)"
)

# Names: nvidia.ko everywhere; Debian's packages call theirs nvidia-current.ko, nvidia-tesla-535.ko and so on.
# Without kmod the .modinfo section is read as text.
_MODULE = r"""
printf 'running %s\n' "$(uname -r)"
for m in /lib/modules/*; do
  [ -d "$m" ] || continue
  k=${m##*/}
  printf 'kernel %s\n' "$k"
  for f in "$m"/*/nvidia*.ko* "$m"/*/*/nvidia*.ko* "$m"/kernel/drivers/video/nvidia*.ko*; do
    [ -e "$f" ] || continue
    b=${f##*/}
    case $b in
      *-drm.ko*|*-uvm.ko*|*-modeset.ko*|*-peermem.ko*|*-vgpu-*.ko*|nvidia-cspmu.ko*|nvidiafb.ko*) continue ;;
      nvidia.ko*|nvidia-current.ko*|nvidia-current-open.ko*|nvidia-tesla*.ko*|nvidia-legacy*.ko*) ;;
      *) continue ;;
    esac
    printf 'module %s\n' "$f"
    if command -v modinfo >/dev/null 2>&1; then modinfo "$f"
    else case $b in *.ko) tr '\000' '\n' <"$f" | grep -a -E '^(version|license)=' | sed 's/=/: /' ;; esac
      echo 'sig_id: unread'; fi
  done
done
echo end
"""
_FIELD = re.compile(r"(version|license|signer|sig_id|sig_key|signat):\s+(\S.*?)\s*")


def parse_loaded(output: CollectorOutput, recording: Recording) -> Found:
    """stack.driver.loaded and stack.driver.modules; the flavour is that of the module on disk when none is loaded."""
    if output.status != 0 or not output.stdout.rstrip().endswith("end"):
        reason = failure(output, recording, "reading the loaded driver")
        return {"stack.driver.loaded": reason, "stack.driver.modules": reason}
    parts = re.split(r"^(proc|sys|end) \n", output.stdout, flags=re.MULTILINE)
    texts = dict(zip(parts[1::2], parts[2::2], strict=False))
    if "proc" not in texts and "sys" not in texts:
        return {"stack.driver.loaded": Absent(), "stack.driver.modules": _flavour_on_disk(recording)}
    return _loaded(texts.get("proc"), texts.get("sys"), output)


def _loaded(proc: str | None, sys: str | None, output: CollectorOutput) -> Found:
    nvrm = _NVRM.search(proc) if proc is not None else None
    versions = {nvrm["version"]} if nvrm else set()
    if sys is not None and re.fullmatch(r"\d+(?:\.\d+)+", sys.strip()):
        versions.add(sys.strip())
    if len(versions) != 1:
        text = f"/proc and /sys disagree: {', '.join(sorted(versions))}"
        version: Observation = Unknown(text) if versions else odd(output, "the loaded driver's version")
    else:
        version = Known(versions.pop())
    flavour: Observation = (
        Known("open" if nvrm["open"] else "proprietary")
        if nvrm
        else Unknown("/proc/driver/nvidia/version does not tell")
    )
    return {"stack.driver.loaded": version, "stack.driver.modules": flavour}


def _flavour_on_disk(recording: Recording) -> Observation:
    found = module_on_disk(recording)
    if isinstance(found, Absent | Unknown):
        return found
    # The open modules say "Dual MIT/GPL", the proprietary ones "NVIDIA" (NVIDIA/open-gpu-kernel-modules, .run files).
    known = {"Dual MIT/GPL": "open", "MIT/GPL": "open", "NVIDIA": "proprietary"}
    flavour = known.get(found.get("license", ""))
    return Known(flavour) if flavour else Unknown(f"the module's licence is {found.get('license', 'not told')!r}")


_Module = dict[str, str]


class _Disk:
    """What lies in /lib/modules."""

    def __init__(self, running: str) -> None:
        self.running = running
        self.kernels: dict[str, list[_Module]] = {}


def _read(output: CollectorOutput) -> _Disk | None:
    """Read the collector's lines; None when they have another form."""
    lines = output.stdout.splitlines()
    if not lines or lines[-1] != "end" or not lines[0].startswith("running "):
        return None
    disk = _Disk(lines[0].removeprefix("running "))
    modules: list[_Module] | None = None
    for line in lines[1:-1]:
        if line.startswith("kernel "):
            modules = disk.kernels.setdefault(line.removeprefix("kernel "), [])
        elif modules is None:
            return None
        elif line.startswith("module "):
            modules.append({"path": line.removeprefix("module ")})
        elif modules and (found := _FIELD.fullmatch(line)):
            modules[-1].setdefault(found[1], found[2])
    return disk


def _chosen(disk: _Disk) -> _Module | Absent | Unknown:
    """The module that the kernel would load.

    It is the running kernel's; a kernel without a folder of its own in /lib/modules is none of the host's packages (a
    container, a kernel given from outside), and the newest installed kernel counts.
    """
    if disk.running in disk.kernels:
        modules = disk.kernels[disk.running]
    elif disk.kernels:
        modules = disk.kernels[max(disk.kernels, key=_order)]
    else:
        return Absent()
    return _first(modules)


def _first(modules: list[_Module]) -> _Module | Absent | Unknown:
    if not modules:
        return Absent()
    # depmod.d(5): what lies in updates/ goes before the rest.
    first = [m for m in modules if "/updates/" in m["path"]] or modules
    versions = {m.get("version", "") for m in first}
    if len(versions) > 1:
        return Unknown(f"several modules for one kernel: {', '.join(m['path'] for m in first)}")
    return first[0]


def _order(kernel: str) -> list[tuple[int, int, str]]:
    return [(1, int(p), "") if p.isdecimal() else (0, 0, p) for p in re.findall(r"[0-9]+|[^0-9]+", kernel)]


def parse_module(output: CollectorOutput, recording: Recording) -> Found:
    """The module on disk of the running kernel, of every kernel (A14), of the next boot's (A13), and who signed it."""
    disk = _read(output) if output.status == 0 else None
    if disk is None:
        return dict.fromkeys(MODULE_GIVES, failure(output, recording, "looking for driver modules"))
    found = _chosen(disk)
    kernels: dict[str, Value] = {
        kernel: modules[0].get("version", "?") for kernel, modules in sorted(disk.kernels.items()) if modules
    }
    return {
        "stack.driver.on_disk": _version(found),
        "stack.driver.kernels": Known(kernels) if kernels else Absent(),
        "stack.driver.next_boot": _next_boot(disk, recording),
        "stack.driver.signer": found if isinstance(found, Absent | Unknown) else signer_of(found),
    }


def _version(found: _Module | Absent | Unknown) -> Observation:
    if isinstance(found, Absent | Unknown):
        return found
    return Known(found["version"]) if "version" in found else Unknown(f"{found['path']} does not tell its version")


def signer_of(module: Mapping[str, str]) -> Observation:
    """Who signed a module; Absent for an unsigned one."""
    if "signer" in module:
        return Known(module["signer"])
    signed = "sig_id" in module or "signat" in module
    return Unknown("the module's signer is not shown: kmod is missing or too old") if signed else Absent()


def _next_boot(disk: _Disk, recording: Recording) -> Observation:
    """The module of the kernel that the boot loader takes next; Absent when that kernel has none."""
    kernels = recording.collectors.get("kernels")
    if kernels is None:
        return Unknown("the recording holds no output of the collector kernels")
    seen = parse_kernels(kernels, recording)
    kernel, installed = seen["host.kernel.next"], seen["host.kernel.installed"]
    if isinstance(kernel, Known):
        return _version(_first(disk.kernels.get(str(kernel.value), [])))
    if isinstance(kernel, Absent):
        return _version(_chosen(disk))  # The host boots no kernel of its own: the next one is like this one.
    # Which kernel comes next does not matter where all of them have the same module.
    names = installed.value if isinstance(installed, Known) and isinstance(installed.value, list) else []
    versions = [_version(_first(disk.kernels.get(str(name), []))) for name in names]
    same = bool(versions) and all(version == versions[0] for version in versions)
    return versions[0] if same else kernel


def module_on_disk(recording: Recording) -> Mapping[str, str] | Absent | Unknown:
    """The fields of the module that the running kernel would load."""
    output = recording.collectors.get("module")
    if output is None:
        return Unknown("the recording holds no output of the collector module")
    disk = _read(output) if output.status == 0 else None
    return failure(output, recording, "looking for driver modules") if disk is None else _chosen(disk)


MODULE_GIVES = ("stack.driver.on_disk", "stack.driver.kernels", "stack.driver.next_boot", "stack.driver.signer")

COLLECTORS = (
    Collector(
        name="loaded",
        command=fixed(_LOADED),
        gives=("stack.driver.loaded", "stack.driver.modules"),
        parse=parse_loaded,
        limit=0,
    ),
    Collector(name="module", command=fixed(_MODULE), gives=MODULE_GIVES, parse=parse_module),
)
