"""Kernel settings and limits of users: what is in force, and what the files say."""

import re

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, lines_of_files, unknown
from gpuprov.probe.request import ProbeRequest

SYSCTL_GIVES = ("sysctl[*].value", "sysctl[*].configured")

KEYS = (
    "fs.inotify.max_user_instances",
    "fs.nr_open",
    "fs.protected_hardlinks",
    "kernel.kptr_restrict",
    "kernel.numa_balancing",
    "kernel.panic",
    "kernel.perf_event_paranoid",
    "kernel.pid_max",
    "kernel.randomize_va_space",
    "kernel.sched_autogroup_enabled",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.unprivileged_userns_clone",
    "kernel.yama.ptrace_scope",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "vm.dirty_background_ratio",
    "vm.dirty_ratio",
    "vm.max_map_count",
    "vm.overcommit_memory",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
)
"""Always read: those that tuning guides for GPU and HPC hosts change, and whose default does not follow the size of the
memory. Besides them, every key that a file names, and those that the probe is asked for."""

# The files in the order in which they count (sysctl.d(5)): one in /etc hides its namesake in /run and /usr. What a file
# names is read from /proc, so that both are known. A key that is no path of settings is not read.
_SYSCTL = r"""
cd /proc/sys || exit 1
files=
for d in /usr/lib/sysctl.d /usr/local/lib/sysctl.d /run/sysctl.d /etc/sysctl.d; do
  for f in "$d"/*.conf; do [ -f "$f" ] && files="$files $f"; done
done
[ ! -f /etc/sysctl.conf ] || files="$files /etc/sysctl.conf"
[ -z "$files" ] || grep -H -v -E '^[[:space:]]*([#;]|$)' $files || [ $? = 1 ] || exit 1
echo 'running '
keys=$(sed -n -E -e 's/^[[:space:]]*-?[[:space:]]*([A-Za-z0-9_][A-Za-z0-9_./-]*)[[:space:]]*=.*/\1/' \
  -e tkey -e d -e :key -e '/\//!y/./\//' -e p $files </dev/null)
set --
for k in $keys @KEYS@; do
  case " $* " in *" $k "*) ;; *) if [ -e "$k" ]; then set -- "$@" "$k"; else echo "none $k"; fi ;; esac
done
grep -s -H '' /dev/null "$@"
echo end
"""
_KEY = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_-]+)+")
_SETTING = re.compile(r"-?\s*([A-Za-z0-9_][A-Za-z0-9_./*-]*)\s*=\s*(.*?)\s*")


def sysctl_command(request: ProbeRequest) -> str:
    """Look at the settings that are always read, and at those that are asked for."""
    keys = sorted({*KEYS, *(key for key in request.settings if _KEY.fullmatch(key))})
    return _SYSCTL.replace("@KEYS@", " ".join(key.replace(".", "/") for key in keys))


def parse_sysctl(output: CollectorOutput, recording: Recording) -> Found:
    """value: in force now. configured: what the next boot sets, by the files' order; Absent where no file sets it."""
    head, mark, tail = output.stdout.partition("running \n")
    if not ended(output) or not mark:
        return unknown(SYSCTL_GIVES, failure(output, recording, "reading /proc/sys").reason)
    running: dict[str, list[str]] = {}
    missing = {line.removeprefix("none ").replace("/", ".") for line in tail.split("\n") if line.startswith("none ")}
    for line in tail.removesuffix("end\n").split("\n"):
        path, colon, value = line.partition(":")
        if colon:
            running.setdefault(path.replace("/", "."), []).append(re.sub(r"\s+", " ", value).strip())
    if not running:
        return unknown(SYSCTL_GIVES, "none of the kernel's settings could be read")
    configured = _configured(head)
    found: Found = {"sysctl[*]": Unknown("the probe does not read this setting")}
    for key in sorted({*KEYS, *missing, *running, *configured}):
        now: Observation = Known(" ".join(running[key])) if key in running else Absent()
        found[member_address("sysctl", key, "value")] = now
        found[member_address("sysctl", key, "configured")] = Known(configured[key]) if key in configured else Absent()
    return found


def _configured(text: str) -> dict[str, str]:
    """Key -> value, as systemd-sysctl sets them: by the files' names, and /etc/sysctl.conf last."""
    chosen: dict[str, list[str]] = {}
    for path, lines in lines_of_files(text).items():
        folder, _, name = path.rpartition("/")
        # The later folder in the script's order hides the same name of an earlier one; sysctl.conf has no namesake.
        chosen["~" if folder == "/etc" else name] = lines
    configured = {}
    for name in sorted(chosen):
        for line in chosen[name]:
            found = _SETTING.fullmatch(line.strip())
            if found is not None and "*" not in found[1]:
                key = found[1] if "/" not in found[1] else found[1].replace("/", ".")
                configured[key] = re.sub(r"\s+", " ", found[2])
    return configured


_LIMITS = r"""
[ -d /etc/security ] || { echo none; exit 0; }
set --
for f in /etc/security/limits.conf /etc/security/limits.d/*.conf; do [ -f "$f" ] && set -- "$@" "$f"; done
[ $# = 0 ] || grep -h -v -E '^[[:space:]]*(#|$)' "$@" || [ $? = 1 ] || exit 1
echo end
"""
_LIMIT = re.compile(r"(\S+)\s+(soft|hard|-)\s+([a-z]+)\s+(\S+)(?:\s+#.*)?")


def parse_limits(output: CollectorOutput, recording: Recording) -> Found:
    """limit["WHO TYPE ITEM"].value of limits.conf(5); the later of two lines counts. `-` is both soft and hard."""
    if output.stdout == "none\n" and output.status == 0:
        return {"limit[*]": Absent()}
    if not ended(output):
        return unknown(("limit[*].value",), failure(output, recording, "reading limits").reason)
    found: Found = {"limit[*]": Absent()}
    rows = [row for line in output.stdout.split("\n") if (row := _LIMIT.fullmatch(line.strip())) is not None]
    for who, kind, item, value in (row.groups() for row in rows):
        for each in ("soft", "hard") if kind == "-" else (kind,):
            found[member_address("limit", f"{who} {each} {item}", "value")] = Known(value)
    return found


COLLECTORS = (
    Collector(
        name="sysctl",
        command=sysctl_command,
        gives=SYSCTL_GIVES,
        parse=parse_sysctl,
    ),
    Collector(name="limits", command=fixed(_LIMITS), gives=("limit[*].value",), parse=parse_limits, limit=0),
)
