"""Who is at work on the host: programs that hold apt's and dpkg's locks, and what holds the GPUs."""

import re

from gpuprov.model.fact import Absent, Known, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, odd

LOCKS = (
    "/var/lib/dpkg/lock-frontend",
    "/var/lib/dpkg/lock",
    "/var/lib/apt/lists/lock",
    "/var/cache/apt/archives/lock",
    "/run/unattended-upgrades.lock",
)
"""Locks of dpkg, of apt (apt-get(8), FILES), and of unattended-upgrade while it works."""

# Of a command line two words travel: they name the program, and a script's own name; arguments may hold secrets.
_TELL = r"""
tell() {
  u=$(stat -c %U "/proc/$1" 2>/dev/null) || return 0
  c=$(tr '\000' ' ' <"/proc/$1/cmdline" | cut -d ' ' -f 1-2)
  [ -n "$c" ] || read -r c <"/proc/$1/comm"
  printf 'pid %s %s %s\n' "$1" "$u" "$c"
}
"""
# /proc/locks names a file by number alone, and numbers are unique within one file system only: the holder must have
# the file open too, where that can be seen.
_BUSY = (
    _TELL
    + r"""
[ -r /proc/locks ] || { echo 'no /proc/locks here' >&2; exit 1; }
set --
for f in @LOCKS@; do [ -e "$f" ] && set -- "$@" "$f"; done
n=
[ $# = 0 ] || n=$(stat -c '%i %n' "$@") || exit 1
printf '%s\n' "$n" | while read -r i f; do
  while read -r _ _ _ w p d _; do
    [ "$w" = WRITE ] && [ "${d##*:}" = "$i" ] || continue
    if [ -r "/proc/$p/fd" ]; then [ -n "$(find "/proc/$p/fd" -lname "$f" 2>/dev/null)" ] || continue; fi
    printf 'lock %s\n' "$f"; tell "$p"
  done </proc/locks
done
echo end
""".replace("@LOCKS@", " ".join(LOCKS))
)
_PID = re.compile(r"pid (\d{1,10}) (\S+) (.+)")


def parse_busy(output: CollectorOutput, recording: Recording) -> Found:
    """apt.busy: the locks that somebody holds now, each with process, user and command (A38)."""
    if not ended(output):
        return {"apt.busy": failure(output, recording, "looking for apt's locks")}
    rows: list[Value] = []
    file = ""
    for line in output.stdout.removesuffix("end\n").splitlines():
        found = _PID.fullmatch(line)
        if line.startswith("lock "):
            file = line.removeprefix("lock ")
        elif found is not None and file:
            rows.append({"file": file, "pid": found[1], "user": found[2], "command": found[3].strip()})
        else:
            return {"apt.busy": odd(output, "the list of apt's locks")}
    return {"apt.busy": Known(rows)}


# Open files tell, as fuser(1) sees them: nvidia-smi does not name graphics programs, nor what a container hides.
_USERS = (
    _TELL
    + r"""
set -- /dev/nvidia[0-9]*
[ -e "$1" ] || { echo none; exit 0; }
[ -r /proc/1/fd ] || { echo '/proc/1/fd: Permission denied' >&2; exit 1; }
p=$(find /proc/[0-9]*/fd -lname "/dev/nvidia[0-9]*" 2>/dev/null | sed -E 's#.*/proc/([0-9]+)/fd/.*#\1#' | sort -n -u)
for p in $p; do
  tell "$p"
  g=$(sed -n -E 's/^(0:|[0-9]+:name=systemd):(.*)/\2/p' "/proc/$p/cgroup" 2>/dev/null | sort | tail -n 1)
  printf 'group %s\n' "$g"
  i=$(printf '%s\n' "$g" | sed -n -E 's/.*[^0-9a-f]([0-9a-f]{64}).*/\1/p')
  n= j=/var/lib/docker/containers/$i/config.v2.json
  [ -z "$i" ] || n=$(sed -n -E 's/.*"Name":"\/([^"]*)".*/\1/p' "$j" 2>/dev/null)
  [ -z "$n" ] || printf 'name %s\n' "$n"
done
echo end
"""
)
_CONTAINER = re.compile(r".*[^0-9a-f]([0-9a-f]{64})(?:\.scope)?(?:/.*)?")
_JOB = re.compile(r".*/(?:slurmstepd\.scope|slurm[^/]*)/(?:uid_\d+/)?job_(\d+)(?:/.*)?")
_SERVICE = re.compile(r"/system\.slice/(?:.*/)?([^/]+)\.service(?:/.*)?")
_SHORT = 12
"""Digits of a container's id, as `docker ps` shows it."""


def parse_users(output: CollectorOutput, recording: Recording) -> Found:
    """gpu.users: what has a GPU open: process, user, command, and the container, job or service that it belongs to."""
    if output.stdout == "none\n" and output.status == 0:
        return {"gpu.users": Absent()}
    if not ended(output):
        return {"gpu.users": failure(output, recording, "looking for what holds the GPUs")}
    rows: list[Value] = []
    row: dict[str, Value] = {}
    for line in output.stdout.removesuffix("end\n").splitlines():
        if found := _PID.fullmatch(line):
            row = {"pid": found[1], "user": found[2], "command": found[3].strip(), "kind": "process", "name": ""}
            rows.append(row)
        elif line.startswith("group ") and row:
            kind, name = _kind(line.removeprefix("group "))
            row.update(kind=kind, name=name)
        elif line.startswith("name ") and row:
            row["name"] = line.removeprefix("name ")
        elif not line.startswith("group "):  # of a process that ended while it was looked at
            return {"gpu.users": odd(output, "the list of what holds the GPUs")}
    return {"gpu.users": Known(rows)}


def _kind(group: str) -> tuple[str, str]:
    """What a process belongs to, by its control group, as systemd, Docker, containerd, Podman and Slurm name it."""
    if found := _CONTAINER.fullmatch(group):
        return "container", found[1][:_SHORT]
    if found := _JOB.fullmatch(group):
        return "job", found[1]
    if found := _SERVICE.fullmatch(group):
        return "service", found[1]
    return "process", ""


COLLECTORS = (
    Collector(name="busy", command=fixed(_BUSY), gives=("apt.busy",), parse=parse_busy),
    Collector(name="users", command=fixed(_USERS), gives=("gpu.users",), parse=parse_users),
)
