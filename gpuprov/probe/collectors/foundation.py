"""What a driver's packages meet on the host: a driver that NVIDIA's own installer put there, and headers of kernels."""

import re

from gpuprov.model.fact import Absent, Known
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, odd

# NVIDIA's .run installer leaves its own uninstaller, which no package owns (NVIDIA driver README, "Installing the
# Driver", nvidia-installer(1)), and the list that this needs: version, description, then `0: ` and a link or `1: ` and
# a file (its source of 590.48.01, backup.c, read 2026-11-30). dpkg is asked only where there is one.
_INSTALLER = r"""
f=/usr/bin/nvidia-uninstall
if [ -e "$f" ] || [ -L "$f" ]; then
  if ! command -v dpkg-query >/dev/null 2>&1 || ! dpkg-query -S "$f" >/dev/null 2>&1; then
    printf 'program %s\n' "$f"
    l=/var/log/nvidia-installer.log
    [ ! -r "$l" ] || sed -n -E 's/^installer version: *([0-9.]+)$/version \1/p' "$l" | head -n 1
    b=/var/lib/nvidia/log
    if [ -r "$b" ] && [ -x "$f" ]; then
      sed -n -E '1s/^([0-9.]+)$/version \1/p' "$b"
      printf 'files %s\n' "$(grep -c '^[01]: /' "$b")"
    fi
  fi
fi
echo end
"""
_HEADERS = r"""
for m in /lib/modules/*; do
  [ ! -e "$m/build/Makefile" ] || printf '%s\n' "${m##*/}"
done
echo end
"""


def parse_installer(output: CollectorOutput, recording: Recording) -> Found:
    """stack.driver.installer: the uninstaller of a driver that came by a .run file, that driver's version, its files.

    `files` is there only where the uninstaller can work: it is a program, and has its list.
    """
    address = "stack.driver.installer"
    if not ended(output):
        return {address: failure(output, recording, "looking for NVIDIA's installer")}
    found = dict(line.partition(" ")[::2] for line in output.stdout.removesuffix("end\n").splitlines())
    if not found:
        return {address: Absent()}
    if "program" not in found:
        return {address: odd(output, "what NVIDIA's installer left")}
    files = {"files": found["files"]} if found.get("files", "").isdigit() else {}
    return {address: Known({"program": found["program"], "version": found.get("version", ""), **files})}


def parse_headers(output: CollectorOutput, recording: Recording) -> Found:
    """host.kernel.headers: the kernels that modules can be built for."""
    if not ended(output):
        return {"host.kernel.headers": failure(output, recording, "looking for kernel headers")}
    names = output.stdout.removesuffix("end\n").splitlines()
    if not all(re.fullmatch(r"[\w.+~-]+", name) for name in names):
        return {"host.kernel.headers": odd(output, "the list of kernel headers")}
    return {"host.kernel.headers": Known([*sorted(names)]) if names else Absent()}


COLLECTORS = (
    Collector(name="installer", command=fixed(_INSTALLER), gives=("stack.driver.installer",), parse=parse_installer),
    Collector(name="headers", command=fixed(_HEADERS), gives=("host.kernel.headers",), parse=parse_headers, limit=0),
)
