"""How a host is tuned: settings of the kernel, limits of users, and a unit for processors and GPUs."""

from typing import Final

from gpuprov.spec.access_checks import HUGEPAGES
from gpuprov.spec.tuning import TuningSpec
from gpuprov.want.files import MARKER
from gpuprov.want.types import FileWant, ServiceWant, TuningWant

SYSCTL_PATH: Final = "/etc/sysctl.d/99-gpuprov.conf"
LIMITS_PATH: Final = "/etc/security/limits.d/99-gpuprov.conf"
UNIT: Final = "gpuprov-tuning"
UNIT_PATH: Final = f"/etc/systemd/system/{UNIT}.service"
WHO: Final = ("*", "root")
"""For whom limits hold: `*` is everybody but root (limits.conf(5))."""
_TO: Final = "/sys/devices/system/cpu/cpufreq"
_NO_GOVERNOR: Final = f"no governor can be chosen here: {_TO} holds no processor"


def tuning_want(tuning: TuningSpec, *, gpus: bool) -> TuningWant:
    """What is wanted of the kernel, of limits, and of processors and GPUs."""
    settings = {key: " ".join(value.split()) for key, value in tuning.sysctl.items()}
    if tuning.hugepages is not None:
        settings[HUGEPAGES] = str(tuning.hugepages)
    return TuningWant(
        settings=dict(sorted(settings.items())),
        limits={item: "unlimited" if value == "-1" else value for item, value in sorted(tuning.limits.items())},
        governor=tuning.governor or "",
        power_limit=tuning.power_limit if gpus else None,
        clocks=tuning.clocks if gpus else None,
    )


def tuning_files(want: TuningWant) -> tuple[FileWant, ...]:
    """The files that hold it over a boot."""
    files = []
    if want.settings:
        lines = [f"{key} = {value}" for key, value in want.settings.items()]
        files.append(FileWant(path=SYSCTL_PATH, text="\n".join([MARKER, *lines, ""])))
    if want.limits:
        rows = [f"{who} {kind} {item} {value}" for item, value in want.limits.items() for who, kind in limit_rows()]
        files.append(FileWant(path=LIMITS_PATH, text="\n".join([MARKER, *rows, ""])))
    if has_unit(want):
        files.append(FileWant(path=UNIT_PATH, text=_unit(want), restarts=(UNIT,)))
    return tuple(files)


def tuning_services(want: TuningWant) -> tuple[ServiceWant, ...]:
    """The unit that sets what no file can, at every boot."""
    return (ServiceWant(name=UNIT, gpu=_needs_gpus(want)),) if has_unit(want) else ()


def is_tuning_file(path: str) -> bool:
    """Whether a path is one of those that hold settings over a boot."""
    return path in {SYSCTL_PATH, LIMITS_PATH, UNIT_PATH}


def limit_rows() -> tuple[tuple[str, str], ...]:
    """Who and which kind: every limit is written soft and hard, for everybody and for root."""
    return tuple((who, kind) for who in WHO for kind in ("soft", "hard"))


def has_unit(want: TuningWant) -> bool:
    """Whether something is wanted that only a unit can set."""
    return bool(want.governor) or _needs_gpus(want)


def _needs_gpus(want: TuningWant) -> bool:
    return want.power_limit is not None or want.clocks is not None


def _unit(want: TuningWant) -> str:
    """Its stop gives the GPUs' own limit and clocks back; the governor of the boot comes back at the next one."""
    start, stop = [], []
    if want.governor:
        start.append(_sh(f"test -d {_TO}/policy0 || {{ echo {_NO_GOVERNOR} >&2; exit 1; }}; {_each(want.governor)}"))
    if want.power_limit is not None:
        start.append(f"/usr/bin/nvidia-smi --power-limit={want.power_limit}")
        defaults = "nvidia-smi --query-gpu=index,power.default_limit --format=csv,noheader,nounits"
        stop.append(_sh(f'{defaults} | while IFS=", " read -r i w; do nvidia-smi --id=$i --power-limit=$w; done'))
    if want.clocks is not None:
        start.append(f"/usr/bin/nvidia-smi --lock-gpu-clocks={want.clocks},{want.clocks}")
        stop.append("/usr/bin/nvidia-smi --reset-gpu-clocks")
    # systemd takes % and $ for its own (systemd.service(5)).
    lines = [f"ExecStart={_escaped(line)}" for line in start] + [f"ExecStop={_escaped(line)}" for line in stop]
    after = "After=nvidia-persistenced.service\n" if _needs_gpus(want) else ""
    return (
        f"{MARKER}\n[Unit]\nDescription=Settings of processors and GPUs\n{after}\n"
        "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
        + "\n".join(lines)
        + "\n\n[Install]\nWantedBy=multi-user.target\n"
    )


def _each(governor: str) -> str:
    return f"for f in {_TO}/policy*/scaling_governor; do echo {governor} >$f; done"


def _sh(script: str) -> str:
    return f"/bin/sh -ec '{script}'"


def _escaped(line: str) -> str:
    return line.replace("%", "%%").replace("$", "$$")
