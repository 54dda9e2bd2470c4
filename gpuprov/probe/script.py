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
# Why no timeout(1): it and a shell of its own cost each collector more processor time than most collectors' commands
# (2.8 ms against 0.2 ms for a subshell, measured 2026-11-30). The watchdog ends what takes too long, with all that it
# started, and leaves a mark, so that the status tells. One that has ended is passed over: its number may be another
# process's by then.
# Secrets are replaced once, in everything that travels, messages on standard error included.
_HEAD = r"""
set -u
LC_ALL=C.UTF-8; LANG=C.UTF-8; export LC_ALL LANG; unset LANGUAGE
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:${PATH:-}; export PATH
umask 077
T=@TOKEN@
R=@REDACTION@
export R
read -r up _ </proc/uptime
printf '\n%s start %s\n' "$T" "$up"
d=
for t in /dev/shm /run /tmp /var/tmp; do
  d=$(mktemp -d "$t/gpuprov.XXXXXX" 2>/dev/null) && break
done
[ -n "$d" ] || { echo 'no folder for temporary files: /dev/shm, /run, /tmp and /var/tmp refuse one' >&2; exit 71; }
trap 'rm -rf "$d"' EXIT
trap 'exit 129' HUP INT TERM
mkfifo "$d/fifo" || exit 71
exec 9<>"$d/fifo"
n=100
job() {
  n=$((n+1))
  {
    printf '\n%s out %s\n' "$T" "$1"
    printf '\n%s err %s\n' "$T" "$1" >&2
    ( set +u; c=$2; set --; eval "$c" ) 9>&-
    s=$?
    [ ! -e "$d/$n.over" ] || s=124
    printf '\n%s end %s %s\n' "$T" "$1" "$s" >&2
    echo e >&9
  } </dev/null >"$d/$n.a" 2>"$d/$n.b" &
  eval "p$n=\$!"
}
over() {
  tree=
  for j in "$@"; do
    ! grep -q -F "$T end " "$d/$j.b" || continue
    : >"$d/$j.over"
    eval "tree=\"\$tree \$p$j\""
  done
  [ -n "$tree" ] || return 0
  all=$(cat /proc/[0-9]*/stat 2>/dev/null | sed -n -E 's/^([0-9]+) \(.*\) [A-Za-z] ([0-9]+) .*/\1 \2/p')
  found=; seen=" $tree "; more=1
  while [ -n "$more" ]; do
    more=
    while read -r pid parent; do
      case $seen in *" $pid "*) continue ;; *" $parent "*) seen="$seen$pid "; found="$found $pid"; more=1 ;; esac
    done <<END
$all
END
  done
  [ -n "$found" ] || return 0
  kill $found 2>/dev/null
  sleep 1
  kill -9 $found 2>/dev/null
}
"""
_TAIL = r"""
{
  s=
  trap 'kill $s; exit' TERM
@WATCH@  echo t >&9
} </dev/null >/dev/null 2>&1 &
w=$!
left=$((n-100))
while [ "$left" -gt 0 ]; do
  read -r x <&9 || break
  [ "$x" = t ] && break
  left=$((left-1))
done
kill "$w" 2>/dev/null
cat "$d"/*.[ab] | LC_ALL=C sed -E "$R"
read -r up _ </proc/uptime
printf '\n%s finish %s\n' "$T" "$up"
"""
_FIRST = 101


def build_script(collectors: Sequence[Collector], request: ProbeRequest, *, token: str, limit: int) -> str:
    """Build the script.

    Args:
        collectors: which; their output comes in this order.
        request: what they look at.
        token: a word that appears in no output; it begins every frame line.
        limit: seconds for all collectors together; those that have not ended are given up then.
    """
    head = _HEAD.replace("@TOKEN@", shlex.quote(token)).replace("@REDACTION@", shlex.quote(redaction_script(token)))
    jobs = [f"job {shlex.quote(c.name)} {shlex.quote(c.command(request))}\n" for c in collectors]
    return head + "".join(jobs) + _TAIL.replace("@WATCH@", _watch(collectors, limit))


def _watch(collectors: Sequence[Collector], limit: int) -> str:
    """The watchdog's steps: sleep until the next limit, then end the jobs that it is for."""
    jobs: dict[int, list[int]] = {limit: []}
    for number, collector in enumerate(collectors, start=_FIRST):
        jobs.setdefault(min(collector.limit or limit, limit), []).append(number)
    steps, now = [], 0
    for seconds in sorted(jobs):
        numbers = " ".join(map(str, jobs[seconds]))
        steps.append(f"  sleep {seconds - now} & s=$!; wait $s || exit\n" + (f"  over {numbers}\n" if numbers else ""))
        now = seconds
    return "".join(steps)


WRAPPER = 's=$(cat); eval "$s"'
"""The command that takes the script on its standard input: an argument would be limited to 128 KiB, and a pipe into
`sh` would let a collector read the script as its own input."""
