"""The one script of a probe: all collectors at once on the host, each with its time limit, output framed in order.

It runs in any POSIX shell (dash, busybox), needs no python, and leaves nothing behind: its folder is in memory where
the host has /dev/shm, and goes with it.
"""

import shlex
from collections.abc import Sequence

from gpuprov.probe.collector import Collector
from gpuprov.probe.redaction import redaction_script
from gpuprov.probe.request import ProbeRequest

# Why a FIFO: a program that hangs in the kernel cannot be ended, and `wait` for it would never return. Each collector
# says on the FIFO that it has ended; so does the watchdog when time is over; the script waits for these lines alone.
_HEAD = """\
set -u
LC_ALL=C.UTF-8; LANG=C.UTF-8; export LC_ALL LANG; unset LANGUAGE
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:${PATH:-}; export PATH
umask 077
T=@TOKEN@
R=@REDACTION@
export R
read -r up _ </proc/uptime
printf '\\n%s start %s\\n' "$T" "$up"
d=
for t in /dev/shm /run /tmp /var/tmp; do
  d=$(mktemp -d "$t/gpuprov.XXXXXX" 2>/dev/null) && break
done
[ -n "$d" ] || { echo 'no folder for temporary files: /dev/shm, /run, /tmp and /var/tmp refuse one' >&2; exit 71; }
trap 'rm -rf "$d"' EXIT
trap 'exit 129' HUP INT TERM
mkfifo "$d/fifo" || exit 71
exec 9<>"$d/fifo"
limiter=
timeout -k 1 1 true 2>/dev/null && limiter='timeout -k 2'
n=100; pids=
job() {
  n=$((n+1))
  {
    printf '\\n%s out %s\\n' "$T" "$1"
    printf '\\n%s err %s\\n' "$T" "$1" >&2
    if [ "$2" -gt 0 ] && [ -n "$limiter" ]; then $limiter "$2" sh -c "$3" 9>&-; else ( eval "$3" ) 9>&-; fi
    printf '\\n%s end %s %s\\n' "$T" "$1" "$?" >&2
    echo e >&9
  } </dev/null >"$d/$n.a" 2>"$d/$n.b" &
  pids="$pids $!"
}
"""
_TAIL = """\
{ sleep @LIMIT@ & s=$!; trap 'kill $s' TERM; wait $s && echo t >&9; } </dev/null >/dev/null 2>&1 &
w=$!
left=$((n-100))
while [ "$left" -gt 0 ]; do
  read -r x <&9 || break
  [ "$x" = t ] && break
  left=$((left-1))
done
kill "$w" 2>/dev/null
[ "$left" -gt 0 ] && kill $pids 2>/dev/null
cat "$d"/*.[ab]
read -r up _ </proc/uptime
printf '\\n%s finish %s\\n' "$T" "$up"
"""


def build_script(collectors: Sequence[Collector], request: ProbeRequest, *, token: str, limit: int) -> str:
    """Build the script.

    Args:
        collectors: which; their output comes in this order.
        request: what they look at.
        token: a word that appears in no output; it begins every frame line.
        limit: seconds for all collectors together; those that have not ended are given up then.
    """
    head = _HEAD.replace("@TOKEN@", shlex.quote(token)).replace("@REDACTION@", shlex.quote(redaction_script()))
    jobs = [f"job {shlex.quote(c.name)} {min(c.limit, limit)} {shlex.quote(c.command(request))}\n" for c in collectors]
    return head + "".join(jobs) + _TAIL.replace("@LIMIT@", str(limit))


WRAPPER = 's=$(cat); eval "$s"'
"""The command that takes the script on its standard input: an argument would be limited to 128 KiB, and a pipe into
`sh` would let a collector read the script as its own input."""
