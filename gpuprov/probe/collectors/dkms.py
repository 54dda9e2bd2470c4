"""DKMS: for which kernels the driver's module was built and installed."""

import re

from gpuprov.model.fact import Absent, Known, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, first_line, fixed, odd

GIVES = ("stack.driver.dkms",)

# The state lies in folders and links (dkms(8)); reading them costs nothing, where `dkms status` starts a program for
# each line. The lines are those of `dkms status`, so that its own output can be replayed too.
_COMMAND = r"""
[ -e /var/lib/dkms ] || { echo end; exit 0; }
cd /var/lib/dkms || exit 1
for m in nvidia*; do
  for v in "$m"/*; do
    [ -L "$v/source" ] || [ -d "$v/source" ] || continue
    [ -e "$v/source/dkms.conf" ] || { echo "Error! Could not locate dkms.conf file. $v"; continue; }
    n=
    for b in "$v"/*/*/module; do
      [ -d "$b" ] || continue
      k=${b#"$v"/}; a=${k#*/}; a=${a%/module}; k=${k%%/*}; n=1; s=built
      [ "$m/kernel-$k-$a/module" -ef "$b" ] && s=installed
      echo "$v, $k, $a: $s"
    done
    [ -n "$n" ] || echo "$v: added"
  done
done
echo end
"""
_LINE = re.compile(
    r"(?P<name>nvidia[^\s,/]*)(?:/|, )(?P<version>[^\s,:]+)(?:, (?P<kernel>[^\s,]+), (?P<arch>[^\s,:]+))?: "
    r"(?P<state>added|built|installed)(?P<more>.*)"
)


def parse_dkms(output: CollectorOutput, recording: Recording) -> Found:
    """Kernel -> version and state of the driver's module (A13); Absent when DKMS builds none."""
    if output.status != 0:
        return {GIVES[0]: failure(output, recording, "reading /var/lib/dkms")}
    kernels: dict[str, list[str]] = {}
    for line in output.stdout.splitlines():
        found = _LINE.fullmatch(line)
        if found is not None:
            more = " with a warning" if "WARNING" in found["more"] else ""
            kernels.setdefault(found["kernel"] or "no kernel", []).append(f"{found['version']} {found['state']}{more}")
        elif line.startswith("Error!"):
            return {GIVES[0]: Unknown(f"dkms: {first_line(line)}")}
        elif line.strip() and line != "end" and line.startswith("nvidia"):
            return {GIVES[0]: odd(output, "the state of DKMS")}
    told: dict[str, Value] = {kernel: ", ".join(sorted(states)) for kernel, states in sorted(kernels.items())}
    return {GIVES[0]: Known(told) if told else Absent()}


COLLECTORS = (Collector(name="dkms", command=fixed(_COMMAND), gives=GIVES, parse=parse_dkms, limit=0),)
